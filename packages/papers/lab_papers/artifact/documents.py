# SPDX-License-Identifier: GPL-2.0-or-later
"""The documents of an artifact: ARTIFACT.md for thirty minutes, and the appendix in the form of conferences."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from lab.report.latex import escape
from lab_papers.artifact.facts import HUMAN_MIN, Line

MARKDOWN_HEAD = """\
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


def markdown(lines: Sequence[Line], commit: str) -> str:
    """Return the document."""
    machines = sorted({machine for line in lines for machine in line.cost.machines})
    head = MARKDOWN_HEAD.format(commit=commit, machines="; ".join(machines) or NO_RUN)
    return head + "".join(map(_markdown_row, lines))


def _markdown_row(line: Line) -> str:
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


HEAD = r"""\documentclass[twocolumn,10pt]{article}
\usepackage[paperwidth=8.5in,paperheight=11in,textwidth=7in,textheight=9.4in,columnsep=0.3in]{geometry}
\setlength{\parindent}{0pt}
\raggedright
\begin{document}
\small
\section*{Artifact Appendix}
\subsection*{Abstract}
The artifact is an emulation lab for TCP slow start. It runs senders of a real Linux kernel over modelled and
recorded links, in virtual time, and judges where each leaves slow start. It repeats published tables and figures: each
claim below is one of them.
\subsection*{Description and requirements}
\textbf{Access.} The archive holds the source, a bundle with kernel and images, and checksums.
Commit \texttt{%(commit)s}. Licence: GPL-2.0-or-later; recordings keep their own.\par
\textbf{Hardware.} A 64-bit x86 machine, 2 GB of free memory, 2 GB of free disk, and %(disk)s for all results.\par
\textbf{Software.} Linux, Python 3.11 or later with venv, make, git. No network, no root.\par
\textbf{Machine of the stated times.} %(machines)s.
\subsection*{Set-up}
\textbf{Installation} [5 human-minutes + 2 compute-minutes]: \texttt{make setup BUNDLE=search-lab.bundle}.\par
\textbf{Basic test} [5 human-minutes + 5 compute-minutes]: \texttt{make kick-tires} runs one trial over each kind of
link and compares packets with the published ones: SAME or DIFFERENT.
"""
CLAIMS = r"\footnotesize\subsection*{Major claims}"  # all of them on two pages
EXPERIMENTS = r"""\subsection*{Experiments}
\texttt{make reproduce CLAIM=C$n$} runs what claim C$n$ needs and prints its values with the verdict of each. All
commands can be run again; stored trials are not repeated.\par
"""


def appendix(lines: Sequence[Line], commit: str) -> str:
    """Return the appendix: it names each claim once, and each experiment with its cost."""
    machines = sorted({machine for line in lines for machine in line.cost.machines})
    given = {
        "commit": escape(commit),
        "machines": escape("; ".join(machines) or "no run is stored"),
        "disk": _disk(lines),
    }
    parts = [HEAD % given, CLAIMS, *map(_claim, lines), EXPERIMENTS, *_experiments(lines), r"\end{document}"]
    return "\n".join(parts) + "\n"


def _disk(lines: Sequence[Line]) -> str:
    sizes = [
        next(of_one).of_experiment.megabytes for _, of_one in groupby(lines, key=lambda line: line.claim.experiment)
    ]
    known = [size for size in sizes if size is not None]
    return f"{sum(known) / 1000:.1f} GB" if known and len(known) == len(sizes) else "some GB"


def _claim(line: Line) -> str:
    claim = line.claim
    text = f"The values of {claim.source}, over {claim.scenario}, within {line.tolerance}"
    return rf"\textbf{{(C{claim.number})}} {escape(text)}. Tested by (E{claim.experiment}).\par"


def _experiments(lines: Sequence[Line]) -> Iterator[str]:
    for number, group in groupby(lines, key=lambda line: line.claim.experiment):
        members = list(group)
        names = ", ".join(line.claim.name for line in members)
        minutes = members[0].of_experiment.compute_min
        compute = "compute time not measured" if minutes is None else _duration(minutes)
        scenarios = ", ".join(dict.fromkeys(name for line in members for name in line.claim.scenarios))
        verdicts = "; ".join(f"{line.claim.name}: {line.verdict}" for line in members)
        yield (
            rf"\textbf{{(E{number})}} [{HUMAN_MIN * len(members)} human-minutes + {compute}]: {escape(scenarios)}. "
            rf"For {escape(names)}. Expected: {escape(verdicts)}.\par"
        )


def _duration(minutes: float) -> str:
    return f"{minutes / 60:.1f} compute-hours" if minutes >= 60 else f"{minutes:.1f} compute-minutes"
