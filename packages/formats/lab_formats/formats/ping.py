# SPDX-License-Identifier: GPL-2.0-or-later
"""Text of `ping` (iputils, busybox, BSD, macOS) and fping, with or without a clock before each line; several runs."""

from pathlib import Path

import polars as pl

from lab.base.errors import UserError, field_error
from lab.traces.importer import Head, Importer
from lab.traces.recording import Recording
from lab_formats.reading.clock import named_step
from lab_formats.reading.ping_lines import REPLY, classify
from lab_formats.reading.ping_runs import Run, on_one_clock, runs_of
from lab_formats.reading.text import read_lines, short


def fits(head: Head) -> bool:
    """Recognise a reply among the lines."""
    return bool(pl.Series(head.lines, dtype=pl.String).str.contains(REPLY).any())


def read(path: Path, *, interval_s: float | None = None, session: int | None = None) -> Recording:
    """Read every probe, answered or lost.

    Times are when a probe was sent: the clock before a line less the answer's RTT; without a clock, icmp_seq times the
    interval (`interval_s`, else ping's own total time over its probes, else the second that ping waits by default).
    `session` picks one run of several, from 1.
    """
    text = read_lines(path)
    lines = classify(path, text)
    runs = runs_of(path, lines)
    if session is not None:
        if isinstance(session, bool) or not isinstance(session, int) or not 1 <= session <= len(runs):
            raise field_error(path, "session", session, f"from 1 to {len(runs)}")
        runs = [runs[session - 1]]
    _one_target(path, runs)
    frame, notes = on_one_clock(path, runs, interval_s)
    if lines.height < len(text):
        notes.append(f"The last line is cut, and left out: {short(text[-1])}.")
    notes += named_step(path.name, frame["t_s"].to_numpy())
    return Recording(frame, "series", None, "ping", path.name, tuple(notes))


def _one_target(path: Path, runs: list[Run]) -> None:
    targets = {run.target for run in runs if run.target}
    if len(targets) > 1:
        raise UserError(
            f"{path}: session: must be given, for the runs have several targets: {', '.join(sorted(targets))}"
        )


IMPORTERS = (Importer("ping", "text of ping or fping", "RTT, lost", fits, read),)
