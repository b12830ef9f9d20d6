# SPDX-License-Identifier: GPL-2.0-or-later
"""Does the original, replayed on an inferred link, do what it did? A necessary test, and not a sufficient one."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from lab_whatif.measures import MARKS_MB, Measures
from lab_whatif.replay import Emulated

Answer = Literal["FITS", "DOES NOT FIT", "CANNOT TELL"]
TIME_PCT, RTT_PCT, RTT_P90_PCT, FIRST_LOSS_PCT, EXIT_PCT = 5.0, 5.0, 15.0, 2.0, 5.0
LOST_LEAST, LOST_MOST = 0.67, 1.5
ESTIMATE_PCT = 5.0  # between the exit that the flight shows and the kernel's own, in the replay
DIFFERING = "the answer differs between the links"
MUST = ("bytes", "RTT")  # and the largest mark: a link on which one of them differs answers nothing


class Compared(NamedTuple):
    """One quantity, recorded and replayed."""

    quantity: str
    unit: str
    recorded: float | None
    replayed: float | None
    error_pct: float | None
    answer: Answer
    reason: str = ""

    @property
    def difference(self) -> str:
        """Return by how much the replay differs, in words."""
        return self.reason or f"{self.error_pct:+.1f} %"


def marks() -> tuple[str, ...]:
    """Return the names of the times."""
    return tuple(f"{mark} MB" for mark in MARKS_MB)


def compare(recorded: Measures, replay: Emulated) -> list[Compared]:
    """Compare each quantity."""
    return [
        *_bytes(recorded, replay.measures),
        _rtt(recorded, replay.measures),
        *_losses(recorded, replay.measures),
        _exit(recorded, replay),
    ]


def fits(compared: list[Compared]) -> bool:
    """Return whether the link may answer for other senders."""
    reached = [each.quantity for each in compared if each.quantity in marks() and each.recorded is not None]
    needed = {*MUST, *reached[-1:]}
    return all(each.answer == "FITS" for each in compared if each.quantity in needed)


def _bytes(recorded: Measures, replayed: Measures) -> Iterator[Compared]:
    for mark, name in zip(MARKS_MB, marks(), strict=True):
        yield _judged(name, "s", recorded.mark_s[mark], replayed.mark_s[mark], TIME_PCT)
    count = min(len(recorded.arrived_bytes), len(replayed.arrived_bytes))
    mine, its = (float(each.arrived_bytes[count - 1]) / 1e6 for each in (recorded, replayed))
    yield _judged("bytes", "MB", mine, its, TIME_PCT)


def _rtt(recorded: Measures, replayed: Measures) -> Compared:
    count = min(len(recorded.rtt_ms), len(replayed.rtt_ms))
    mine, its = recorded.rtt_ms[:count], replayed.rtt_ms[:count]
    both = ~(np.isnan(mine) | np.isnan(its))
    if not both.any():
        return Compared("RTT", "ms", None, None, None, "CANNOT TELL", "no step has ACKs in both")
    errors = np.abs(its[both] / mine[both] - 1) * 100
    median, p90 = float(np.median(errors)), float(np.percentile(errors, 90))
    well = median <= RTT_PCT and p90 <= RTT_P90_PCT
    why = f"error of steps: median {median:.1f} %, 90th percentile {p90:.1f} %"
    return Compared(
        "RTT",
        "ms",
        float(np.median(mine[both])),
        float(np.median(its[both])),
        median,
        "FITS" if well else "DOES NOT FIT",
        why,
    )


def _losses(recorded: Measures, replayed: Measures) -> Iterator[Compared]:
    yield _judged("first loss", "s", recorded.first_loss_s, replayed.first_loss_s, FIRST_LOSS_PCT)
    mine, its = recorded.losses, replayed.losses
    if not mine and not its:
        yield Compared("lost", "packets", 0, 0, 0.0, "FITS")
        return
    ratio = its / mine if mine else np.inf
    well = LOST_LEAST <= ratio <= LOST_MOST
    error = (ratio - 1) * 100 if mine else None
    reason = "" if mine else "only one of both has some"
    yield Compared("lost", "packets", mine, its, error, "FITS" if well else "DOES NOT FIT", reason)


def _exit(recorded: Measures, replay: Emulated) -> Compared:
    seen, true = replay.measures.exit_s, replay.exit_s
    found = _judged("exit", "s", recorded.exit_s, seen, EXIT_PCT)
    if seen is None or true is None or abs(seen / true - 1) * 100 > ESTIMATE_PCT:
        return found._replace(answer="CANNOT TELL", reason="the bytes in flight do not show this sender's exit")
    return found


def _judged(name: str, unit: str, recorded: float | None, replayed: float | None, most_pct: float) -> Compared:
    if recorded is None and replayed is None:
        return Compared(name, unit, None, None, None, "CANNOT TELL", "neither has it")
    if recorded is None or replayed is None:
        return Compared(name, unit, recorded, replayed, None, "DOES NOT FIT", "only one of both has it")
    error = (replayed / recorded - 1) * 100 if recorded else 0.0
    return Compared(name, unit, recorded, replayed, error, "FITS" if abs(error) <= most_pct else "DOES NOT FIT")


def together(links: list[list[Compared]]) -> list[Compared]:
    """Return one row per quantity over links: those of the first, but CANNOT TELL where the links disagree."""
    rows = []
    for each in zip(*links, strict=True):
        answers = {row.answer for row in each}
        first = each[0]
        rows.append(first if len(answers) == 1 else first._replace(answer="CANNOT TELL", reason=DIFFERING))
    return rows
