# SPDX-License-Identifier: GPL-2.0-or-later
"""The types of a table's columns, and of one of its rows."""

from collections.abc import Mapping

import polars as pl

Schema = Mapping[str, pl.DataType | type[pl.DataType]]
Cell = str | float | bool | None  # an integer is a float here, as for every type checker
Row = Mapping[str, Cell]
