# SPDX-License-Identifier: GPL-2.0-or-later
"""Mahimahi's packet-delivery lines: each is the millisecond at which one 1500-byte packet may cross."""

from pathlib import Path

import numpy as np
import polars as pl

from lab.traces.importers.importer import Head, Importer
from lab.traces.importers.text import line_error
from lab.traces.importers.whole_numbers import head_integers, read_integers
from lab.traces.recording import Recording

LONGEST_MS = 7 * 86_400_000  # below the seconds of an epoch: a log of those is no trace
LATEST_START_MS = 3_600_000  # a recording begins near its own 0
DIRECTIONS = {".down": "network to user", ".up": "user to network"}


def fits(head: Head) -> bool:
    """Recognise whole numbers that never fall."""
    numbers = head_integers(head)
    return numbers is not None and 0 <= numbers[0] <= LATEST_START_MS and bool((np.diff(numbers) >= 0).all())


def read(path: Path) -> Recording:
    """Count the opportunities of each millisecond; the clock is the file's own and may begin above 0."""
    frame = opportunities(path)
    direction = DIRECTIONS.get(path.suffix)
    notes = [f"Direction {path.suffix[1:]} by the file's suffix: {direction}."] if direction else []
    notes.append(f"{frame['opportunities'].sum()} packets of 1500 bytes in {frame['t_s'][-1]:.3f} s.")
    return Recording(frame, "opportunities", "capacity", "mahimahi", path.name, tuple(notes))


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


IMPORTERS = (Importer("mahimahi", "packet-delivery lines: a millisecond a line", fits, read),)
