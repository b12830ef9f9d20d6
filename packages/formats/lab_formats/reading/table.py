# SPDX-License-Identifier: GPL-2.0-or-later
"""A text file of columns: every value keeps the line it stands on."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from lab.base.errors import UserError
from lab.traces.columns import RANGES
from lab_formats.reading.text import line_error, read_lines, read_text

MOST_COLUMNS = 1000
BLANK = " "  # as a separator: any run of blanks and TABs
INFINITE = float("inf")


@dataclass(frozen=True)
class Table:
    """Columns as text, and where in the file they stand."""

    file: Path
    frame: pl.DataFrame
    first_line: int  # of row 0
    place: str = "line"  # what rows are counted in
    header_line: int = 1

    def error(self, row: int, field: str, value: object, rule: str) -> UserError:
        """Return the error of a value."""
        return line_error(self.file, self.first_line + row, field, value, rule, self.place)

    def only(self, keep: pl.Series) -> "Table":
        """Leave rows out; the others keep their lines."""
        return replace(self, frame=self.frame.with_row_index("_row").filter(keep))

    def row_of(self, index: int) -> int:
        """Return the row of the file that a row of this table was."""
        return int(self.frame["_row"][index]) if "_row" in self.frame.columns else index

    def text(self, name: str) -> pl.Series:
        """Return a column as it stands, blanks around values cut."""
        if name not in self.frame.columns:
            have = ", ".join(column for column in self.frame.columns if column != "_row")
            raise line_error(self.file, self.header_line, "column", name, f"one of the file's: {have}", self.place)
        return self.frame[name].fill_null("").str.strip_chars()

    def numbers(
        self,
        name: str,
        low: float = -INFINITE,
        high: float = INFINITE,
        missing: Sequence[str] | None = None,
        suffix: str = "",
        rule: str | None = None,
    ) -> pl.Series:
        """Return a column as numbers; null where it holds one of the marks for a missing value.

        Without marks each row must have its number. UserError names the first line that breaks the rule.
        """
        text = self.text(name)
        gone = text.is_in(list(missing or ()))
        plain = text.str.strip_suffix(suffix) if suffix else text
        values = plain.cast(pl.Float64, strict=False)
        bad = ~gone & (values.is_null() | ~values.is_finite() | ~values.is_between(low, high)).fill_null(True)
        if suffix:
            bad = bad | (~gone & ~text.str.ends_with(suffix))
        if rows := bad.arg_true().to_list():
            raise self.error(self.row_of(rows[0]), name, text[rows[0]], rule or _rule(low, high, missing, suffix))
        return pl.select(pl.when(~gone).then(values).alias(name)).to_series()

    def column(
        self, name: str, becomes: str, scale: float = 1.0, missing: Sequence[str] | None = None, suffix: str = ""
    ) -> pl.Series:
        """Return a column in a recording's unit and range; `scale` turns the file's unit into it."""
        low, high = RANGES[becomes]
        return (self.numbers(name, low / scale, high / scale, missing, suffix) * scale).alias(becomes)


def read_table(
    path: Path, separator: str = ",", names: Sequence[str] | None = None, short_after: str | None = None
) -> Table:
    """Read a table; `names` of a file without a header line, else its first line has them.

    A row that ends with the word `short_after` may have fewer fields; its others are empty.
    """
    rows = _rows(path, separator)
    if len(rows[0]) > MOST_COLUMNS:
        raise line_error(path, 1, "columns", len(rows[0]), f"at most {MOST_COLUMNS}")
    if names is None:
        names, rows, first_line = _header(path, rows[0]), rows[1:], 2
    else:
        first_line = 1
    if not len(rows):
        raise UserError(f"{path}: content: must be a table with rows")
    _check_widths(path, rows, len(names), first_line, short_after)
    columns = [rows.list.get(index, null_on_oob=True).alias(name) for index, name in enumerate(names)]
    return Table(path, pl.DataFrame(columns), first_line)


def _rows(path: Path, separator: str) -> pl.Series:
    if separator == BLANK:
        lines = pl.Series(read_lines(path), dtype=pl.String).str.strip_chars().str.replace_all(r"[ \t]+", " ")
        return lines.str.split(" ")
    return fields(path, text_lines(path), separator)


def text_lines(path: Path) -> list[str]:
    """Read a text file's lines; line ends at its end make none, but blanks and TABs may be empty fields."""
    return read_text(path).rstrip("\n").split("\n")


def fields(path: Path, lines: list[str], separator: str, numbers: Sequence[int] | None = None) -> pl.Series:
    """Split lines into fields; `numbers` are the lines' own in the file, else they count from 1."""
    if any('"' in line for line in lines):
        return _quoted(path, lines, separator, numbers or range(1, len(lines) + 1))
    return pl.Series(lines, dtype=pl.String).str.split(separator)


def _quoted(path: Path, lines: list[str], separator: str, numbers: Sequence[int]) -> pl.Series:
    """Split lines with quotes; a quoted line end is refused, for a row's number must stay its line's."""
    rows = []
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        for row in reader:
            rows.append(row or [""])
            if reader.line_num != len(rows):
                raise line_error(path, numbers[len(rows) - 1], "row", separator.join(row), "on one line")
    except csv.Error as error:
        raise UserError(f"{path}: line {numbers[reader.line_num - 1]}: {error}: must be CSV") from None
    return pl.Series(rows, dtype=pl.List(pl.String))


def _header(path: Path, words: pl.Series) -> tuple[str, ...]:
    names = tuple(word.strip() for word in words)
    for name in names:
        if not name or names.count(name) > 1:
            raise line_error(path, 1, "header", name, "a name for each column, each once")
    return names


def _check_widths(path: Path, rows: pl.Series, width: int, first_line: int, short_after: str | None) -> None:
    wrong = rows.list.len() != width
    if short_after is not None:
        wrong &= (rows.list.len() > width) | (rows.list.last() != short_after)
    if len(found := wrong.arg_true()):
        raise line_error(path, first_line + found[0], "columns", len(rows[found[0]]), f"{width}, as in the other lines")


def _rule(low: float, high: float, missing: Sequence[str] | None, suffix: str) -> str:
    bounds = [f"at least {low:g}"] * (low > -INFINITE) + [f"at most {high:g}"] * (high < INFINITE)
    words = " ".join(["a number", *([f"with {suffix}"] if suffix else []), " and ".join(bounds)]).strip()
    marks = [mark or "empty" for mark in missing or ()]
    return f"{words}, or {' or '.join(marks)} where missing" if marks else words
