# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables as CSV that a spreadsheet opens and a terminal shows: no text in it is a formula or moves a cursor."""

import re

import polars as pl

from lab.base.plain_text import escaped

FORMULA = re.compile(r'(^|;"*)(?=[=+@-])')  # where a spreadsheet begins one: in some countries ; ends a cell, too


def to_csv(table: pl.DataFrame, float_precision: int | None = None) -> str:
    """Return a table as CSV; what rounds to nothing has no sign."""
    texts, floats = pl.selectors.string(), pl.selectors.float()
    if float_precision is not None:
        table = table.with_columns(
            pl.when(floats.abs() < 0.5 * 10**-float_precision).then(0.0).otherwise(floats).name.keep()
        )
    plain = texts.map_elements(plain_cell, return_dtype=pl.String)
    return table.with_columns(plain).write_csv(float_precision=float_precision)


def plain_cell(cell: str) -> str:
    """Return a text as a cell that is no formula and has no control characters."""
    return FORMULA.sub(r"\1'", escaped(cell))
