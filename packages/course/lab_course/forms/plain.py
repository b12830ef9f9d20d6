# SPDX-License-Identifier: GPL-2.0-or-later
"""A grade as text: one line per check, the reason below it."""

from collections.abc import Iterator
from textwrap import fill
from typing import Any

from lab_course.assignment import HIDDEN_PART
from lab_course.grade import Grade, Row

WIDE = 80  # columns: a terminal's
INDENT: Any = {"initial_indent": " " * 13, "subsequent_indent": " " * 13, "break_long_words": False}


def points(value: float) -> str:
    """Return points as people write them."""
    return f"{value:g}"


def lines(grade: Grade) -> Iterator[str]:
    """Yield the lines of a grade."""
    yield f"{grade.assignment.content.title}: {grade.student}: {points(grade.points)} of {grade.of} points"
    for fault in grade.faults:
        yield fill(f"! {fault}", WIDE, subsequent_indent="  ", break_long_words=False)
    for row in grade.rows:
        yield from _row(row)


def _row(row: Row) -> Iterator[str]:
    hidden = " (hidden)" if row.check.part == HIDDEN_PART else ""
    yield f"{points(row.points):>5} of {row.check.points:<3} {row.check.title}{hidden}"
    for text in (row.marks.reason, row.marks.where):
        for line in text.splitlines():
            yield line if line.startswith("|") else fill(line, WIDE, **INDENT)
