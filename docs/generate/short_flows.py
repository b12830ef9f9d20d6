# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of docs/short-flows.md, from docs/measurements/short-flows.json: senders by scenarios."""

import json

from generate import measurements
from lab.bench.measured import Figure

PLACE = "<!-- measured: short-flows -->"
Values = dict[str, object]  # of a scenario and a sender, by quantity


def page(markdown: str) -> str:
    """Put the table where the page has a place for it."""
    if PLACE not in markdown:
        return markdown
    stored = json.loads((measurements.FOLDER / "short-flows.json").read_text())
    return markdown.replace(PLACE, "\n".join(_table(stored["figures"])))


def _table(figures: list[Figure]) -> list[str]:
    found: dict[tuple[str, str], Values] = {}
    for figure in figures:
        subject, quantity = figure["name"].split(": ", 1)
        scenario, sender = subject.split(", ", 1)
        found.setdefault((scenario, sender), {})[quantity] = figure["value"]
    scenarios, senders = (list(dict.fromkeys(key[place] for key in found)) for place in (0, 1))
    lines = [f"| sender | {' | '.join(f'`{name}`' for name in scenarios)} |", "|---|" + "---|" * len(scenarios)]
    for sender in senders:
        cells = [_cell(found[name, sender]) if (name, sender) in found else "" for name in scenarios]
        lines.append(f"| {sender} | {' | '.join(cells)} |")
    return lines


def _cell(values: Values) -> str:
    """Format early exits, those that left, and the cost: `12 of 12, +1,246 ms *`."""
    left = f"{values['early']} of {values['left slow start']} early" if values["left slow start"] else "never left"
    cost = values.get("cost")
    if not isinstance(cost, int):
        return left
    return f"{left}, {cost:+,} ms" + (" *" if values["separated"] == "yes" else "")
