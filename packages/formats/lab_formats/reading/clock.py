# SPDX-License-Identifier: GPL-2.0-or-later
"""A recorder's clock turned into t_s: seconds from the first row, strictly increasing."""

import re
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab.base.errors import field_error
from lab.traces.columns import LONGEST_S
from lab_formats.reading.table import Table
from lab_formats.reading.units import CLOCKS

UNITS = CLOCKS
LARGEST = 4e18  # nanoseconds of an epoch fit, and a difference of two fits 64 bits
EARLIEST_S, LATEST_S = 1e8, 1e10  # of an epoch: 1973 and 2286
HOUR_S = 3600.0
SET_BACK = {  # by so much: rows are not sorted then
    HOUR_S: "the clock was set back by an hour, as summer time ends: give its times in UTC or with their offset",
    12 * HOUR_S: "a clock that counts to 12 passed it: give its times with AM and PM, as [%I:%M:%S %p], or to 24",
}
HOLE_STEPS = 5  # a step this many times the median one is a hole in the recording
Seconds = NDArray[np.float64]
SECONDS = r"([0-5]\d(?:[.,]\d+)?)"
PATTERNS = {
    "hh:mm:ss": rf"^(\d{{1,4}}):([0-5]\d):{SECONDS}$",
    "hh:mm": r"^(\d{1,4}):([0-5]\d)$",
    "mm:ss": rf"^(\d{{1,5}}):{SECONDS}$",
}
WEIGHTS_S = {"hh:mm:ss": (3600, 60, 1), "hh:mm": (3600, 60), "mm:ss": (60, 1)}
DATED = re.compile(r"%[-_0]?[YyCGgmbBhdejaAuwUWVDFxcsf+v]")
DAY_S = 86_400


def counted(table: Table, name: str, unit: str = "s") -> Seconds:
    """Read a clock that counts in a unit; whole numbers stay exact until the first is subtracted."""
    values = table.numbers(name, -LARGEST, LARGEST, rule=f"a number of {unit}, or a clock of a stated form, as [date]")
    _refuse_epoch(table, name, unit, float(values[0]))
    whole = table.text(name).cast(pl.Int64, strict=False)
    exact = (whole - whole[0]) if not whole.null_count() else (values - values[0])
    t_s = exact.to_numpy().astype(np.float64) * UNITS[unit]
    return _checked(table, name, t_s)


def _refuse_epoch(table: Table, name: str, unit: str, first: float) -> None:
    """Refuse a count that as an epoch lies behind the year 2286: it is in a smaller unit."""
    if first * UNITS[unit] < LATEST_S:
        return
    fitting = next(
        (f", such as [{other}]" for other, scale in UNITS.items() if EARLIEST_S < first * scale < LATEST_S), ""
    )
    rule = f"in a unit that makes it a time before the year 2286{fitting}"
    raise table.error(table.row_of(0), name, table.text(name)[0], rule)


def dated(table: Table, name: str, form: str | None = None) -> Seconds:
    """Read a clock of dates; without a form, ISO 8601 (a zone may be given in each row or in none)."""
    text = table.text(name)
    times = _dates(text, form, table.file)
    if rows := times.is_null().arg_true().to_list():
        rule = f"a time like {form or '2024-01-31T12:34:56.789, or of a stated form, as [%d/%m/%Y %H:%M:%S]'}"
        raise table.error(table.row_of(rows[0]), name, text[rows[0]], rule)
    t_us = times.dt.epoch("us").to_numpy()
    return _checked(table, name, (t_us - t_us[0]) / 1e6)


