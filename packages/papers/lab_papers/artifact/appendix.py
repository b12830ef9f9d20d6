# SPDX-License-Identifier: GPL-2.0-or-later
"""The artifact's appendix in the form of conferences: access, requirements, claims C1, C2, experiments E1, E2."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from lab.report.latex import escape
from lab_papers.artifact.facts import HUMAN_MIN, Line

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


def render(lines: Sequence[Line], commit: str) -> str:
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
