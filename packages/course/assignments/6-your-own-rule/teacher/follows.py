# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the window at the exit follows the link: what is chosen in advance, or by the round trip alone, does not.

One link is as long as another and ten times as fast. A rule that looks at ACKs leaves there with a window that is
larger by about this factor; the window doubles in a round, and a rule may be early on one link and slow on the other,
so the square root of the factor is enough. A third link of this length stands between the two: from one neighbour to
the next, of which each is three times as fast, a window must grow, too, by the fourth root: one for slow links and one
for fast ones does not. In flight counts what packets show, not what the module records.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import geometric_mean

from lab_course.assignment import sibling
from lab_course.ran import Ran
from lab_course.work import Download, Work

from lab.judge.seen_exit import flight_of

paired = sibling(__file__, "paired")
FAR, MIDDLE, FAST = "far", "middle", "fast"  # of one length
DURATION_S = 6  # a slow rule has time to leave, too
OF_ALL, OF_NEIGHBOURS = 0.5, 0.25  # powers of the factor between links by which a window must grow


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
    exits = {link: _exits(paired.on(work, link).own) for link in paired.HIDDEN}
    others = [found for found in exits.values() if found]
    for link in (MIDDLE, FAST):
        ran = [work.run(paired.FILE, link, work.seed(number), Download(DURATION_S)) for number in range(paired.TRIALS)]
        exits[link] = _exits(ran)
        if exits[link] is None:
            return f"On a {link} link your rule ends slow start in no trial, so its exits follow no link."
    if not others:
        return "On no other link than a fast one your rule ends slow start, so its exits follow no link."
    ladder = [found for link in (FAR, MIDDLE, FAST) if (found := exits[link])]
    pairs = [(other, ladder[-1], OF_ALL) for other in others] + [(*each, OF_NEIGHBOURS) for each in pairwise(ladder)]
    for other, faster, power in pairs:
        if faster.flight_pkts < (least := other.flight_pkts * (faster.holds_pkts / other.holds_pkts) ** power):
            return (
                f"The exits do not follow the link: {faster.text}; {other.text}. With such a difference between links "
                f"a rule that looks at ACKs has at least {least:.0f} in flight on the first. A window that is chosen "
                "in advance is no rule."
            )
    return None


def _exits(ran: Sequence[Ran]) -> Exits | None:
    """Return the exits by a rule over the draws of a link; none where a loss comes first in each of them."""
    left = [(each.trial, each.exit) for each in ran if each.exit and paired.by_rule(each)]
    if not left:
        return None
    flights, holds = [], []
    for trial, at in left:
        flight, path = flight_of(trial)
        flights.append(max(flight.peak_until(at.t_s) / path.frame_bytes, 1.0))
        holds.append(float(trial.meta["rate_mbps"]) * 1e6 / 8 * path.rtt_s / path.frame_bytes)
    return Exits(ran[0].link.title, geometric_mean(flights), geometric_mean(holds))
