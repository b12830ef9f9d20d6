# SPDX-License-Identifier: GPL-2.0-or-later
"""The types of a table's columns, and of one of its rows."""

from collections.abc import Mapping
from typing import get_type_hints

import polars as pl

Schema = Mapping[str, pl.DataType | type[pl.DataType]]
Cell = str | float | bool | None  # an integer is a float here, as for every type checker
Row = Mapping[str, Cell]

COLUMNS: Schema = {"str": pl.String, "float": pl.Float64, "int": pl.Int64, "bool": pl.Boolean}


def schema_of(row: type) -> Schema:
    """Return a frame's columns from the TypedDict of its rows: str, int, float or bool, or one of these or None."""
    kinds = {name: getattr(kind, "__args__", (kind,))[0] for name, kind in get_type_hints(row).items()}
    return {name: COLUMNS[kind.__name__] for name, kind in kinds.items()}
