# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables as Parquet files, in a quarter of the bytes that a dictionary for each column takes.

Numbers that rise, as those of packets do, compress best split by byte (Parquet's BYTE_STREAM_SPLIT). Times are stored
to the nearest 2^-30 s: the nanoseconds of the clocks are kept, and what a division left behind them takes no room.
The file's own metadata (pyarrow.parquet.read_schema shows it) has what a row is, and each column's meaning and unit.
"""

from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from types import MappingProxyType

import polars as pl
import pyarrow as pa
from pyarrow import parquet

from lab.tables.columns import Columns, Described
from lab.tables.pieces import Frame, pieces_of

GRIDS = {
    "_s": 2.0**30,
    "_ms": 2.0**20,
}  # steps in one of the unit that a column's name ends in: below a nanosecond each


def write_table(
    table: Frame, file: Path, level: int = 3, row: str = "", columns: Columns = MappingProxyType({})
) -> None:
    """Write a table, compressed with zstd of that level; polars, pyarrow and DuckDB read it.

    `row` states what a row is; `columns` describes the columns.
    """
    with ExitStack() as stack:
        sink = None
        for piece in pieces_of(table):
            content = _described(piece.with_columns(_to_nanoseconds(piece)), row, columns)
            if sink is None:
                stream = stack.enter_context(pa.OSFile(str(file), "wb"))  # of a path, pyarrow looks for a file system
                sink = stack.enter_context(_writer(stream, content.schema, level))
            sink.write_table(content)


def _writer(stream: pa.OSFile, schema: pa.Schema, level: int) -> parquet.ParquetWriter:
    split = [field.name for field in schema if _splits(field.type)]
    return parquet.ParquetWriter(
        stream,
        schema,
        compression="zstd",
        compression_level=level,
        use_dictionary=[name for name in schema.names if name not in split],
        column_encoding=dict.fromkeys(split, "BYTE_STREAM_SPLIT"),
    )


def write_exact(table: pl.DataFrame, file: Path | BytesIO, about: Described) -> None:
    """Write a table whose times are no clock's: every number as it is."""
    parquet.write_table(_described(table, *about), file, compression="zstd")


def _described(table: pl.DataFrame, row: str, columns: Columns) -> pa.Table:
    """Return a table whose schema holds what a row is, and the meaning and unit of the columns that are described."""
    plain = table.to_arrow()
    fields = [
        field.with_metadata({"meaning": columns[field.name].meaning, "unit": columns[field.name].unit_as(field.name)})
        if field.name in columns
        else field
        for field in plain.schema
    ]
    return pa.table(plain.columns, schema=pa.schema(fields, {"row": row} if row else None))


def _to_nanoseconds(table: pl.DataFrame) -> list[pl.Expr]:
    times = [(name, f"_{name.split('_')[-1]}") for name, kind in table.schema.items() if kind == pl.Float64]
    return [(pl.col(name) * GRIDS[unit]).round() / GRIDS[unit] for name, unit in times if unit in GRIDS]


def _splits(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or (pa.types.is_integer(kind) and kind.bit_width >= 32))
