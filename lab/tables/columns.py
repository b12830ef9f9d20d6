# SPDX-License-Identifier: GPL-2.0-or-later
"""A column of a stored table: its type, its meaning and its unit."""

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from lab.base.contract import unit_of


class Column(NamedTuple):
    """One column; a meaning ends with "; null ..." where a value may be missing."""

    kind: pl.DataType | type[pl.DataType]
    meaning: str
    unit: str | None = None  # None: the unit that the name ends in

    def unit_as(self, name: str) -> str:
        """Return the unit of this column under a name; empty where it has none."""
        return unit_of(name) if self.unit is None else self.unit


Columns = Mapping[str, Column]


class Described(NamedTuple):
    """What a row of a table is, and its columns."""

    row: str
    columns: Columns


SYN_S = Column(pl.Float64, "time since the data connection's SYN left the client")
FLOW = Column(pl.UInt8, "number of the flow: 1 the download under test, from 2 on its rivals'")


def schema(columns: Columns) -> pl.Schema:
    """Return the type of each column."""
    return pl.Schema({name: column.kind for name, column in columns.items()})
