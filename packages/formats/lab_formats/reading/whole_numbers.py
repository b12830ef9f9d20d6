# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of one whole number per line: how they are read, and distinguished."""

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab.traces.importer import Head
from lab_formats.reading.text import line_error, read_lines

Integers = NDArray[np.int64]
SHORT_LINES = 1000  # fewer lines than this may be either format
SHORT_MS = 2000  # times above this are no delays of so short a file
LATEST_MS = 10_000  # no packet that is still wanted is later


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
    if not 0 <= int(numbers.min()) <= int(numbers.max()) <= LATEST_MS:
        return False
    falls = bool((np.diff(numbers) < 0).any())
    return falls or (len(numbers) < SHORT_LINES and int(numbers.max()) <= SHORT_MS)
