# SPDX-License-Identifier: GPL-2.0-or-later
"""Public checks: the link is fair, and the rule is wrong on it."""

from itertools import pairwise

from lab_course.assignment import sibling
from lab_course.marks import Marks, none, of_parts
from lab_course.work import Work

from lab.links.models import Cycle, Schedule
from lab.links.profile import Profile, Way

bounds, wrongness = sibling(__file__, "bounds"), sibling(__file__, "wrongness")
DATA_BITS = 12_000  # a packet of 1500 bytes
MECHANISMS = {  # what a student may name, and how the link shows it
    "round_trip_grows": lambda link: _grows(link.down.delay_ms) or _grows(link.up.delay_ms),
    "acks_in_aggregates": lambda link: _aggregates(link.up, link, 2) or _aggregates(link.down, link, 1),
    "shallow_buffer": lambda link: (link.down.buffer_bdps or 0) <= 3,
}


def fair_link(work: Work) -> Profile:
    """Return the handed-in link; UserError where it breaks a bound."""
    link = work.own_link(bounds.FILE)
    bounds.require(link)
    return link


def check_fair(work: Work) -> Marks:
    """The bounds hold, and slow start without HyStart fills the link."""
    found = work.run(wrongness.PLAIN, fair_link(work), work.seed(), wrongness.DOWNLOAD)
    rate_mbps = found.trial.meta["rate_mbps"]
    reason = f"CUBIC without HyStart carries {found.throughput_mbps:.0f} of {rate_mbps:.0f} Mb/s."
    if not wrongness.fills(found):
        reason += " It must fill the link (its queue stands, half of the rate is used), or no rule could be right."
    return Marks(
        1.0 if wrongness.fills(found) else 0.5, reason, figures=(found.picture("plain", "CUBIC without HyStart."),)
    )


def check_wrong(work: Work) -> Marks:
    """The further from the truth the exit is, the more points."""
    link = fair_link(work)
    found = work.run(wrongness.sender(work, link), link, work.seed(), wrongness.DOWNLOAD)
    plain = work.run(wrongness.PLAIN, link, work.seed(), wrongness.DOWNLOAD)
    if not wrongness.fills(plain):
        return none("Nothing counts on a link that no sender fills.")
    measured = wrongness.measure(found)
    return Marks(measured.share, measured.text, figures=(found.picture("broken", "The rule."),))


def check_reason(work: Work) -> Marks:
    """Direction and mechanism are what the link and the run show."""
    link = fair_link(work)
    measured = wrongness.measure(work.run(wrongness.sender(work, link), link, work.seed(), wrongness.DOWNLOAD))
    direction = work.answers.choice("direction", ("early", "late"))
    mechanism = work.answers.choice("mechanism", tuple(MECHANISMS))
    fits = MECHANISMS[mechanism](link)
    return of_parts(
        [
            (direction == measured.direction, f"direction={direction}: the run shows {measured.direction}."),
            (fits, f"mechanism={mechanism}: your link has {'' if fits else 'none of '}it."),
        ]
    )


def _grows(delay: object) -> bool:
    """Return whether a delay rises within the download."""
    if isinstance(delay, Cycle):
        return delay.amplitude > 0
    if not isinstance(delay, Schedule):
        return False
    until_s = wrongness.DOWNLOAD.duration_s
    values = [step.value for step in delay.steps if step.from_s < until_s]
    again = values[:1] if delay.period_s and delay.period_s < until_s else []
    return any(later > earlier for earlier, later in pairwise([*values, *again]))


def _aggregates(way: Way, link: Profile, data_pkts: int) -> bool:
    """Return whether a frame of a direction holds several packets, of which one comes for so many of the data."""
    if way.frames is None or way.frames.packets == 1:
        return False
    return way.frames.period_ms > data_pkts * DATA_BITS / (link.down.rate_mbps * 1e3)
