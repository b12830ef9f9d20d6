# SPDX-License-Identifier: GPL-2.0-or-later
"""Count how the cases of each suite end on each sender: the matrix of docs/conform-senders.md.

`python -m bench.conform_matrix SENDER...` runs what is not stored, and replaces these senders' columns in
results/bench/conform.json; others stay as they were published. A stack of one's own is FILE.yml:CONTROL.
"""

import sys
from collections import Counter

from lab_conform.command import Request, run
from lab_conform.verdict import Outcome, Verdict
from rich.console import Console

from bench.measured import Figure, last, run_command, store

NAME = "conform"
OUTCOMES: tuple[Outcome, ...] = ("passed", "failed", "not applicable")
Failure = dict[str, str]


def main(names: list[str]) -> None:
    """Run all suites on senders, one after the other, and store the counts after each."""
    for name in names:
        _add(run(Request(name), Console(highlight=False)))


def _add(found: list[Verdict]) -> None:
    """Store the counts and failures of one sender next to those of the others."""
    before, sender = last(NAME), found[0].sender
    figures = [each for each in before.get("figures", []) if not each["name"].endswith(f": {sender}")] + _figures(found)
    failures = [each for each in before.get("failures", []) if each["sender"] != sender] + _failures(found)
    names = " ".join(dict.fromkeys(each["name"].split(": ")[1] for each in figures))
    print(store(NAME, f"python -m bench.conform_matrix {names}", figures, {"failures": failures}))


def _figures(found: list[Verdict]) -> list[Figure]:
    """Return passed / failed / not applicable of each suite."""
    suites = dict.fromkeys(each.case.suite for each in found)
    counts = {suite: Counter(each.outcome for each in found if each.case.suite == suite) for suite in suites}
    return [
        {"name": f"{suite}: {found[0].sender}", "value": " / ".join(str(count[name]) for name in OUTCOMES), "unit": ""}
        for suite, count in counts.items()
    ]


def _failures(found: list[Verdict]) -> list[Failure]:
    failed = (each for each in found if each.outcome == "failed")
    return [{"sender": each.sender, "case": each.case.name, "reason": each.reason} for each in failed]


if __name__ == "__main__":
    run_command(main, sys.argv[1:])
