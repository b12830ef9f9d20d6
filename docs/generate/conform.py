# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of suites and senders, from docs/measurements/conform.json, and what was found at each failure."""

import json
from collections.abc import Iterator
from typing import Any

from lab_conform.page import Finding, finding, findings

from generate import measurements

HEAD = """# The suites on senders

How many cases of each suite passed / failed / do not apply, for the lab's senders and those of other projects.
[What a case is](conform.md). Each failure was looked at by hand, and is below: *sender* means that the sender does
otherwise than the text, *draft* that it does what its own draft says, and the draft misses the bound. Some bounds
were [chosen after a failure](conform.md#findings).

"""
Row = dict[str, Any]


def page() -> str:
    """Write the page as Markdown."""
    stored = json.loads((measurements.FOLDER / "conform.json").read_text())
    cells = {tuple(each["name"].split(": ")): each["value"] for each in stored["figures"]}
    where = f"Commit `{stored['commit']}`, {stored['measured_at'][:10]}, by `{stored['command']}`.\n\n"
    return HEAD + "\n".join(_matrix(cells)) + "\n\n" + where + "\n".join(_found(stored["failures"])) + "\n"


def _matrix(cells: dict[tuple[str, ...], str]) -> Iterator[str]:
    """Lay senders out as rows: there are more of them than suites."""
    suites = list(dict.fromkeys(suite for suite, _ in cells))
    yield "| sender | " + " | ".join(f"`{suite}`" for suite in suites) + " |"
    yield "|---|" + "---|" * len(suites)
    for sender in dict.fromkeys(sender for _, sender in cells):
        yield f"| `{sender}` | " + " | ".join(_cell(cells.get((suite, sender))) for suite in suites) + " |"


def _cell(counts: str | None) -> str:
    """Return the counts of a cell; a dash where no case of the suite applies."""
    return counts if counts and not counts.startswith("0 / 0 /") else "-"


def _found(failures: list[Row]) -> Iterator[str]:
    yield "## What failed, and why\n"
    yield "| sender | case | fault | what the packets show |"
    yield "|---|---|---|---|"
    for each in findings():
        yield from _row(each, failures)
    for row in failures:
        if finding(row["sender"], row["case"]) is None:
            yield f"| `{row['sender']}` | `{row['case']}` | not looked at | {row['reason'].replace('|', '')} |"


def _row(found: Finding, failures: list[Row]) -> Iterator[str]:
    """Yield the line of a finding, with those of its cells that failed in the measurement."""
    own = [row for row in failures if finding(row["sender"], row["case"]) is found]
    if own:
        yield f"| {_names(own, 'sender')} | {_names(own, 'case')} | *{found.fault}* | {found.text} |"


def _names(rows: list[Row], key: str) -> str:
    return ", ".join(f"`{name}`" for name in dict.fromkeys(row[key] for row in rows))
