# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of pages that have a place for them, `<!-- measured: NAME -->`, from docs/measurements/NAME.json."""

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from bench.measured import Figure
from generate import measurements

CLASSES = ("early", "chokepoint", "late")
OF_PACKETS = ("bytes in 100 ms", "all bytes", "one-way delay", "lost", "reordered")
Values = dict[str, Any]  # of a link or scenario and a sender, by quantity


def page(markdown: str) -> str:
    """Put each table where the page has a place for it."""
    for name, table in TABLES.items():
        if (place := f"<!-- measured: {name} -->") in markdown:
            file = measurements.FOLDER / f"{name}.json"
            shown = table(json.loads(file.read_text())) if file.exists() else "Not measured yet."
            markdown = markdown.replace(place, shown)
    return markdown


def shapers(stored: Values) -> str:
    """Lay out what packets got, and what that did to trials."""
    packets = [figure for figure in stored["figures"] if _is_of_packets(figure)]
    trials = [figure for figure in stored["figures"] if not _is_of_packets(figure)]
    about = f"{stored['trials']} trials of {stored['duration_s']} s of each sender (CUBIC and SEARCH) on each link"
    lines = ["Packets over each part of the link that changes:\n", *measurements.by_subject(packets)]
    lines += [f"\nThe same trials, {about}:\n", *measurements.by_subject(trials)]
    return "\n".join(lines)


def _is_of_packets(figure: Figure) -> bool:
    return figure["name"].split(": ", 1)[1].startswith(OF_PACKETS)


def _by_sender(figures: list[Figure]) -> dict[tuple[str, str], Values]:
    """Return figures that are named `where, sender: quantity` by where, sender and quantity."""
    found: dict[tuple[str, str], Values] = {}
    for figure in figures:
        subject, quantity = figure["name"].split(": ", 1)
        where, sender = subject.split(", ", 1)
        found.setdefault((where, sender), {})[quantity] = figure["value"]
    return found


def family(stored: Values) -> str:
    """Lay out senders by links: exits and rank."""
    found = _by_sender(stored["figures"])
    links, senders = (list(dict.fromkeys(key[at] for key in found)) for at in (0, 1))
    lines = ["| sender | " + " | ".join(links) + " |", "|---|" + "---|" * len(links)]
    for sender in senders:
        lines.append(f"| `{sender}` | " + " | ".join(_ranked(found.get((link, sender), {})) for link in links) + " |")
    return "\n".join([*lines, f"\n`{stored['command']}`, commit `{stored['commit']}`."])


def _ranked(values: Values) -> str:
    """Format exits and rank: `1/11/0, 1 to 3`; what has no class follows: `0/2/0 +10 never left`."""
    if not values:
        return "-"
    classes = "/".join(str(values[name]) for name in CLASSES)
    rest = "".join(f" +{values[name]} {name}" for name in ("never left", "not judged") if values[name])
    rank = f", {values['rank'].replace('-', ' to ')}" if values["rank"] else ""
    return classes + rest + rank


def short_flows(stored: Values) -> str:
    """Lay out senders by scenarios, a table per link."""
    found = _by_sender(stored["figures"])
    scenarios = sorted(dict.fromkeys(scenario for scenario, _ in found), key=_link)  # in their order
    return "\n\n".join("\n".join(_table(found, list(of_link))) for _, of_link in groupby(scenarios, key=_link))


def _link(scenario: str) -> str:
    """Return the last part of a scenario's name, which is its link."""
    return scenario.rsplit("-", 1)[-1]


def _table(found: dict[tuple[str, str], Values], scenarios: list[str]) -> Iterator[str]:
    yield f"| sender | {' | '.join(f'`{name}`' for name in scenarios)} |"
    yield "|---|" + "---|" * len(scenarios)
    for sender in dict.fromkeys(sender for _, sender in found):
        cells = [_cost(found[name, sender]) if (name, sender) in found else "" for name in scenarios]
        yield f"| {sender} | {' | '.join(cells)} |"


def _cost(values: Values) -> str:
    """Format early exits, all exits, and the cost: `12 of 12 early, +1,246 ms *`."""
    left = f"{values['early']} of {values['left slow start']} early" if values["left slow start"] else "never left"
    cost = values.get("cost")
    if not isinstance(cost, int):
        return left
    return f"{left}, {cost:+,}&nbsp;ms" + ("&nbsp;*" if values["separated"] == "yes" else "")


TABLES = {"shapers": shapers, "family": family, "short-flows": short_flows}
