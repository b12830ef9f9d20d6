# SPDX-License-Identifier: GPL-2.0-or-later
"""Hidden checks: vectors of the student's hidden seed, and a link that sends in aggregates."""

from dataclasses import replace

from lab_course.assignment import sibling
from lab_course.marks import Marks
from lab_course.ran import Ran
from lab_course.work import Work

checks, compare = sibling(__file__, "checks"), sibling(__file__, "compare")
LINK, DURATION_S = "aggregates", 3
DRAWS = 8  # of each kind of vector, to confirm a public check: a table of the public rows fits no more by luck
PUBLIC = {"bins": compare.BINS, "windows": compare.WINDOWS, "decision": compare.DECISION}


def check_other_vectors(work: Work) -> Marks:
    """Every value of vectors that the student has not seen is right; each public check holds for some of them."""
    found = compare.printed(_ran(work, LINK, DURATION_S).kernel_log)
    confirms = {name: compare.marks(found, work.seed(1), aspect, DRAWS).share for name, aspect in PUBLIC.items()}
    return replace(compare.marks(found, work.seed(1), compare.EVERYTHING), confirms=confirms)


def check_other_link(work: Work) -> Marks:
    """The module leaves where Algorithm 1 does, also where several bins pass between two ACKs, or on another draw."""
    again = compare.exit_marks(_ran(work, checks.LINK, checks.DURATION_S))
    return replace(compare.exit_marks(_ran(work, LINK, DURATION_S)), confirms={"kernel": again.share})


def _ran(work: Work, link: str, duration_s: int) -> Ran:
    return compare.ran(work, work.seed(1), link, duration_s, DRAWS)
