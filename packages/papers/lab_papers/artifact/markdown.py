# SPDX-License-Identifier: GPL-2.0-or-later
"""ARTIFACT.md: what to do in thirty minutes, and every claim with its command, cost, tolerance and verdict."""

from collections.abc import Sequence

from lab_papers.artifact.facts import HUMAN_MIN, Line

HEAD = """\
# The artifact of search-lab

Made by `make artifact` at commit {commit}. The claims are those of the papers that the lab repeats: each is one table
or figure of a source, over one link. docs/reviewers.md describes the thirty minutes of a reviewer.

| step | command | needs |
|---|---|---|
| install | `make setup BUNDLE=search-lab.bundle` | Python 3.11 or later with venv; no network, no root, no build |
| kick the tires | `make kick-tires` | one trial over each kind of link, then SAME or DIFFERENT; under 5 minutes |
| one claim | `make reproduce CLAIM=C3` | what its line below states |
| all claims | `make reproduce` | the sum of the lines, with each scenario once |

Every command can be run again: `make reproduce` goes on with stored runs, and runs only missing trials.

## Claims

Human minutes are an allowance to type the command and to read what it prints. Compute minutes and megabytes are those
of the stored runs ({machines}). A claim needs its scenario and the scenarios that explain a difference. Claims of one
scenario share its runs. Tolerance is how far our value may lie from the published one, stated before the run. The
verdict counts the published values; `lab verify` prints each.

| claim | source | scenario | command | human min | compute min | MB | tolerance | expected verdict |
|---|---|---|---|---:|---:|---:|---|---|
"""
NO_RUN = "no run of a claim is stored here: run 'make reproduce', then 'make artifact' again"


def render(lines: Sequence[Line], commit: str) -> str:
    """Return the document."""
    machines = sorted({machine for line in lines for machine in line.cost.machines})
    head = HEAD.format(commit=commit, machines="; ".join(machines) or NO_RUN)
    return head + "".join(map(_row, lines))


def _row(line: Line) -> str:
    claim, cost = line.claim, line.cost
    cells = [
        f"{claim.name} (E{claim.experiment})",
        claim.source,
        claim.scenario,
        f"`{line.command}`",
        str(HUMAN_MIN),
        "" if cost.compute_min is None else f"{cost.compute_min:.1f}",
        "" if cost.megabytes is None else f"{cost.megabytes:.0f}",
        line.tolerance,
        line.verdict,
    ]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"
