# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of `lab kick-tires`: one line per link, and the verdict of `lab same`."""

from dataclasses import dataclass
from pathlib import Path

from lab.base.format import number
from lab.judge.stored import Stored
from lab.report.template import render as render_page

HEADER = ("link", "sender", "left slow start, s", "class", "throughput, Mb/s", "certificate")


@dataclass(frozen=True)
class Tire:
    """What one trial gave; cells in the order of HEADER."""

    cells: tuple[str, ...]
    title: str
    valid: bool  # or not run, for want of a recording

    @property
    def line(self) -> str:
        """Return it for a terminal."""
        link, sender, exit_s, kind, mbps, certificate = self.cells
        if not sender:
            return f"{link:14} {certificate}"
        return f"{link:14} {sender} leaves slow start after {exit_s} s ({kind}), {mbps} Mb/s; certificate {certificate}"


def not_run(profile: str, title: str, lack: str) -> Tire:
    """Describe a link that could not run for want of a recording."""
    return Tire((profile, *[""] * 4, f"not run: {lack}"), title, valid=True)


def row(one: Stored) -> Tire:
    """Describe the only trial of a run."""
    outcome = one.judged.outcomes.filter(heuristic=one.run.scenario["heuristic"]).row(0, named=True)
    sender = one.label(outcome["cca"])
    kind = outcome["exit_class"] or "no exit"
    numbers = (number(outcome["exit_s"], 2), number(outcome["throughput_mbps"], 1))
    certificate = "valid" if outcome["valid"] else "INVALID"
    cells = (str(one.run.scenario["profile"]), sender, numbers[0], kind, numbers[1], certificate)
    return Tire(cells, str(one.run.meta["profile"]["title"]), bool(outcome["valid"]))


def render(rows: list[Tire], verdict: str) -> str:
    """Return the page, with the verdict of `lab same`."""
    return render_page("tires.html.j2", Path(__file__).parent, header=HEADER, rows=rows, verdict=verdict)
