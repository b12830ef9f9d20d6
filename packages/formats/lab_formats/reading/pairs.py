# SPDX-License-Identifier: GPL-2.0-or-later
"""Two numbers per line, seconds and Mb/s, without a header."""

import numpy as np
from numpy.typing import NDArray

from lab.traces.importer import Head

HEADER = ("seconds", "mbps")
COLUMNS = "t_s=seconds, rate_down_mbps=mbps"
UNIT = "The unit (Mb/s) and the direction (down) are the format's, not stated in the file."


def times_of(head: Head, separator: str) -> NDArray[np.float64] | None:
    """Return the first numbers of the head's lines; None where a line is not two numbers."""
    try:
        times_s = [_time_s(line, separator) for line in head.lines]
    except ValueError:  # of the first line that is not: most files end here
        return None
    return np.array(times_s) if times_s else None


def _time_s(line: str, separator: str) -> float:
    time_s, _mbps = map(float, line.strip("\r").split(separator))
    return time_s
