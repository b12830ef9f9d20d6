# SPDX-License-Identifier: GPL-2.0-or-later
"""Any table of text, its columns named by who imports it: CSV, TSV or blanks, with or without a header."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

import polars as pl

from lab.base.errors import field_error
from lab.traces.columns import DTYPES, LONGEST_S, RATES
from lab.traces.importer import Head, Importer
from lab.traces.recording import Meaning, Recording
from lab_formats.reading.clock import (
    Seconds,
    counted,
    dated,
    has_no_date,
    of_day,
    ordered,
    pauses,
    resolution_s,
    with_holes,
)
from lab_formats.reading.decimals import with_points, without_units
from lab_formats.reading.doubts import FROM_ITS_TIME, counters, gaps, marks, of_unit, parties, thousands
from lab_formats.reading.spans import Spans, spans_of
from lab_formats.reading.table import Table
from lab_formats.reading.units import PER_INTERVAL, UNITS, ColumnSpec, check_unit, parse_columns
from lab_formats.reading.user_table import UserTable, Wanted, read_user_table

CLOCKS = ("t_s", "duration_s")
Choice = Literal["refuse", "spread"]


def fits(head: Head) -> bool:
    """Recognise a table whose header, also behind comments or in one, is a recording's own column names."""
    for line in head.lines:
        names = {word.strip('"') for word in re.split(r"[,;\t| #]+", line)} - {""}  # an index has none
        if len(names) > 1 and names & set(CLOCKS) and names <= UNITS.keys():
            return True
        if not line.startswith("#"):
            break
    return False


def read(
    path: Path,
    *,
    columns: str | None = None,
    separator: Literal["comma", "tab", "blank", "semicolon", "bar"] | None = None,
    header: bool = True,
    missing: tuple[str, ...] = ("",),
    lost: tuple[str, ...] = (),
    labels: tuple[str, ...] = (),
    meaning: Meaning | None = None,
    sort: bool = False,
    same_time: Choice = "refuse",
    zeros: Literal["stall", "missing"] = "stall",
    holes: Literal["missing", "hold"] = "missing",
    decimal: Literal["point", "comma"] | None = None,
    interval: Literal["before", "after"] | None = None,
    step_s: float | None = None,
) -> Recording:
    """Read the columns named, as in `t_s=Time [ms], rate_down_mbps=DL [kbit/s]`; without, the header's own names.

    A file without a header is named by place: `t_s=1, rate_down_mbps=2`; so is a column without a name. `missing` lists
    the marks of a missing value, `lost` those in rtt_ms of a lost probe. Without a clock the rows are samples, with
    `labels` as text; a clock is t_s, duration_s (each row's own) or `step_s` between rows. `interval` states what a row
    is about: the time before its t_s, or after. `sort` lets rows stand out of order; `same_time` spread rows of one
    reading; `zeros` is what a rate of 0 means; `holes` what follows where a rate's next row is late.
    """
    found = read_user_table(path, separator, header, _wanted(path, columns))
    specs = _specs(path, found, columns, step_s)
    table, behind = without_units(found.table, specs, missing + lost)
    unstated = _unstated(found.table, table, specs)
    table, points = with_points(table, _numbered(specs), decimal, missing + lost)
    points = [
        *behind,
        *unstated,
        *points,
        *(thousands(table, _numbered(specs), found.separator) if not decimal else ()),
    ]
    values = [_column(table, one, missing, lost, zeros) for one in specs if one.becomes not in CLOCKS]
    values += _lost(table, specs, lost)
    about = [_options_note(meaning, zeros)] if any(column.name in RATES for column in values) else []
    about += [note for column in values if column.name == "rtt_ms" for note in _zero_note(column)]
    if step_s is None and not any(one.becomes in CLOCKS for one in specs):
        _refuse_amounts(path, specs)
        frame = pl.DataFrame([*values, *(table.text(label) for label in labels)])
        return Recording(frame, "samples", meaning, "columns", path.name, (*about, *found.notes, *points))
    if labels:
        raise field_error(path, "labels", ",".join(labels), "left out: a series has numbers only")
    clock = _Clock(table, specs, step_s, interval)
    frame, more, length_s = (
        _in_spans(table, clock.spans(holes), specs, values, holes)
        if clock.has_spans
        else _on_clock(table, clock, values, sort, same_time, holes)
    )
    notes = (*about, *found.notes, *points, *clock.notes, *more, *_doubts(table, specs, values))
    return Recording(frame, "series", meaning, "columns", path.name, notes, length_s)


