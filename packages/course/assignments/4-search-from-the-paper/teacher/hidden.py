# SPDX-License-Identifier: GPL-2.0-or-later
"""Hidden checks: vectors of the student's hidden seed, and a link that sends in aggregates."""

from lab_course.assignment import sibling
from lab_course.marks import Marks
from lab_course.ran import Ran
from lab_course.work import Work

compare = sibling(__file__, "compare")
LINK, DURATION_S = "aggregates", 3


def check_other_vectors(work: Work) -> Marks:
    """Every value of vectors that the student has not seen is right."""
    return compare.marks(compare.printed(_ran(work).kernel_log), work.seed(1), compare.EVERYTHING)


def check_other_link(work: Work) -> Marks:
    """The module leaves where Algorithm 1 does, also where several bins pass between two ACKs."""
    return compare.exit_marks(_ran(work))


def _ran(work: Work) -> Ran:
    return compare.ran(work, work.seed(1), LINK, DURATION_S)
