# SPDX-License-Identifier: GPL-2.0-or-later
"""Raw records as arrays of bytes, and the same number of bytes from many places of one."""

import mmap
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lab.base.errors import UserError

Bytes = NDArray[np.uint8]


def map_file(file: Path) -> Bytes:
    """Map a file instead of reading it: fresh memory for a copy costs more than all that is done with it."""
    try:
        with file.open("rb") as stream:
            if not os.fstat(stream.fileno()).st_size:
                return np.empty(0, dtype=np.uint8)  # which cannot be mapped
            return np.frombuffer(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ), dtype=np.uint8)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}: must be a readable record") from None


def gather(data: Bytes, starts: NDArray[np.int64], width: int) -> Bytes:
    """Copy `width` bytes from each start, which ascend: a (starts, width) matrix, with zeros past the data's end."""
    inside = int(np.searchsorted(starts, len(data) - width, side="right"))
    last = [data[start:] for start in starts[inside:]]
    past = [np.append(rest, np.zeros(width - len(rest), dtype=np.uint8)) for rest in last]
    if not inside:
        return np.array(past, dtype=np.uint8).reshape(-1, width)
    rows = np.lib.stride_tricks.sliding_window_view(data, width)[starts[:inside]]
    return np.concatenate([rows, past]) if past else np.ascontiguousarray(rows)
