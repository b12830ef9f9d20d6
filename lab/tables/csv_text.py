# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables as CSV that a spreadsheet opens: no text in it is a formula."""

import polars as pl

FORMULA = r"^[=+\-@\t\r]"  # how a spreadsheet recognises one
PLAIN = "'"  # in front of it: the cell is text


def to_csv(table: pl.DataFrame, float_precision: int | None = None) -> str:
    """Return a table as CSV; what rounds to nothing has no sign."""
    texts, floats = pl.selectors.string(), pl.selectors.float()
    if float_precision is not None:
        table = table.with_columns(
            pl.when(floats.abs() < 0.5 * 10**-float_precision).then(0.0).otherwise(floats).name.keep()
        )
    plain = pl.when(texts.str.contains(FORMULA)).then(PLAIN + texts).otherwise(texts).name.keep()
    return table.with_columns(plain).write_csv(float_precision=float_precision)


def plain_cell(cell: str) -> str:
    """Return a text as a cell that is no formula."""
    return PLAIN + cell if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell
