# SPDX-License-Identifier: GPL-2.0-or-later
"""Public checks of assignment 3."""

from lab.course.marks import Marks, full
from lab.course.work import Work

FILE = "hystartpp.c"


def check_builds(work: Work) -> Marks:
    """Build the module and let it pass the smoke test."""
    work.passed(FILE)
    return full("It builds, loads and moves data.")
