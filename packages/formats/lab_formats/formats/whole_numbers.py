# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of one whole number a line: mahimahi's packet-delivery lines, and LeoCC's delays, alone or with such lines.

A delivery line is the millisecond at which one 1500-byte packet may cross; a delay is one-way, for the next 10 ms.
"""

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab.base.errors import field_error
from lab.traces.columns import SLOWEST_MS
from lab.traces.importer import Head, Importer
from lab.traces.recording import Recording
from lab_formats.reading.text import line_error, read_lines

Integers = NDArray[np.int64]
SHORT_LINES = 1000  # fewer lines than this may be either format
SHORT_MS = 2000  # times above this are no delays of so short a file
LATEST_DELAY_MS = 10_000  # no packet that is still wanted is later
LONGEST_MS = 7 * 86_400_000  # below the seconds of an epoch: a log of those is no trace
LATEST_START_MS = 3_600_000  # a recording begins near its own 0
LATE_S = 5.0  # a link that is silent for longer at its begin is rather a piece of a longer file
DIRECTIONS = {".down": "network to user", ".up": "user to network"}
STEP_MS = 10  # of delays
NOTE = (
    "Each line is the one-way delay for the next 10 ms: so the format defines, not the file. Its recorder replays it "
    "in both directions, so that RTT is twice the value."
)
OR = (
    "columns, such as --set header=no --set step_s=1 --set 'columns=rate_down_mbps=1 [kbit/s]': "
    "one number a line may be either"
)


def read_integers(path: Path, field: str, high: int) -> Integers:
    """Read one whole number from 0 to `high` a line; UserError names the first line that is none."""
    lines = pl.Series(read_lines(path), dtype=pl.String).str.strip_chars()
    values = lines.cast(pl.Int64, strict=False)
    bad = (values.is_null() | ~values.is_between(0, high)).fill_null(True).arg_true()
    if len(bad):
        raise line_error(path, bad[0] + 1, field, lines[bad[0]], f"a whole number from 0 to {high}")
    numbers: Integers = values.to_numpy()
    return numbers


def head_integers(head: Head) -> Integers | None:
    """Return the head's whole numbers; None where it holds anything else than them and empty lines."""
    lines = [line for line in map(str.strip, head.lines) if line]
    values = pl.Series(lines, dtype=pl.String).cast(pl.Int64, strict=False)
    if not len(values) or values.null_count():
        return None
    numbers: Integers = values.to_numpy()
    return numbers


def may_be_delays(numbers: Integers) -> bool:
    """Return whether numbers may be delays: they fall somewhere, or are few and small enough not to be times."""
    if not 0 <= int(numbers.min()) <= int(numbers.max()) <= LATEST_DELAY_MS:
        return False
    falls = bool((np.diff(numbers) < 0).any())
    return falls or (len(numbers) < SHORT_LINES and int(numbers.max()) <= SHORT_MS)


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


def fits_opportunities(head: Head) -> bool:
    """Recognise whole numbers that never fall; many that are all the same are a rate."""
    numbers = head_integers(head)
    if numbers is None or not 0 <= numbers[0] <= LATEST_START_MS:
        return False
    moves = len(numbers) < SHORT_LINES or numbers[-1] > numbers[0]
    return moves and bool((np.diff(numbers) >= 0).all())


def read_opportunities(path: Path) -> Recording:
    """Count the opportunities of each millisecond; the clock is the file's own and may begin above 0."""
    frame = opportunities(path)
    direction = DIRECTIONS.get(path.suffix)
    notes = [f"Direction {path.suffix[1:]} by the file's suffix: {direction}."] if direction else []
    if (begin_s := float(frame["t_s"][0])) > LATE_S:
        notes.append(f"The first packet crosses at {begin_s:.3f} s, none before it: as mahimahi has it, in each loop.")
    notes.append(f"{frame['opportunities'].sum()} packets of 1500 bytes in {frame['t_s'][-1]:.3f} s.")
    return Recording(frame, "opportunities", "capacity", "mahimahi", path.name, tuple(notes))


def fits_delays(head: Head) -> bool:
    """Recognise whole numbers that fall somewhere."""
    numbers = head_integers(head)
    return numbers is not None and may_be_delays(numbers)


def read_delays(path: Path, *, rate: Path | None = None) -> Recording:
    """Read a delay file; `rate` names the packet-delivery lines recorded with it.

    With both, a row holds a delay, opportunities, or both; a null does not bear on the other column.
    """
    delays = read_integers(path, "delay_ms", int(SLOWEST_MS)).astype(np.float64)
    frame = pl.DataFrame({"t_s": np.arange(len(delays)) * STEP_MS / 1e3, "delay_ms": delays})
    if rate is None:
        return Recording(frame, "series", None, "leocc", path.name, (NOTE,))
    if not isinstance(rate, Path):
        raise field_error(path, "rate", rate, "the path of a file")
    both = opportunities(rate).join(frame, on="t_s", how="full", coalesce=True).sort("t_s")
    source = f"{rate.name}, {path.name}"
    return Recording(both, "opportunities", "capacity", "leocc", source, (NOTE, "Rate and delay joined on one clock."))


IMPORTERS = (
    Importer(
        "mahimahi",
        "packet-delivery lines: one millisecond per line",
        "opportunities, capacity",
        fits_opportunities,
        read_opportunities,
    ),
    Importer("leocc", "one-way delays, one line per 10 ms", "one-way delay, capacity", fits_delays, read_delays, OR),
)
