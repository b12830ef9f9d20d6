# SPDX-License-Identifier: GPL-2.0-or-later
"""Packet-delivery lines: each is the millisecond at which one 1500-byte packet may cross."""

from pathlib import Path

import numpy as np
import polars as pl

from lab_formats.reading.text import line_error
from lab_formats.reading.whole_numbers import read_integers

LONGEST_MS = 7 * 86_400_000  # below the seconds of an epoch: a log of those is no trace


def opportunities(path: Path) -> pl.DataFrame:
    """Read the lines into t_s and opportunities."""
    times_ms = read_integers(path, "t_ms", LONGEST_MS)
    back = np.flatnonzero(np.diff(times_ms) < 0)
    if len(back):
        line = int(back[0]) + 2
        raise line_error(path, line, "t_ms", times_ms[line - 1], f"no less than {times_ms[line - 2]}, the line before")
    starts = np.flatnonzero(np.diff(times_ms, prepend=-1))
    counts = np.diff(starts, append=len(times_ms)).astype(np.uint32)
    return pl.DataFrame({"t_s": times_ms[starts] / 1e3, "opportunities": counts})
