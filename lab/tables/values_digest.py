# SPDX-License-Identifier: GPL-2.0-or-later
"""Digest the values of a table, not its stored bytes: another version of Parquet or zstd changes none."""

import hashlib

import numpy as np
import polars as pl

DIGEST_CHARS = 16


def digest(table: pl.DataFrame) -> str:
    """Digest the names, types and values of a table's columns."""
    found = hashlib.sha256()
    for column in table:
        found.update(f"{column.name} {column.dtype} {len(column)}\n".encode())
        found.update(column.is_null().to_numpy().tobytes() if column.null_count() else bytes(len(column)))
        found.update(_bytes(column))
    return found.hexdigest()[:DIGEST_CHARS]


def _bytes(column: pl.Series) -> bytes:
    """Return the values in the order of their rows, little-endian; nulls as zeros."""
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        numbers = column.cast(pl.UInt8) if column.dtype == pl.Boolean else column
        array = (numbers.fill_null(0) if numbers.null_count() else numbers).to_numpy()
        return np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
    return "\0".join(str(value) for value in column.to_list()).encode()
