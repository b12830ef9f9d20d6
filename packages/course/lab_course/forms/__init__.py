# SPDX-License-Identifier: GPL-2.0-or-later
"""The forms of a grade: text, Gradescope's results.json, and a page."""

import json
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill
from typing import Any

from lab.report.template import render
from lab_course.assignment import HIDDEN_PART
from lab_course.grade import Grade, Row

WIDE = 80  # columns: a terminal's
INDENT: Any = {"initial_indent": " " * 13, "subsequent_indent": " " * 13, "break_long_words": False}
PUBLIC_VISIBILITY, HIDDEN_VISIBILITY = "visible", "after_published"


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


def page(grade: Grade) -> str:
    """Return the page; whatever a student wrote is text there."""
    title = grade.assignment.content.title
    return render("grade.html.j2", Path(__file__).parent, grade=grade, title=title, points=points)


def results(grade: Grade, leaderboard: list[dict[str, object]] | None = None) -> str:
    """Return the text of Gradescope's results.json (gradescope-autograders.readthedocs.io, Specifications).

    Its output names no hidden check, since students read it at once. Nothing of the machine or of the time is in it:
    two machines write the same bytes.
    """
    content: dict[str, object] = {
        "score": grade.points,
        "output": "\n".join([next(lines(grade)).partition(": ")[0], *(f"! {fault}" for fault in grade.faults)]),
        "output_format": "text",
        "visibility": PUBLIC_VISIBILITY,
        "stdout_visibility": "hidden",
        "tests": [_test(row, number) for number, row in enumerate(grade.rows, 1)],
        "extra_data": {"assignment": grade.assignment.name, "student": grade.student, "max_score": grade.of},
    }
    if leaderboard is not None:
        content["leaderboard"] = leaderboard
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _test(row: Row, number: int) -> dict[str, object]:
    hidden = row.check.part == HIDDEN_PART
    return {
        "score": row.points,
        "max_score": row.check.points,
        "status": "passed" if row.marks.share == 1 else "failed",
        "name": row.check.title,
        "number": str(number),
        "output": "\n".join(text for text in (row.marks.reason, row.marks.where) if text),
        "output_format": "text",
        "tags": [row.check.id, row.check.part],
        "visibility": HIDDEN_VISIBILITY if hidden else PUBLIC_VISIBILITY,
    }
