# SPDX-License-Identifier: GPL-2.0-or-later
"""When each row's interval begins and ends: by its clock, its duration, or a fixed step."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lab.base.errors import UserError, field_error
from lab_formats.reading.clock import HOLE_STEPS, Seconds
from lab_formats.reading.table import Table

SIDES = ("before", "after")  # a row states what was before its time, or what follows it
NEAR = 0.05  # of an interval: a clock and a duration of the same recorder differ by no more
MOST_ROWS_OFF = 0.1


@dataclass(frozen=True)
class Spans:
    """Intervals of rows `first` to `last` of a table; t_s counts from the first one's begin."""

    starts_s: Seconds
    ends_s: Seconds
    first: int
    last: int
    notes: tuple[str, ...] = ()

    @property
    def lengths_s(self) -> Seconds:
        return self.ends_s - self.starts_s


def spans_of(
    table: Table, clock_s: Seconds | None, lengths_s: Seconds | None, side: str | None, whole: bool = True
) -> Spans:
    """Return the rows' intervals; at least one of clock and lengths is given.

    Where only the clock shows them, an interval over a pause of the recorder is as long as the others are, unless it
    is to be the `whole` time between two rows, as of an amount.
    """
    if clock_s is None:
        assert lengths_s is not None
        if side is not None:
            raise field_error(table.file, "interval", side, "left out where no column is the clock")
        ends_s = np.cumsum(lengths_s)
        return Spans(np.concatenate([[0.0], ends_s[:-1]]), ends_s, 0, len(ends_s), ("Rows follow one another.",))
    if lengths_s is None:
        return _between_rows(table, clock_s, side, whole)
    side = side or _shown(table.file, clock_s, lengths_s)
    starts_s = clock_s - lengths_s if side == "before" else clock_s
    starts_s = starts_s - starts_s[0]
    ends_s = _joined(starts_s, starts_s + lengths_s)
    late = int(np.sum(ends_s[:-1] > starts_s[1:]))
    note = (f"{late} intervals end after the next one begins, and count until then.",) * bool(late)
    return Spans(starts_s, ends_s, 0, len(clock_s), (_note(side), *note))


def _between_rows(table: Table, clock_s: Seconds, side: str | None, whole: bool) -> Spans:
    """Return intervals from row to row: the first row ends none, the last begins none."""
    if side is None:
        rule = "before or after: whether a row's amount came since the row before, or until the next one"
        raise field_error(table.file, "interval", "", rule)
    rows = len(clock_s)
    if rows < 2:
        raise UserError(f"{table.file}: content: must be at least two rows, which have an interval between them")
    first, last = (1, rows) if side == "before" else (0, rows - 1)
    left_out = "first" if side == "before" else "last"
    starts_s, ends_s = clock_s[:-1], clock_s[1:]
    usual_s = float(np.median(ends_s - starts_s))
    late = (ends_s - starts_s > HOLE_STEPS * usual_s) & (not whole)
    if side == "before":
        starts_s = np.where(late, ends_s - usual_s, starts_s)
    else:
        ends_s = np.where(late, starts_s + usual_s, ends_s)
    notes = (_note(side), f"The {left_out} row is left out: the file does not state how long its interval is.")
    return Spans(starts_s - starts_s[0], ends_s - starts_s[0], first, last, notes)


def _note(side: str) -> str:
    return f"A row's time is the {'end' if side == 'before' else 'begin'} of its interval."


def _shown(file: Path, clock_s: Seconds, lengths_s: Seconds) -> str:
    """Return the side that the durations themselves show."""
    steps_s = np.diff(clock_s)
    for side, stated_s in zip(SIDES, (lengths_s[1:], lengths_s[:-1]), strict=True):
        if not len(steps_s) or np.mean(np.abs(steps_s - stated_s) > NEAR * stated_s) <= MOST_ROWS_OFF:
            return side
    raise field_error(file, "interval", "", "before or after, for the clock's steps are not the durations")


def _joined(starts_s: Seconds, ends_s: Seconds) -> Seconds:
    """Let an interval last until the next one begins, where they are nearly the same time."""
    joined = ends_s.copy()
    near = np.abs(starts_s[1:] - ends_s[:-1]) <= NEAR * (ends_s[:-1] - starts_s[:-1])
    joined[:-1] = np.where(near, starts_s[1:], ends_s[:-1])
    return joined