def _doubts(table: Table, specs: list[ColumnSpec], values: list[pl.Series]) -> list[str]:
    """Return notes on what else of a table may make its series another one."""
    used, made = [one.name for one in specs], {column.name for column in values}
    lost = gaps(table, used) if "rtt_ms" in made and "lost" not in made else []
    odd = [note for one in specs if one.becomes == "rtt_ms" for note in marks(table, one.name)]
    return [*parties(table, used), *counters(values), *lost, *odd]


class _Clock:
    """When the rows are: by a column of times, by durations, or by a step."""

    def __init__(self, table: Table, specs: list[ColumnSpec], step_s: float | None, interval: str | None) -> None:
        self.table, self.step_s, self.interval = table, step_s, interval
        named = {one.becomes: one for one in specs}
        self.times, self.durations = named.get("t_s"), named.get("duration_s")
        self.amounts = any(one.unit in PER_INTERVAL for one in specs)
        self.has_spans = bool(self.times is None or self.durations or interval or self.amounts)
        self.notes: tuple[str, ...] = ()

    def t_s(self) -> Seconds:
        """Read the column of times."""
        assert self.times is not None
        if self.times.scale:
            return counted(self.table, self.times.name, self.times.unit)
        if not has_no_date(self.times.unit):
            return dated(self.table, self.times.name, self.times.form)
        t_s, notes = of_day(self.table, self.times.name, self.times.unit)
        self.notes += tuple(notes)
        return t_s

    def spans(self, holes: str) -> Spans:
        """Return the rows' intervals."""
        lengths_s = None
        if self.durations is not None:
            scale = self.durations.scale or 1.0
            lengths_s = self.table.numbers(self.durations.name, 0.0, LONGEST_S / scale).to_numpy() * scale
            if len(none := (lengths_s == 0).nonzero()[0]):
                row = int(none[0])
                raise self.table.error(self.table.row_of(row), self.durations.name, 0, "above 0")
        elif self.step_s is not None:
            lengths_s = pl.repeat(self.step_s, self.table.frame.height, dtype=pl.Float64, eager=True).to_numpy()
        clock_s, whole = None if self.times is None else self.t_s(), self.amounts or holes == "hold"
        return spans_of(self.table, clock_s, lengths_s, self.interval, whole)


def _wanted(path: Path, columns: str | None) -> Wanted:
    """Return what recognises a header: the names of the columns requested, else a recording's own."""
    if columns is None:
        return lambda names: set(names) - {""} <= UNITS.keys()
    requested = {one.name for one in parse_columns(path, columns)}
    return lambda names: requested <= {*names, *(str(place) for place, _ in enumerate(names, 1))}


def _specs(path: Path, found: UserTable, columns: str | None, step_s: float | None) -> list[ColumnSpec]:
    specs = parse_columns(path, columns if columns is not None else ",".join(f"{name}={name}" for name in found.named))
    if step_s is not None and (not 0 < step_s <= LONGEST_S or any(one.becomes in CLOCKS for one in specs)):
        raise field_error(path, "step_s", step_s, "above 0, and left out where a column is the clock or the duration")
    return [_with_unit_in_name(one, found.named) for one in specs]


def _with_unit_in_name(one: ColumnSpec, named: tuple[str, ...]) -> ColumnSpec:
    """Return the column whose name in the file has the unit, too: `Time [s]`."""
    whole = {f"{one.name} [{one.unit}]", f"{one.name}[{one.unit}]"} & set(named)
    return replace(one, name=whole.pop()) if whole and one.name not in named else one


