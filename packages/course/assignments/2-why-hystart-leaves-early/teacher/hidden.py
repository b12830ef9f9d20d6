# SPDX-License-Identifier: GPL-2.0-or-later
"""The hidden check: the same runs over a satellite that the student has not seen."""

from lab_course.assignment import sibling
from lab_course.marks import Marks
from lab_course.work import Work

checks = sibling(__file__, "checks")


def check_other_satellite(work: Work) -> Marks:
    """The conclusion is no luck of one seed."""
    marks: Marks = checks.conclusion(work)
    return marks
