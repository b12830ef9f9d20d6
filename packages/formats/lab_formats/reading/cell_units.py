# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers with their unit behind them, as in `12.3 Mbit/s` and `5%`: the unit goes where it is the column's own."""

import re
from dataclasses import replace

from lab_formats.reading.table import Table
from lab_formats.reading.units import ALIASES, ColumnSpec


def without_units(table: Table, specs: list[ColumnSpec], marks: tuple[str, ...]) -> tuple[Table, list[str]]:
    """Return the table without units where each value of a column has them; `marks` are values that are no numbers."""
    notes = []
    for one in specs:
        if not one.unit or one.scale is None:
            continue
        text = table.text(one.name)
        number = text.str.extract(rf"^(.*\d)\s*(?:{'|'.join(map(re.escape, _spellings(one.unit)))})$")
        if number.null_count() < len(number) and (number.is_not_null() | text.is_in(list(marks))).all():
            table = replace(table, frame=table.frame.with_columns(number.fill_null(text).alias(one.name)))
            notes.append(f"The values of {one.name} have their unit behind them, {one.unit}.")
    return table, notes


def _spellings(unit: str) -> list[str]:
    own = ALIASES.get(unit, unit)
    return sorted({unit, own, *(word for word, same in ALIASES.items() if same == own)}, key=len, reverse=True)
