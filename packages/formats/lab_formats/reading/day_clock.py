# SPDX-License-Identifier: GPL-2.0-or-later
"""Clocks without a date: hh:mm:ss, hh:mm, mm:ss, or a form such as %I:%M:%S %p; midnight may pass."""

import re
from pathlib import Path

import numpy as np
import polars as pl

from lab_formats.reading.clock import Seconds, in_form
from lab_formats.reading.table import Table

SECONDS = r"([0-5]\d(?:[.,]\d+)?)"
PATTERNS = {
    "hh:mm:ss": rf"^(\d{{1,4}}):([0-5]\d):{SECONDS}$",
    "hh:mm": r"^(\d{1,4}):([0-5]\d)$",
    "mm:ss": rf"^(\d{{1,5}}):{SECONDS}$",
}
WEIGHTS_S = {"hh:mm:ss": (3600, 60, 1), "hh:mm": (3600, 60), "mm:ss": (60, 1)}
DATED = re.compile(r"%[-_0]?[YyCGgmbBhdejaAuwUWVDFxcsf+v]")
DAY_S = 86_400


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
