# SPDX-License-Identifier: GPL-2.0-or-later
"""The hidden check: the path that the student was to predict is run."""

from lab_course.assignment import sibling
from lab_course.marks import Marks, of_parts
from lab_course.work import Work

downloads = sibling(__file__, "downloads")
TOLERANCE_RTTS = 1.75
WHY = (
    "The handshake takes one round trip. Then the window of 10 packets doubles with each: log2(BDP / 10) more fill the "
    "path, and its queue begins to stand within one more."
)


def check_prediction(work: Work) -> Marks:
    """The predicted time of capacity lies within a round trip or so."""
    found = downloads.ran(work, "third")
    tolerance_s = TOLERANCE_RTTS * downloads.base_rtt_s(found)
    return of_parts([downloads.near(work, "third_capacity_s", downloads.truth_s(found), tolerance_s, "s", WHY)])
