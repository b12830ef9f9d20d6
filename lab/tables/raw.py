# SPDX-License-Identifier: GPL-2.0-or-later
"""The same number of bytes from many places of a raw record."""

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def gather(data: Bytes, starts: NDArray[np.int64], width: int) -> Bytes:
    """Copy `width` bytes from each start, which ascend: a (starts, width) matrix, with zeros past the data's end."""
    inside = int(np.searchsorted(starts, len(data) - width, side="right"))
    last = [data[start:] for start in starts[inside:]]
    past = [np.append(rest, np.zeros(width - len(rest), dtype=np.uint8)) for rest in last]
    if not inside:
        return np.array(past, dtype=np.uint8).reshape(-1, width)
    rows = np.lib.stride_tricks.sliding_window_view(data, width)[starts[:inside]]
    return np.concatenate([rows, past]) if past else np.ascontiguousarray(rows)