def ordered(
    table: Table,
    name: str,
    t_s: Seconds,
    columns: list[pl.Series],
    sort: bool = False,
    same: Literal["refuse", "spread"] = "refuse",
    resolution_s: float = 1.0,
) -> tuple[pl.DataFrame, list[str]]:
    """Lay columns on their clock, from 0; `sort` and `same` decide what may be done to a clock that does not increase.

    Rows of one reading of a coarse clock are spread evenly until its next possible reading: `resolution_s` away, or
    sooner where the clock itself shows steps that are shorter.
    """
    frame, notes = pl.DataFrame([pl.Series("t_s", t_s), *columns]), []
    steps = np.diff(t_s)
    back = np.flatnonzero(steps < 0)
    if len(back):
        row, typical_s = int(back[0]) + 1, float(np.median(np.abs(steps)))
        by = [by_s for by_s in SET_BACK if np.abs(steps[back] + by_s - typical_s).min() <= typical_s / 2]
        set_back = SET_BACK[by[0]] if by and typical_s < HOUR_S / 4 else ""
        if set_back or not sort:
            rule = f"no earlier than in the line before: {set_back or '--format columns --set sort=yes sorts the rows'}"
            raise table.error(table.row_of(row), name, table.text(name)[row], rule)
        frame = frame.sort("t_s", maintain_order=True)
        notes.append(f"{len(back)} rows stood after later ones: sorted by time.")
    t_s = frame["t_s"].to_numpy() - frame["t_s"][0]
    repeated = np.flatnonzero(np.diff(t_s) == 0)
    if len(repeated):
        if same == "refuse":
            row = int(repeated[0]) + 1
            rule = "later than in every other line: --format columns --set same_time=spread spreads rows of one reading"
            raise table.error(table.row_of(row), name, table.text(name)[row], rule)
        resolution_s = min([resolution_s, *np.diff(np.unique(t_s)).round(9)])
        t_s = spread(t_s, resolution_s)
        over = "that second" if resolution_s == 1 else f"those {resolution_s:g} s"
        notes.append(f"{len(repeated)} rows had the time of the row before: spread evenly over {over}.")
    return frame.with_columns(pl.Series("t_s", t_s)), notes


def spread(t_s: Seconds, resolution_s: float = 1.0) -> Seconds:
    """Spread rows of the same reading of a coarse clock evenly until its next possible one."""
    _, first, inverse, count = np.unique(t_s, return_index=True, return_inverse=True, return_counts=True)
    place = np.arange(len(t_s)) - first[inverse]
    out: Seconds = t_s + place / count[inverse] * resolution_s
    return out


def with_holes(frame: pl.DataFrame, ends_s: Seconds | None = None) -> tuple[pl.DataFrame, list[str]]:
    """Add a row without values where the recorder paused, for a value holds only until its interval's end.

    `ends_s` are the rows' own ends where the recorder gives them; else a value holds for a median step where the next
    row comes later than 5 of them.
    """
    t_s = frame["t_s"].to_numpy()
    if len(t_s) < 2:
        return frame, []
    steps = np.diff(t_s)
    if ends_s is None:
        typical = float(np.median(steps))
        ends_s, rule = t_s + typical, f"steps above {HOLE_STEPS} times the median {typical:.3g} s"
        holes = np.flatnonzero(steps > HOLE_STEPS * typical)
    else:
        rule = "time between the recorder's intervals"
        holes = np.flatnonzero(t_s[1:] - ends_s[:-1] > 1e-3 * np.median(steps))
    if not len(holes):
        return frame, []
    empty = frame[holes].select(
        pl.Series("t_s", ends_s[holes]), *(pl.lit(None, frame[c].dtype).alias(c) for c in frame.columns[1:])
    )
    missing_s = float((t_s[holes + 1] - ends_s[holes]).sum())
    note = f"{len(holes)} holes ({rule}), {missing_s:.1f} s together: missing, a row without values begins each; "
    note += "a link made of them keeps the value before."
    return pl.concat([frame, empty]).sort("t_s"), [note]


def pauses(frame: pl.DataFrame) -> list[str]:
    """Return a note on long steps between delays: no holes, for a path has its delay also while nobody measures."""
    steps = np.diff(frame["t_s"].to_numpy())
    long = steps[steps > HOLE_STEPS * np.median(steps)] if len(steps) else steps
    words = f"Pauses (steps above {HOLE_STEPS} times the median one): {len(long)}, {long.sum():.1f} s together"
    return [f"{words}; the value before each holds, in a link and in percentiles."] if len(long) else []


def in_form(text: pl.Series, form: str, stated: str, file: Path) -> pl.Series:
    """Read dates of a form, missing where a text is of another one; `stated` is what the user wrote of it."""
    try:
        return text.str.to_datetime(form, strict=False, time_unit="us")
    except pl.exceptions.PolarsError:
        rule = "a form of a whole time: %H with %M, and %I with %p ([mm:ss] counts from a start)"
        raise field_error(file, "columns", f"[{stated}]", rule) from None


