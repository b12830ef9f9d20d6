# SPDX-License-Identifier: GPL-2.0-or-later
"""What is compared of a trial: digests of the values of its tables, and its first packets.

Digests are of values, not of stored bytes: another version of Parquet or zstd changes none.
"""

import hashlib
from dataclasses import dataclass

import numpy as np
import polars as pl

from lab.tables.stored_trial import Trial
from lab.tables.trial_tables import TRIAL_TABLES

BLOCK_PKTS = 1000  # one digest each: they find where a long trial differs
ROWS_PKTS = 2000  # kept of each trial
DIGEST_CHARS = 16


@dataclass(frozen=True)
class Values:
    """One trial: a digest per table, one per block of packets, and the first packets."""

    tables: dict[str, str]
    blocks: list[str]
    first: pl.DataFrame


def values_of(trial: Trial) -> Values:
    """Read what is compared of a stored trial."""
    packets = trial.packets
    blocks = [digest(packets[start : start + BLOCK_PKTS]) for start in range(0, packets.height, BLOCK_PKTS)]
    tables = {name: digest(trial.table(name)) for name in TRIAL_TABLES}
    return Values(tables, blocks, packets[:ROWS_PKTS])


def digest(table: pl.DataFrame) -> str:
    """Digest the names, types and values of a table's columns."""
    found = hashlib.sha256()
    for column in table:
        found.update(f"{column.name} {column.dtype} {len(column)}\n".encode())
        found.update(column.is_null().to_numpy().tobytes())
        found.update(_bytes(column))
    return found.hexdigest()[:DIGEST_CHARS]


def _bytes(column: pl.Series) -> bytes:
    """Return the values in the order of their rows, little-endian; nulls as zeros."""
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        numbers = column.cast(pl.UInt8) if column.dtype == pl.Boolean else column
        array = numbers.fill_null(0).to_numpy()
        return np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
    return "\0".join(str(value) for value in column.to_list()).encode()
