# SPDX-License-Identifier: GPL-2.0-or-later
"""Public checks of assignment 3: the module builds, and does what RFC 9406 states on three links."""

from lab_course.assignment import sibling
from lab_course.marks import Marks, full
from lab_course.work import Work

agree = sibling(__file__, "agree")
DEEP_S, SHORT_S, BUMP_S = 3, 1, 3


def check_builds(work: Work) -> Marks:
    """Build the module and let it pass the smoke test."""
    work.passed(agree.FILE)
    return full("It builds, loads, and moves data through losses, a pause and a reset.")


def check_deep(work: Work) -> Marks:
    """A queue that grows: CSS, five rounds of it, exit."""
    return agree.marks_on(work, "deep", DEEP_S)


def check_short(work: Work) -> Marks:
    """A growth of an eighth, and of less than 4 ms."""
    return agree.marks_on(work, "short", SHORT_S)


def check_bump(work: Work) -> Marks:
    """A growth that goes away."""
    return agree.marks_on(work, "bump", BUMP_S)
