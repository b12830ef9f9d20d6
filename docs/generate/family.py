# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of docs/start-up-family.md, from docs/measurements/family.json: links by senders, share and rank."""

import json
from typing import Any

from generate import measurements

PLACE = "<!-- measured: family -->"


def page(markdown: str) -> str:
    """Put the table where the page has a place for it."""
    file = measurements.FOLDER / "family.json"
    if PLACE not in markdown:
        return markdown
    return markdown.replace(PLACE, _table(json.loads(file.read_text())) if file.exists() else "Not measured yet.")


def _table(stored: dict[str, Any]) -> str:
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for figure in stored["figures"]:
        subject, quantity = figure["name"].split(": ", 1)
        link, sender = subject.split(", ", 1)
        found.setdefault((link, sender), {})[quantity] = figure["value"]
    senders = list(dict.fromkeys(sender for _, sender in found))
    lines = ["| link | " + " | ".join(f"`{sender}`" for sender in senders) + " |", "|---|" + "---|" * len(senders)]
    for link in dict.fromkeys(link for link, _ in found):
        lines.append(f"| {link} | " + " | ".join(_cell(found.get((link, sender), {})) for sender in senders) + " |")
    return "\n".join([*lines, f"\n`{stored['command']}`, commit `{stored['commit']}`."])


def _cell(values: dict[str, Any]) -> str:
    """Format share and rank: `12/12, 1-3`."""
    if values.get("at the chokepoint") is None:
        return "-"
    rank = f", {values['rank'].replace('-', ' to ')}" if values.get("rank") else ""
    return f"{values['at the chokepoint']}/{values['trials']}{rank}"
