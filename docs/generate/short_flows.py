# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of docs/short-flows.md, from docs/measurements/short-flows.json: senders by scenarios, one per link."""

import json
from collections.abc import Iterator
from itertools import groupby

from bench.measured import Figure
from generate import measurements

PLACE = "<!-- measured: short-flows -->"
Values = dict[str, object]  # of a scenario and a sender, by quantity


def page(markdown: str) -> str:
    """Put the tables where the page has a place for them."""
    if PLACE not in markdown:
        return markdown
    stored = json.loads((measurements.FOLDER / "short-flows.json").read_text())
    return markdown.replace(PLACE, "\n\n".join(_tables(stored["figures"])))


def _tables(figures: list[Figure]) -> Iterator[str]:
    found: dict[tuple[str, str], Values] = {}
    for figure in figures:
        subject, quantity = figure["name"].split(": ", 1)
        scenario, sender = subject.split(", ", 1)
        found.setdefault((scenario, sender), {})[quantity] = figure["value"]
    scenarios = sorted(dict.fromkeys(scenario for scenario, _ in found), key=_link)  # in their order
    for _, of_link in groupby(scenarios, key=_link):
        yield "\n".join(_table(found, list(of_link)))


def _link(scenario: str) -> str:
    """Return the last part of a scenario's name, which is its link."""
    return scenario.rsplit("-", 1)[-1]


def _table(found: dict[tuple[str, str], Values], scenarios: list[str]) -> Iterator[str]:
    yield f"| sender | {' | '.join(f'`{name}`' for name in scenarios)} |"
    yield "|---|" + "---|" * len(scenarios)
    for sender in dict.fromkeys(sender for _, sender in found):
        cells = [_cell(found[name, sender]) if (name, sender) in found else "" for name in scenarios]
        yield f"| {sender} | {' | '.join(cells)} |"


def _cell(values: Values) -> str:
    """Format early exits, all exits, and the cost: `12 of 12 early, +1,246 ms *`."""
    left = f"{values['early']} of {values['left slow start']} early" if values["left slow start"] else "never left"
    cost = values.get("cost")
    if not isinstance(cost, int):
        return left
    return f"{left}, {cost:+,}&nbsp;ms" + ("&nbsp;*" if values["separated"] == "yes" else "")
