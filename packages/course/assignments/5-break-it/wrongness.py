# SPDX-License-Identifier: GPL-2.0-or-later
"""How wrong an exit is, by the true queue: doublings that are missing, or round trips that are too many."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, exp, log, log2
from random import Random
from typing import Any

from lab_course.assignment import HIDDEN_PART, sibling
from lab_course.ran import Ran
from lab_course.work import Download, Work

from lab.base.errors import UserError
from lab.judge.classify import ExitClass
from lab.links.profile import Profile
from lab.tables.stored_trial import Trial

bounds = sibling(__file__, "bounds")
RULE, OWN_RULE, EASY = "search", "rule.c", "easy"
PLAIN = "cubic_plain"
DOWNLOAD = Download(4)
FULL_DOUBLINGS = 2.5  # early: so many more would have filled the path
FREE_RTTS, FULL_RTTS = 5.0, 6.0  # late: two windows of SEARCH are its right, beyond them it is wrong
OWN_LINK = "your link, constant and with a deep buffer"
DRAWN_LINK = "a constant link that nobody knows, with a deep buffer"
EASY_RATE_MBPS, EASY_DELAY_MS = (5, 100), (10, 100)  # of the easy link that nobody knows, each way
DEEP_BDPS, EASY_RTTS = 32, 50  # of easy links: no loss before a slow rule leaves
VARIED = 0.05  # share by which rate and delay of the hidden links differ


@dataclass(frozen=True)
class Wrongness:
    """How wrong one exit is; share: of what counts as wholly wrong."""

    direction: str  # early, late or none
    share: float
    text: str


def sender(work: Work, link: Profile) -> str:
    """Return the fellow's rule where one was handed in, else SEARCH; UserError where the rule is wrong by itself."""
    if OWN_RULE not in work.submission.files:
        return RULE
    for easy in _easy_links(work, link):
        found = work.run(OWN_RULE, easy, work.seed(), _download(easy))
        if found.truth["exit_class"] != ExitClass.CHOKEPOINT:
            raise UserError(f"{OWN_RULE}: must be right on an easy link, or there is nothing to break: {_left(found)}")
    return OWN_RULE


def _easy_links(work: Work, link: Profile) -> Iterator[Profile]:
    """Yield links on which a rule must be right: the given one, the student's without what varies, and a drawn one.

    A rule that is right on the given link alone, or wrong wherever it recognises the student's, breaks by itself.
    """
    yield varied(work.link(EASY), work.seed())
    ways = [list(bounds.delays(way.delay_ms)) for way in (link.down, link.up)]
    for down_ms, up_ms in sorted({tuple(map(min, ways)), tuple(map(max, ways))}):
        yield varied(_constant(OWN_LINK, link.down.rate_mbps, down_ms, up_ms), work.seed())
    if work.part == HIDDEN_PART:
        rng = Random(work.seed())  # noqa: S311 (no secret)
        rate_mbps, delay_ms = (exp(rng.uniform(*map(log, each))) for each in (EASY_RATE_MBPS, EASY_DELAY_MS))
        yield _constant(DRAWN_LINK, rate_mbps, delay_ms, delay_ms)


def _constant(title: str, rate_mbps: Any, down_ms: float, up_ms: float) -> Profile:
    content = {
        "title": title,
        "down": {"rate_mbps": round(rate_mbps, 3), "delay_ms": round(down_ms, 3), "buffer_bdps": DEEP_BDPS},
        "up": {"delay_ms": round(up_ms, 3)},
        "recorded": [],
        "assumed": ["constant rate and delay"],
    }
    return Profile.model_validate(content)


def _download(link: Profile) -> Download:
    """Return a download in which a slow rule leaves, too: HyStart++ leaves 37 round trips after the begin."""
    rtt_ms = sum(next(bounds.delays(way.delay_ms)) for way in (link.down, link.up))
    return Download(max(DOWNLOAD.duration_s, ceil(EASY_RTTS * rtt_ms / 1e3)))


def _left(found: Ran) -> str:
    left = f"leaves at {found.exit.t_s:.3f} s" if found.exit else "does not leave slow start"
    rate_mbps, rtt_ms = found.trial.meta["rate_mbps"], found.trial.meta["base_rtt_ms"]
    return (
        f"on {found.link.title} ({rate_mbps:.1f} Mb/s, {rtt_ms:.0f} ms), it {left} "
        f"({found.truth['exit_class'] or 'not judged'})"
    )


def measure(found: Ran) -> Wrongness:
    """Measure one exit."""
    row, left = found.truth, found.exit
    if left is None:
        return Wrongness("none", 0.0, f"It does not leave slow start within {DOWNLOAD.duration_s} s: nothing to judge.")
    if row["exit_class"] == "early":
        return _early(found, left.t_s, left.cwnd_pkts)
    if row["exit_class"] == "late" and row["capacity_s"] is not None:
        return _late(found, left.t_s, row["capacity_s"], left.cause)
    at_s = f"{row['capacity_s']:.3f} s" if row["capacity_s"] is not None else "a time that is not known"
    return Wrongness(
        "none", 0.0, f"It leaves at {left.t_s:.3f} s, after capacity ({at_s}) and before any loss: that is right."
    )


def _early(found: Ran, exit_s: float, cwnd_pkts: int) -> Wrongness:
    rtt_s = found.trial.link.base_rtt_ms(exit_s) / 1e3
    bdp_pkts = found.trial.meta["rate_mbps"] * 1e6 / 8 * rtt_s / found.mss_bytes
    missing = max(log2(bdp_pkts / max(cwnd_pkts, 1)), 0.0)
    text = (
        f"It leaves at {exit_s:.3f} s with {cwnd_pkts} packets, where the path holds {bdp_pkts:.0f}: "
        f"{missing:.1f} doublings too early ({FULL_DOUBLINGS:g} are full points)."
    )
    return Wrongness("early", min(missing / FULL_DOUBLINGS, 1.0), text)


def _late(found: Ran, exit_s: float, capacity_s: float, cause: str) -> Wrongness:
    rtt_s = found.trial.link.base_rtt_ms(capacity_s) / 1e3
    rtts = (exit_s - capacity_s) / rtt_s
    text = (
        f"The link is at capacity at {capacity_s:.3f} s, it leaves at {exit_s:.3f} s (cause: {cause}) after "
        f"a loss: {rtts:.1f} round trips later. {FREE_RTTS:g} are its right, {FREE_RTTS + FULL_RTTS:g} are full points."
    )
    return Wrongness("late", min(max(rtts - FREE_RTTS, 0.0) / FULL_RTTS, 1.0), text)


def fills(found: Ran) -> bool:
    """Return whether a download kept the link busy: its queue stood, and half of the capacity was used."""
    trial: Trial = found.trial
    return found.truth["capacity_s"] is not None and found.throughput_mbps >= 0.5 * trial.meta["rate_mbps"]


def varied(link: Profile, seed: int) -> Profile:
    """Return the link with its rate, and the forward delay where it is a number, a little different."""
    rng, down = Random(seed), link.down  # noqa: S311 (no secret)
    rate_mbps = round(float(down.rate_mbps) * rng.uniform(1 - VARIED, 1 + VARIED), 3)  # type: ignore[arg-type]
    changes: dict[str, float] = {"rate_mbps": rate_mbps}
    if isinstance(down.delay_ms, int | float):
        changes["delay_ms"] = round(down.delay_ms * rng.uniform(1 - VARIED, 1 + VARIED), 3)
    return link.model_copy(update={"down": down.model_copy(update=changes)})
