# SPDX-License-Identifier: GPL-2.0-or-later
"""A raw record's bytes as an array."""

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lab.errors import UserError


def read_padded(file: Path, padding_bytes: int) -> NDArray[np.uint8]:
    """Read a file, with zeros behind it: a window that begins in the file then lies in the array."""
    try:
        with file.open("rb") as stream:
            data = np.zeros(os.fstat(stream.fileno()).st_size + padding_bytes, dtype=np.uint8)
            read_bytes = stream.readinto(data[: len(data) - padding_bytes])  # type: ignore[arg-type]
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}: must be a readable record") from None
    return data[: read_bytes + padding_bytes]
