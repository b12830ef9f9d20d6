# SPDX-License-Identifier: GPL-2.0-or-later
"""What a table shows of a meaning that nobody stated: notes, for no value is changed by it."""

import re
from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np
import polars as pl

from lab.base.stats import largest, median, smallest
from lab.traces.columns import RATES
from lab_formats.reading.table import Table

LEAST_ROWS = 10
FROM_ITS_TIME = (
    "A rate counts from its row's time until the next one; "
    "a row that is about the time before it: --set interval=before."
)
PARTY = re.compile(
    r"(?i)(?:mobile|network)?[_ ]?(?:operator|carrier|provider|isp|iccid|imei|device|host|target|server|flow|session|"
    r"probe|prb|node|unit(?=[_ ]?id)|reflector)"
    r"[_ ]?(?:name|id|no|num|number)?"
)
SEQUENCE = re.compile(r"(?i)(icmp[_ ]?|probe[_ ]?|ping[_ ]?)?seq(uence)?[_ ]?(no|nr|num|number|id)?")
MOST_SHOWN = 3
MARKS = ("999", "9999", "99999", "999999", "65535", "1000000")  # of a lost probe, in programs that write no other
# Units that numbers rather have than the assumed one, if their median without zeros, or all of them, lie between two
# bounds: a few stalls do not make a unit another one, but a share is never above 1. A spreadsheet counts days.
UNIT_DOUBTS = {
    "s": ("ms", 0, 1),
    "us": ("ms", 5e3, inf),
    "share": ("%", 0, 1),
    "kbit/s": ("Mbit/s", 2e3, inf),
    "day": ("s", 25_569, 73_050),
}
OF_ALL = ("share", "day")
LONG_STEP = 100  # between rows, or how long one lasts: as seconds, longer than recorders wait
OF_THOUSANDS = r"^[1-9]\d{0,2}\.\d{3}$"


def parties(table: Table, used: Sequence[str]) -> list[str]:
    """Return a note on each column of names, such as operators, of which one series has several."""
    return [
        f"The rows are of {len(values)} different {name} ({_shown(values)}), all in one series."
        for name in _others(table, used)
        if PARTY.fullmatch(name)
        and len(values := [each for each in table.text(name).unique(maintain_order=True) if each]) > 1
    ]


def _shown(values: list[str]) -> str:
    return ", ".join(values[:MOST_SHOWN]) + ", ..." * (len(values) > MOST_SHOWN)


def counters(columns: Sequence[pl.Series]) -> list[str]:
    """Return a note on a rate that grows in each row, as a counter's total does."""
    return [
        f"{one.name} grows in every row: if it is a counter's total, the rate is its difference from row to row."
        for one in columns
        if one.name in RATES and len(known := one.drop_nulls()) >= LEAST_ROWS and bool((known.diff()[1:] > 0).all())
    ]


def gaps(table: Table, used: Sequence[str]) -> list[str]:
    """Return a note on numbers of probes that have no row: what was lost is not in the recording."""
    found = []
    for name in _others(table, used):
        numbers = table.text(name).cast(pl.Int64, strict=False)
        if SEQUENCE.fullmatch(name) and not numbers.null_count():
            steps = np.diff(numbers.to_numpy())
            if missing := int((steps[steps > 1] - 1).sum()):
                found.append(
                    f"{missing} numbers of {name} have no row: probes that were lost are not in the recording."
                )
    return found


def marks(table: Table, name: str) -> list[str]:
    """Return a note on round trips that are rather a mark than a time."""
    plain = table.text(name).str.replace(r"\.0+$", "")
    return [
        f"{count} values of {name} are {mark}, as measured: --set lost={mark} takes them for lost probes."
        for mark in MARKS
        if (count := int((plain == mark).sum()))
    ]


def thousands(table: Table, names: Sequence[str], separator: str) -> list[str]:
    """Return a note on points that may be of thousands: between semicolons, and each before three digits."""
    texts = [table.text(name) for name in names if separator == ";"]
    filled = [text.filter(text != "") for text in texts]
    return [
        f"The point in {text.name} is taken as decimal, as in {text[0]}: it may be of thousands."
        for text in filled
        if len(text) and text.str.contains(OF_THOUSANDS).all()
    ]


def _others(table: Table, used: Sequence[str]) -> list[str]:
    return [name for name in table.frame.columns if name not in {*used, "_row"}]


class Doubt(NamedTuple):
    """Numbers that hardly have the unit that was assumed."""

    numbers: str
    other: str  # the unit that they rather have

    def __str__(self) -> str:
        return f" ({self.numbers}: perhaps [{self.other}])"


def of_unit(text: pl.Series, unit: str, lasts: bool = False) -> Doubt | None:
    """Return in which other unit numbers are that hardly have the one that was assumed; none where they may.

    lasts: the numbers are how long rows last.
    """
    numbers = text.cast(pl.Float64, strict=False)
    if unit == "s" and (step := median(numbers if lasts else numbers.diff()) or 0.0) >= LONG_STEP:
        return Doubt(f"a step of {step:g}", "ms")
    least, most, middle = smallest(numbers), largest(numbers), median(numbers.filter(numbers != 0))
    if least is None or most is None or middle is None:  # none, or zeros alone
        return None
    others = (
        other
        for other, (of, low, high) in UNIT_DOUBTS.items()
        if unit == of and (low <= least and most <= high if other in OF_ALL else low <= middle <= high)
    )
    return next((Doubt(f"from {least:g} to {most:g}", other) for other in others), None)
