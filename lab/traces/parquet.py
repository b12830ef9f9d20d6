# SPDX-License-Identifier: GPL-2.0-or-later
"""What a broken Parquet file does to polars, turned into one line."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import polars as pl

from lab.base.errors import UserError, field_error

MAGIC = b"PAR1"
MOST_ROWS = 50_000_000  # of a table in memory: a small file can announce billions


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


def announced_rows(source: Path | IO[bytes]) -> int:
    """Return the number of rows that the end of a table announces; no row is read."""
    return int(pl.scan_parquet(source).select(pl.len()).collect().item())


def require_rows(path: Path) -> None:
    """Refuse a table with more rows than fit in memory."""
    with parquet_errors(path):
        rows = announced_rows(path)
    if rows > MOST_ROWS:
        raise field_error(path, "rows", rows, f"at most {MOST_ROWS}")
