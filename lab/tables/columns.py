# SPDX-License-Identifier: GPL-2.0-or-later
"""A column of a stored table: its type, its meaning and its unit."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from lab.base.contract import NULL, unit_of
from lab.base.stats import largest, smallest


class Column(NamedTuple):
    """One column; a meaning ends with "; null ..." where a value may be missing."""

    kind: pl.DataType | type[pl.DataType]
    meaning: str
    unit: str | None = None  # None: the unit that the name ends in

    def unit_as(self, name: str) -> str:
        """Return the unit of this column under a name; empty where it has none."""
        return unit_of(name) if self.unit is None else self.unit


Columns = Mapping[str, Column]
MOST_NUMBER = 1e12  # of a stored table: in nanoseconds and thousandths it still is a 64-bit integer
MOST_T_S = 1e5  # of its times: a download lasts an hour at most, and is divided into intervals of 15 ms
BACK_S = 1e-3  # that a time may go back: two processors' clocks differ


class Described(NamedTuple):
    """What a row of a table is, and its columns."""

    row: str
    columns: Columns


SYN_S = Column(pl.Float64, "time since the data connection's SYN left the client")
FLOW = Column(pl.UInt8, "number of the flow: 1 the download under test, from 2 on its rivals'")


def fault_of(table: pl.DataFrame, columns: Columns) -> tuple[str, object, str] | None:
    """Return name, content and rule of the first column that is not as described: the table may be a stranger's."""
    kinds = table.schema  # polars makes one at each use
    for name, column in columns.items():
        kind = kinds.get(name)
        if kind is None or (kind != pl.Null and _kind(kind) != _kind(column.kind)):
            return name, kind or "", f"a column of {_kind(column.kind)}"
        most = MOST_T_S if name == "t_s" else MOST_NUMBER
        size = np.abs(table[name].drop_nulls().to_numpy()) if kind.is_float() else np.empty(0)
        if not (size < most).all():  # NaN is below nothing
            return name, size.max(), f"numbers below {most:g}"
        if (
            kind.is_integer()
            and kind != column.kind
            and table[name].cast(column.kind, strict=False).null_count() > table[name].null_count()
        ):
            return name, f"{smallest(table[name])} to {largest(table[name])}", f"numbers of {column.kind}"
        if NULL not in column.meaning and table[name].has_nulls():
            return name, None, "given in each row"
        if name == "t_s" and not table[name].is_sorted() and _goes_back(table):
            return name, "", "in the order of time"
    return None


def _goes_back(table: pl.DataFrame) -> bool:
    """Return whether the times of a quantity, of a flow, or of all rows go back."""
    step, keys = pl.col("t_s").diff(), [*{"quantity", "flow"} & {*table.columns}]
    return bool(table.select(((step.over(keys) if keys else step) < -BACK_S).any()).item())


def _kind(kind: pl.DataType | type[pl.DataType]) -> str:
    if kind.is_numeric():
        return "whole numbers" if kind.is_integer() else "numbers"
    return "texts" if kind == pl.String else str(kind)


def schema(columns: Columns) -> pl.Schema:
    """Return the type of each column."""
    return pl.Schema({name: column.kind for name, column in columns.items()})
