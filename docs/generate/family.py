# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of docs/start-up-family.md, from docs/measurements/family.json: senders by links, exits and rank."""

import json
from typing import Any

from generate import measurements

PLACE = "<!-- measured: family -->"
CLASSES = ("early", "chokepoint", "late")


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
    links, senders = (list(dict.fromkeys(key[at] for key in found)) for at in (0, 1))
    lines = ["| sender | " + " | ".join(links) + " |", "|---|" + "---|" * len(links)]
    for sender in senders:
        lines.append(f"| `{sender}` | " + " | ".join(_cell(found.get((link, sender), {})) for link in links) + " |")
    return "\n".join([*lines, f"\n`{stored['command']}`, commit `{stored['commit']}`."])


def _cell(values: dict[str, Any]) -> str:
    """Format exits and rank: `1/11/0, 1 to 3`; what has no class follows: `0/2/0 +10 never left`."""
    if not values:
        return "-"
    classes = "/".join(str(values[name]) for name in CLASSES)
    rest = "".join(f" +{values[name]} {name}" for name in ("never left", "not judged") if values[name])
    rank = f", {values['rank'].replace('-', ' to ')}" if values["rank"] else ""
    return classes + rest + rank