def _unstated(before: Table, table: Table, specs: list[ColumnSpec]) -> list[str]:
    """Return a note on the columns whose unit is stated by no option, name or value."""
    assumed = [one for one in specs if not one.stated and before.text(one.name).equals(table.text(one.name))]
    if not assumed:
        return []
    doubts = [of_unit(table.text(one.name), one.unit, one.becomes == "duration_s") for one in assumed]
    words = ", ".join(f"{one.name} in {one.unit}{doubt or ''}" for one, doubt in zip(assumed, doubts, strict=True))
    doubted = next(((one, doubt) for one, doubt in zip(assumed, doubts, strict=True) if doubt), None)
    shown = doubted[0] if doubted else assumed[-1]
    other = doubted[1].other if doubted else next(unit for unit in UNITS[shown.becomes] if unit != shown.unit)
    return [f"Assumed, for no unit is stated: {words}. Another is stated as {shown.becomes}={shown.name} [{other}]."]


def _numbered(specs: list[ColumnSpec]) -> list[str]:
    return [one.name for one in specs if one.becomes != "lost" and one.form is None and one.unit != "date"]


def _refuse_amounts(path: Path, specs: list[ColumnSpec]) -> None:
    for one in specs:
        if one.unit in PER_INTERVAL:
            rule = "a rate, or given with t_s, duration_s or step_s: an amount needs its interval"
            raise field_error(path, "columns", f"{one.becomes} [{one.unit}]", rule)


def _on_clock(
    table: Table, clock: _Clock, found: list[pl.Series], sort: bool, same_time: Choice, holes: str
) -> tuple[pl.DataFrame, list[str], None]:
    assert clock.times is not None
    name, unit = clock.times.name, clock.times.unit
    frame, notes = ordered(table, name, clock.t_s(), found, sort, same_time, resolution_s(unit))
    if not any(column in RATES for column in frame.columns):
        return frame, [*notes, *pauses(frame)], None
    notes = [*notes, FROM_ITS_TIME]
    if holes == "hold":
        return frame, notes, None
    frame, late = with_holes(frame)
    return frame, [*notes, *late], None


def _in_spans(
    table: Table, spans: Spans, specs: list[ColumnSpec], values: list[pl.Series], holes: str
) -> tuple[pl.DataFrame, list[str], float]:
    """Lay rows on their own intervals; an amount per interval becomes a rate."""
    amounts = {one.becomes for one in specs if one.unit in PER_INTERVAL}
    kept = [column[spans.first : spans.last] for column in values]
    if len(back := (spans.lengths_s <= 0).nonzero()[0]) or len(
        back := (spans.starts_s[1:] <= spans.starts_s[:-1]).nonzero()[0] + 1
    ):
        raise table.error(
            table.row_of(int(back[0]) + spans.first), "interval", "its begin", "later than that of the line before"
        )
    columns = [column / spans.lengths_s if column.name in amounts else column for column in kept]
    frame, notes = pl.DataFrame([pl.Series("t_s", spans.starts_s), *columns]), [*spans.notes]
    if holes != "hold":
        frame, late = with_holes(frame, spans.ends_s)
        notes += late
    return frame, notes, float(spans.ends_s[-1])


def _options_note(meaning: Meaning | None, zeros: str) -> str:
    return f"By the import's options, not by the file: the rates are {meaning or 'of unknown meaning'}, a 0 is {zeros}."


def _zero_note(rtt: pl.Series) -> list[str]:
    """Return a note on round trips of 0, which may be marks."""
    zeros = int((rtt == 0).sum())
    return [f"{zeros} round trips are 0, as measured: --set lost=0 takes them for lost probes."] if zeros else []


def _column(table: Table, one: ColumnSpec, missing: tuple[str, ...], lost: tuple[str, ...], zeros: str) -> pl.Series:
    if one.becomes == "lost":
        return _flags(table, one.name)
    check_unit(table.file, one)
    marks = (*missing, *lost) if one.becomes == "rtt_ms" else missing
    values = table.column(one.name, one.becomes, one.scale or 1.0, marks)
    if one.becomes in RATES and zeros == "missing":
        values = pl.select(pl.when(values != 0).then(values).alias(one.becomes)).to_series()
    return values.cast(DTYPES[one.becomes])


def _flags(table: Table, name: str) -> pl.Series:
    flags = {"true": True, "1": True, "false": False, "0": False}
    text = table.text(name).str.to_lowercase()
    if len(odd := (~text.is_in(list(flags))).arg_true()):
        raise table.error(table.row_of(odd[0]), name, text[odd[0]], "true, false, 1 or 0")
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
