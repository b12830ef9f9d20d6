# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the window at the exit follows the link: what is chosen in advance, or by the round trip alone, does not.

One link is as long as another and ten times as fast. A rule that looks at ACKs leaves there with a window that is
larger by about this factor; the window doubles in a round, and a rule may be early on one link and slow on the other,
so the square root of the factor is enough. In flight counts what packets show, not what the module records.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import geometric_mean

from lab_course.assignment import sibling
from lab_course.ran import Ran
from lab_course.seen import flight_pkts, holds_pkts
from lab_course.work import Download, Work

paired = sibling(__file__, "paired")
FAST, DURATION_S = "fast", 6  # a slow rule has time to leave, too


@dataclass(frozen=True)
class Exits:
    """The exits by a rule of one's own on one link: means, over trials, of packets in flight, and of what fills it."""

    title: str
    flight_pkts: float
    holds_pkts: float

    @property
    def text(self) -> str:
        """Name both in a line."""
        return (
            f"{self.title} holds {self.holds_pkts:.0f} packets, and at your exit {self.flight_pkts:.0f} are in flight"
        )


def unlike(work: Work) -> str | None:
    """Return in a sentence how the exits do not follow the link; none where they do."""
    ran = [work.run(paired.FILE, FAST, work.seed(number), Download(DURATION_S)) for number in range(paired.TRIALS)]
    fast = _exits(ran)
    if fast is None:
        return "On a fast link your rule ends slow start in no trial, so its exits follow no link."
    others = [found for link in paired.HIDDEN if (found := _exits(paired.on(work, link).own))]
    if not others:
        return "On no other link than a fast one your rule ends slow start, so its exits follow no link."
    for other in others:
        if fast.flight_pkts < (least := other.flight_pkts * sqrt(fast.holds_pkts / other.holds_pkts)):
            return (
                f"The exits do not follow the link: {fast.text}; {other.text}. With such a difference between links a "
                f"rule that looks at ACKs has at least {least:.0f} in flight on the first. A window that is chosen in "
                "advance is no rule."
            )
    return None


def _exits(ran: Sequence[Ran]) -> Exits | None:
    """Return the exits by a rule over the draws of a link; none where a loss comes first in each of them."""
    left = [(each.trial, each.exit) for each in ran if each.exit and paired.by_rule(each)]
    if not left:
        return None
    flights = [max(flight_pkts(trial, at), 1.0) for trial, at in left]
    return Exits(ran[0].link.title, geometric_mean(flights), geometric_mean(holds_pkts(trial) for trial, _ in left))
