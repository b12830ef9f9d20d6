# SPDX-License-Identifier: GPL-2.0-or-later
"""Units behind numbers taken off; decimal commas turned into points where values show them; thousands refused."""

import re
from dataclasses import replace

import polars as pl

from lab_formats.reading.table import Table
from lab_formats.reading.units import ALIASES, ColumnSpec

MARKS = ("point", "comma")
WITH_COMMA = r"^[+-]?\d*,\d+(?:[eE][+-]?\d+)?$"
WITH_POINT = r"^[+-]?\d*\.\d+"
MOST_LOOKED = 1000  # rows of a column that nobody wants
MAY_BE_THOUSANDS = re.compile(r"^[+-]?[1-9]\d{0,2},\d{3}$")
THOUSANDS = (
    r"^[+-]?\d{1,3}(?:(?:[ '_\x{a0}\x{202f}\x{2019}]\d{3})+(?:[.,]\d+)?|(?:,\d{3}){2,}|(?:\.\d{3}){2,}"
    r"|(?:,\d{3})+\.\d+|(?:\.\d{3})+,\d+)$"
)


def with_points(
    table: Table, names: list[str], decimal: str | None, marks: tuple[str, ...] = ()
) -> tuple[Table, list[str]]:
    """Return the table with decimal points in the columns named; UserError where a comma may mean two things.

    marks: values that are no numbers, and stay.
    """
    texts = [_without(table.text(name), marks) for name in dict.fromkeys(names)]
    for text in texts:
        _refuse(table, text, text.str.contains(THOUSANDS), "a number without thousands separators")
    commas = [text.str.contains(WITH_COMMA) for text in texts]
    if decimal == "point" or not any(found.any() for found in commas):
        for text, found in zip(texts, commas, strict=True):
            _refuse(table, text, found, "a number with a decimal point")
        if decimal is None:
            _refuse_points(table, texts)
        return table, []
    for text in texts:
        rule = "a number with a decimal comma, as others have it, and without thousands separators"
        _refuse(table, text, text.str.contains(WITH_POINT), rule)
    certain = _certain(texts)
    if decimal is None and certain is None:
        rule = "written without thousands separators, or imported with --set decimal=comma: it may be either"
        for text, found in zip(texts, commas, strict=True):
            _refuse(table, text, found, rule)
    pointed = [
        pl.select(
            pl.when(found)
            .then(text.str.replace(",", ".", literal=True))
            .otherwise(table.text(text.name))
            .alias(text.name)
        )
        for text, found in zip(texts, commas, strict=True)
    ]
    note = [f"The decimal mark is a comma, as in {certain}."] if decimal is None else []
    return replace(table, frame=table.frame.with_columns(one.to_series() for one in pointed)), note


def _refuse_points(table: Table, texts: list[pl.Series]) -> None:
    """Refuse points where other columns of the table have decimal commas: there 1.203 may be a thousand."""
    points = [text.str.contains(WITH_POINT) for text in texts]
    if not any(found.any() for found in points):
        return
    named = {text.name for text in texts}
    others = [table.text(name).head(MOST_LOOKED) for name in table.frame.columns if name not in {*named, "_row"}]
    for other in others:
        filled = other.filter(other != "")
        if (certain := _certain([filled])) and filled.str.contains(rf"{WITH_COMMA}|^[+-]?\d+$").all():
            rule = f"a number with a decimal comma, as {other.name} has it ({certain}), or --set decimal=point"
            for text, found in zip(texts, points, strict=True):
                _refuse(table, text, found, rule)


def _without(text: pl.Series, marks: tuple[str, ...]) -> pl.Series:
    return pl.select(pl.when(text.is_in(list(marks))).then(pl.lit("")).otherwise(text).alias(text.name)).to_series()


def _certain(texts: list[pl.Series]) -> str | None:
    """Return a value whose comma can only be a decimal one."""
    values = (
        value for text in texts for value in text.filter(text.str.contains(WITH_COMMA)).unique(maintain_order=True)
    )
    return next((value for value in values if not MAY_BE_THOUSANDS.match(value)), None)


def _refuse(table: Table, text: pl.Series, bad: pl.Series, rule: str) -> None:
    if len(rows := bad.arg_true()):
        raise table.error(table.row_of(int(rows[0])), text.name, text[int(rows[0])], rule)


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
