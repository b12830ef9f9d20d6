# SPDX-License-Identifier: GPL-2.0-or-later
"""Parquet files of strangers: what a broken one does to its reader, turned into one line, and what is too large."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import polars as pl
from pyarrow import ArrowException, BufferReader
from pyarrow.parquet import FileMetaData, ParquetFile

from lab.base.errors import UserError, field_error
from lab.base.plain_file import GIGABYTE

MAGIC = b"PAR1"
# Of a table in memory. A small file can announce billions of rows, thousands of columns, or texts of gigabytes.
MOST_ROWS, MOST_BYTES = 50_000_000, 8 * GIGABYTE
VALUE_BYTES = 8
# A panic of polars is no Exception.
UNREADABLE = (
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
    ArrowException,
    OSError,
    ValueError,
    OverflowError,
    MemoryError,
)


@contextmanager
def parquet_errors(path: Path) -> Iterator[None]:
    """Refuse the file by name where it cannot be read."""
    try:
        yield
    except UNREADABLE as error:
        words = getattr(error, "strerror", None) or (str(error).splitlines() or ["unreadable"])[0]
        raise UserError(f"{path}: {words[:80]}: must be a whole Parquet file") from None


def announced(about: FileMetaData, columns: Collection[str] | None = None) -> tuple[int, int]:
    """Return the rows of a table and the bytes that columns of it (default: all) take in memory; no row is read.

    Each part of the file states its own, which is what is read; ValueError where their sum is not what the file states.
    """
    parts = [about.row_group(number) for number in range(about.num_row_groups)]
    if about.num_rows != sum(abs(part.num_rows) for part in parts):
        raise ValueError("rows: each part states others than the whole")
    chunks = [(part, part.column(number)) for part in parts for number in range(part.num_columns)]
    return about.num_rows, sum(
        max(VALUE_BYTES * max(part.num_rows, each.num_values), each.total_uncompressed_size)
        for part, each in chunks
        if columns is None or each.path_in_schema.partition(".")[0] in columns
    )


def require_small(about: FileMetaData, path: Path, columns: Collection[str] | None = None) -> None:
    """Refuse a table of which columns (default: all) do not fit in memory; the errors are those of its reader."""
    rows, size_bytes = announced(about, columns)
    for name, found, most in (("rows", rows, MOST_ROWS), ("bytes", size_bytes, MOST_BYTES)):
        if found > most:
            raise field_error(path, name, found, f"at most {most}")


def read_small(content: bytes, path: Path, columns: Collection[str]) -> pl.DataFrame:
    """Return those columns of a small table that are there; the errors are those of its reader.

    By Arrow, which decodes the numbers of our tables in half the time that polars takes.
    """
    # Over some broken footers Arrow ends the process: polars refuses these.
    names = [name for name in pl.read_parquet_schema(BytesIO(content)) if name in columns]
    file = ParquetFile(BufferReader(content))
    require_small(file.metadata, path, names)
    table = file.read(names, use_threads=False)
    table.validate(full=True)  # a text may be no UTF-8
    return pl.DataFrame(pl.from_arrow(table))
