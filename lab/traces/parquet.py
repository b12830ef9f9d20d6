# SPDX-License-Identifier: GPL-2.0-or-later
"""What a broken Parquet file does to polars, turned into one line."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from lab.base.errors import UserError

MAGIC = b"PAR1"


@contextmanager
def parquet_errors(path: Path) -> Iterator[None]:
    """Refuse the file by name where polars cannot read it; it panics, which is no Exception, over some broken ones."""
    try:
        yield
    except (
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
        OSError,
        ValueError,
        OverflowError,
        MemoryError,
    ) as error:
        words = getattr(error, "strerror", None) or (str(error).splitlines() or ["unreadable"])[0]
        raise UserError(f"{path}: {words[:80]}: must be a whole Parquet file") from None
