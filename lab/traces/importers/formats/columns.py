# SPDX-License-Identifier: GPL-2.0-or-later
"""Any table of text, its columns named by who imports it: CSV, TSV or blanks, with or without a header."""

from pathlib import Path
from typing import Literal, get_args

import polars as pl

from lab.base.errors import field_error
from lab.traces.columns import DTYPES
from lab.traces.importers.reading.clock import counted, dated, ordered, with_holes
from lab.traces.importers.reading.importer import Head, Importer
from lab.traces.importers.reading.table import BLANK, Table, read_table
from lab.traces.importers.reading.text import read_lines
from lab.traces.importers.reading.units import ColumnSpec, check_unit, parse_columns
from lab.traces.recording import Meaning, Recording

SEPARATORS = {"comma": ",", "tab": "\t", "blank": BLANK, "semicolon": ";"}
Choice = Literal["refuse", "spread"]


def fits(head: Head) -> bool:
    """Recognise a CSV whose header is a recording's own column names."""
    return "t_s" in head.header and len(head.header) > 1 and head.header <= DTYPES.keys() - {"opportunities"}


def read(
    path: Path,
    *,
    columns: str | None = None,
    separator: str = "comma",
    header: bool = True,
    missing: tuple[str, ...] = ("",),
    lost: tuple[str, ...] = (),
    labels: tuple[str, ...] = (),
    meaning: Meaning | None = None,
    sort: bool = False,
    same_time: Choice = "refuse",
    zeros: Literal["stall", "missing"] = "stall",
    holes: Literal["missing", "hold"] = "missing",
) -> Recording:
    """Read the columns named, as in `t_s=Time [ms], rate_down_mbps=DL [kbit/s]`; without, the header's own names.

    A file without a header is named by place: `t_s=1, rate_down_mbps=2`. `missing` lists the marks of a missing value,
    `lost` those in rtt_ms of a lost probe. Without t_s the rows are samples, with `labels` as text.
    `sort` lets rows stand out of order; `same_time` spread rows of one second; `zeros` is what a rate of 0 means;
    `holes` what follows where a rate's next row is late.
    """
    _check(path, separator, meaning, same_time, zeros, holes)
    table = _table(path, SEPARATORS[separator], header)
    specs = parse_columns(
        path, columns if columns is not None else ",".join(f"{name}={name}" for name in table.frame.columns)
    )
    found = [_column(table, one, missing, lost, zeros) for one in specs if one.becomes != "t_s"]
    found += _lost(table, specs, lost)
    notes = [_options_note(meaning, zeros)] if any(column.name.startswith("rate_") for column in found) else []
    clock = next((one for one in specs if one.becomes == "t_s"), None)
    if clock is None:
        frame = pl.DataFrame([*found, *(table.text(label) for label in labels)])
        return Recording(frame, "samples", meaning, "columns", path.name, tuple(notes))
    if labels:
        raise field_error(path, "labels", ",".join(labels), "left out: a series has numbers only")
    frame, more = _on_clock(table, clock, found, sort, same_time, holes)
    return Recording(frame, "series", meaning, "columns", path.name, (*notes, *more))


def _on_clock(
    table: Table, clock: ColumnSpec, found: list[pl.Series], sort: bool, same_time: Choice, holes: str
) -> tuple[pl.DataFrame, list[str]]:
    t_s = counted(table, clock.name, clock.unit) if clock.scale else dated(table, clock.name, clock.form)
    frame, notes = ordered(table, clock.name, t_s, found, sort, same_time)
    if holes == "hold" or not any(name.startswith("rate_") for name in frame.columns):
        return frame, notes
    frame, late = with_holes(frame)
    return frame, [*notes, *late]


def _options_note(meaning: Meaning | None, zeros: str) -> str:
    return f"By the import's options, not by the file: the rates are {meaning or 'of unknown meaning'}, a 0 is {zeros}."


def _check(path: Path, separator: str, meaning: str | None, *choices: str) -> None:
    known = (("refuse", "spread"), ("stall", "missing"), ("missing", "hold"))
    names = ("same_time", "zeros", "holes")
    given = [("separator", separator, tuple(SEPARATORS)), ("meaning", meaning, (None, *get_args(Meaning)))]
    for field, value, allowed in (*given, *zip(names, choices, known, strict=True)):
        if value not in allowed:
            raise field_error(path, field, value, f"one of {', '.join(map(str, allowed))}")


def _table(path: Path, separator: str, header: bool) -> Table:
    if header:
        return read_table(path, separator)
    first = read_lines(path)[0]
    width = len(first.split()) if separator == BLANK else len(first.split(separator))
    return read_table(path, separator, tuple(str(place) for place in range(1, width + 1)))


def _column(table: Table, one: ColumnSpec, missing: tuple[str, ...], lost: tuple[str, ...], zeros: str) -> pl.Series:
    if one.becomes == "lost":
        return _flags(table, one.name)
    check_unit(table.file, one)
    marks = (*missing, *lost) if one.becomes == "rtt_ms" else missing
    values = table.column(one.name, one.becomes, one.scale or 1.0, marks)
    if one.becomes.startswith("rate_") and zeros == "missing":
        values = pl.select(pl.when(values != 0).then(values).alias(one.becomes)).to_series()
    return values.cast(DTYPES[one.becomes])


def _flags(table: Table, name: str) -> pl.Series:
    flags = {"true": True, "1": True, "false": False, "0": False}
    text = table.text(name).str.to_lowercase()
    if len(odd := (~text.is_in(list(flags))).arg_true()):
        raise table.error(odd[0], name, text[odd[0]], "true, false, 1 or 0")
    return text.replace_strict(flags, return_dtype=pl.Boolean).alias("lost")


def _lost(table: Table, specs: list[ColumnSpec], lost: tuple[str, ...]) -> list[pl.Series]:
    rtt = next((one for one in specs if one.becomes == "rtt_ms"), None)
    if not lost:
        return []
    if rtt is None or any(one.becomes == "lost" for one in specs):
        raise field_error(
            table.file, "lost", ",".join(lost), "left out: it marks rtt_ms where no column marks lost probes"
        )
    return [table.text(rtt.name).is_in(list(lost)).alias("lost")]


IMPORTERS = (Importer("columns", "any table of text, its columns named", "the columns named", fits, read),)
