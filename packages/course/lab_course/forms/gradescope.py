# SPDX-License-Identifier: GPL-2.0-or-later
"""A grade as Gradescope's results.json (gradescope-autograders.readthedocs.io, Autograder Specifications).

Nothing of the machine or of the time is in it: two machines write the same bytes.
"""

import json

from lab_course.assignment import HIDDEN_PART
from lab_course.forms.plain import lines
from lab_course.grade import Grade, Row

PUBLIC_VISIBILITY, HIDDEN_VISIBILITY = "visible", "after_published"


def results(grade: Grade, leaderboard: list[dict[str, object]] | None = None) -> str:
    """Return the text of results.json. Its output names no hidden check, since students read it at once."""
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
