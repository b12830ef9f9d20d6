# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes with a clock: a round trip each, and which of them were lost."""

import polars as pl

from lab.traces.recording import Recording
from lab_formats.reading.clock import Seconds, named_step, ordered
from lab_formats.reading.table import Table


def probes(
    form: str, table: Table, clock: str, t_s: Seconds, rtt: pl.Series, lost: pl.Series | None = None, *notes: str
) -> Recording:
    """Make a series of probes, sorted by time; `clock` is the column of the table that t_s came from."""
    columns = [rtt] if lost is None else [rtt, lost.alias("lost")]
    frame, found = ordered(table, clock, t_s, columns, sort=True)
    found += [*named_step(table.file.name, frame["t_s"].to_numpy()), *notes]
    if lost is not None:
        share_pct = 100 * lost.sum() / len(lost)
        found.append(f"{lost.sum()} of {len(lost)} probes lost ({share_pct:.2f} %), missing in rtt_ms.")
    return Recording(frame, "series", None, form, table.file.name, tuple(found))
