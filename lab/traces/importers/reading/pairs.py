# SPDX-License-Identifier: GPL-2.0-or-later
"""Two numbers per line, seconds and Mb/s, without a header."""

import numpy as np
from numpy.typing import NDArray

from lab.traces.importers.reading.importer import Head

HEADER = ("seconds", "mbps")
COLUMNS = "t_s=seconds, rate_down_mbps=mbps"
UNIT = "The unit (Mb/s) and the direction (down) are the format's, not stated in the file."


def times_of(head: Head, separator: str) -> NDArray[np.float64] | None:
    """Return the first numbers of the head's lines; None where a line is not two numbers."""
    rows = [line.strip("\r").split(separator) for line in head.lines]
    if not rows or any(len(row) != 2 for row in rows):
        return None
    try:
        return np.array([[float(value) for value in row] for row in rows])[:, 0]
    except ValueError:
        return None
