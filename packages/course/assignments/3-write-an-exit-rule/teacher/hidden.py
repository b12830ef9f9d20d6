# SPDX-License-Identifier: GPL-2.0-or-later
"""Hidden checks of assignment 3: the public links with other seeds, and links that no student has seen."""

from lab_course.assignment import sibling
from lab_course.marks import Marks
from lab_course.work import Download, Work

agree = sibling(__file__, "agree")
public = sibling(__file__, "checks")
LONG_S, DRIFT_S, SLOW_S, UNSEEN_S = 3, 1, 3, 3
REFERENCE = "hystartpp"  # the lab's own, which tests compare with RFC 9406 ACK by ACK
SAME_S = 0.05  # between two exits of the same round


def check_deep_other_seed(work: Work) -> Marks:
    """The public link with a hidden seed."""
    return agree.marks_on(work, "deep", public.DEEP_S)


def check_short_other_seed(work: Work) -> Marks:
    """The public link with a hidden seed."""
    return agree.marks_on(work, "short", public.SHORT_S)


def check_bump_other_seed(work: Work) -> Marks:
    """The public link with a hidden seed."""
    return agree.marks_on(work, "bump", public.BUMP_S)


def check_long(work: Work) -> Marks:
    """A growth of more than 16 ms, and of less than an eighth."""
    return agree.marks_on(work, "long", LONG_S)


def check_drift(work: Work) -> Marks:
    """Growths below the threshold, whose sum is above it."""
    return agree.marks_on(work, "drift", DRIFT_S)


def check_slow(work: Work) -> Marks:
    """Rounds of few segments."""
    return agree.marks_on(work, "slow", SLOW_S)


def check_unseen(work: Work) -> Marks:
    """The same rounds as the RFC's, and the same exit as the lab's HyStart++ has on the same link."""
    download = Download(UNSEEN_S)
    own = work.run(agree.FILE, "unseen", work.seed(), download)
    reference = work.run(REFERENCE, "unseen", work.seed(), download)
    marks = agree.marks_of(own, "unseen")
    if marks.share < 1 or _same_exit(own, reference):
        return marks
    theirs = f"The lab's HyStart++ leaves this link {_exit(reference)}, yours {_exit(own)}."
    return Marks(agree.HALF, f"{theirs} {marks.reason}", figures=marks.figures)


def _same_exit(own: object, reference: object) -> bool:
    if own.exit is None or reference.exit is None:
        return own.exit is reference.exit
    same = own.truth["exit_class"] == reference.truth["exit_class"]
    return same and abs(own.exit.t_s - reference.exit.t_s) <= SAME_S


def _exit(ran: object) -> str:
    if ran.exit is None:
        return "not at all"
    kind = {"early": "early", "chokepoint": "at the chokepoint", "late": "late"}.get(
        ran.truth["exit_class"], "unjudged"
    )
    return f"at {ran.exit.t_s:.2f} s ({kind} by the true queue, cause: {ran.exit.cause})"
