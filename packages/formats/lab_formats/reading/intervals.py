# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows that state their own begin and end (Starlink-on-the-Road)."""

import numpy as np
import polars as pl

from lab_formats.reading.clock import Seconds, dated
from lab_formats.reading.table import Table

START, END = "timestamp_start", "timestamp_end"
EMPTY = ("",)


def ends_of(table: Table, t_s: Seconds, usual_s: float) -> tuple[Seconds, pl.Series]:
    """Return the end of each row, and which rows have an unusual length; those end after the usual one."""
    lengths = lengths_s(table)
    wrong = np.flatnonzero(lengths <= 0)
    if len(wrong):
        raise table.error(int(wrong[0]), END, table.text(END)[int(wrong[0])], f"later than {START}")
    odd = np.abs(lengths - usual_s) > 0.2 * usual_s
    ends_s = t_s + np.where(odd, usual_s, lengths)
    ends_s[:-1] = np.minimum(ends_s[:-1], t_s[1:])  # an interval ends where the next one begins
    return ends_s, pl.Series(odd)


def lengths_s(table: Table) -> Seconds:
    """Return the length of each row; each clock counts from its own first row, whose length is added."""
    first = Table(table.file, table.frame[:1], table.first_line, table.place)
    pair = pl.DataFrame({"clock": [first.text(START)[0], first.text(END)[0]]})
    first_s = float(dated(Table(table.file, pair, table.first_line, table.place), "clock")[1])
    return dated(table, END) - dated(table, START) + first_s
