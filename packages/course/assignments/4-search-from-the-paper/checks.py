# SPDX-License-Identifier: GPL-2.0-or-later
"""Public checks: one build of the student's header runs the public vectors, then sends over a GEO link."""

from lab_course.assignment import sibling
from lab_course.marks import Marks
from lab_course.ran import Ran
from lab_course.work import Work

compare, vectors = sibling(__file__, "compare"), sibling(__file__, "vectors")
SEED = vectors.PUBLIC_SEED
LINK, DURATION_S = "geo", 12


def check_bins(work: Work) -> Marks:
    """Bins have the right length and number, and windows are compared when they can be."""
    return _vectors(work, compare.BINS)


def check_windows(work: Work) -> Marks:
    """Both windows hold the right bytes."""
    return _vectors(work, compare.WINDOWS)


def check_decision(work: Work) -> Marks:
    """The decision follows from both windows."""
    return _vectors(work, compare.DECISION)


def check_kernel(work: Work) -> Marks:
    """The module leaves where Algorithm 1 does."""
    return compare.exit_marks(_ran(work))


def _vectors(work: Work, aspect: object) -> Marks:
    return compare.marks(compare.printed(_ran(work).kernel_log), SEED, aspect)


def _ran(work: Work) -> Ran:
    return compare.ran(work, SEED, LINK, DURATION_S)