def _dates(text: pl.Series, form: str | None, file: Path) -> pl.Series:
    if form is not None:
        return in_form(text, form, form, file)
    text = text.str.replace(r" ?(?:UTC|GMT)$", "Z").str.replace(r"(:\d\d),(\d+)", "$1.$2")  # ISO 8601 has both marks
    zoned = bool(text.str.contains(r"(?:Z|[+-]\d\d:?\d\d)$").all())
    whole = text.str.replace(" ", "T", literal=True).str.replace(r"Z$", "+00:00")
    with_seconds = "%Y-%m-%dT%H:%M:%S%.f" + ("%#z" if zoned else "")
    return whole.str.to_datetime(with_seconds, strict=False, time_unit="us", time_zone="UTC" if zoned else None)


def _checked(table: Table, name: str, t_s: Seconds) -> Seconds:
    far = np.flatnonzero(np.abs(t_s) > LONGEST_S)
    if len(far):
        row = int(far[0])
        rule = f"within {LONGEST_S / 86_400:g} days of the first"
        raise table.error(table.row_of(row), name, table.text(name)[row], rule)
    return t_s


def shifted(t_s: Seconds, source: str) -> Seconds:
    """Count from the first time; refuse a clock that does not increase."""
    steps = np.flatnonzero(np.diff(t_s) <= 0)
    if len(steps):
        raise field_error(source, "t_s", t_s[steps[0] + 1], f"later than in the row before (row {steps[0] + 2})")
    out: Seconds = t_s - t_s[0]
    return out


def named_step(name: str, t_s: Seconds) -> list[str]:
    """Return a note where a file's name gives another sampling step than its clock does."""
    match = re.search(r"(?<![\d.])(\d+(?:\.\d+)?)(ms|s)(?![a-z0-9])", name)
    if match is None or len(t_s) < 2:
        return []
    told_s, step_s = float(match[1]) * UNITS[match[2]], float(np.median(np.diff(t_s)))
    if told_s <= 0 or abs(step_s - told_s) <= 0.2 * told_s:
        return []
    return [f"The name gives {match[0]}; the clock gives {step_s:.3g} s between rows (median), and is used."]


def has_no_date(unit: str) -> bool:
    """Return whether a clock of this unit has a time of day only."""
    return unit in PATTERNS or (unit.startswith("%") and not DATED.search(unit))


def resolution_s(unit: str) -> float:
    """Return how far apart two readings of the clock are at least."""
    return 60.0 if unit == "hh:mm" or (unit.startswith("%") and not re.search("%[STXrs]", unit)) else 1.0


def of_day(table: Table, name: str, unit: str) -> tuple[Seconds, list[str]]:
    """Read a clock; it passes midnight where it falls by more than half a day, unless it counts hours beyond a day."""
    text = table.text(name)
    read = _by_pattern(text, unit) if unit in PATTERNS else _by_form(text, unit, table.file)
    if rows := read.is_null().arg_true().to_list():
        rule = f"a time like {unit}{', or of a stated form, as [%I:%M:%S %p]' * (unit in PATTERNS)}"
        raise table.error(table.row_of(rows[0]), name, text[rows[0]], rule)
    t_s = read.to_numpy()
    nights = np.cumsum(np.diff(t_s, prepend=t_s[0]) < -DAY_S / 2) if unit != "mm:ss" and t_s.max() < DAY_S else 0 * t_s
    note = [f"The clock has no date and passes midnight {int(nights[-1])} times."] if nights[-1] else []
    return t_s - t_s[0] + nights * DAY_S, note


def _by_pattern(text: pl.Series, unit: str) -> pl.Series:
    parts = [
        text.str.extract(PATTERNS[unit], group + 1).str.replace(",", ".", literal=True).cast(pl.Float64) * weight
        for group, weight in enumerate(WEIGHTS_S[unit])
    ]
    return sum(parts[1:], parts[0])


def _by_form(text: pl.Series, form: str, file: Path) -> pl.Series:
    times = in_form("1970-01-01 " + text, f"%Y-%m-%d {form}", form, file)
    return times.dt.epoch("us") / 1e6
