# SPDX-License-Identifier: GPL-2.0-or-later
"""What another sender would have done: a range over every link that fits, or the reason why it cannot be known."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.base.format import counted
from lab.schema.cca import load_senders
from lab_whatif.infer import Inferred
from lab_whatif.measures import MARKS_MB, STEP_S, Measures
from lab_whatif.replay import Emulated
from lab_whatif.verdict import DIFFERING, Compared, marks

BEYOND = 1.10  # times the recorded bytes, in spans whose capacity is not known
SMALL = 0.02  # of all bytes: less changes no number
GRAIN = 0.01  # by which two downloads over one link differ for reasons that no capture shows
SPREAD = 1.10  # between the highest and the lowest trial
ABOVE_QUEUE = 1.02  # times the largest recorded queue
MOST_VARYING = 0.10  # of the rate, from a quarter of an RTT to the next: then the round trip varies as if a queue grew
BIN_RTTS, ROUND_RTTS = 0.35, 1.0  # a SEARCH sender judges once per bin (3.5 RTTs / 10), others once per round
THRESHOLD_RTTS, NOISE_FACTOR = 1 / 8, 3  # HyStart's threshold, which a noise must not reach
COMPARED = 2  # round trips, each of which may wait so
WITHOUT_ROUND_TRIPS = ("search", "loss", "bbr")  # rules of lab/cca.yml by delivered bytes or losses
APART = 0.10  # of the bytes: from then on a sender has left the original's path
WAITING_RTTS = 0.5  # of ACKs on their way, from which on the ACKs themselves may be the reason
OWN_SHARE = 0.95  # of its exit's time: what leaves later leaves by its exit
Value = Callable[[Emulated], float | None]


class Range(NamedTuple):
    """One quantity of another sender; low and high None where it is refused."""

    sender: str
    quantity: str
    unit: str
    recorded: float | None
    low: float | None
    high: float | None
    reason: str


@dataclass(frozen=True)
class Case:
    """Trials of another sender on every link that fits, and with each of them the original on that link."""

    sender: str
    inferred: Inferred
    recorded: Measures
    original: list[Emulated]
    other: list[Emulated]
    verdict: list[list[Compared]]  # of the original, by link

    def ranges(self) -> list[Range]:
        """Return all quantities."""
        every = [self.recorded, *(each.measures for each in (*self.original, *self.other))]
        steps = min(len(each.arrived_bytes) for each in every)  # that all of them last
        return [self._range(*each) for each in _quantities(self.recorded, steps)]

    def _range(self, name: str, unit: str, recorded: float | None, value: Value) -> Range:
        values = [value(each) for each in self.other]
        reason = next(self._refusals(name, values), "")
        if reason:
            return Range(self.sender, name, unit, recorded, None, None, reason)
        own = [value(each) for each in self.original]
        known = [each for each in values if each is not None]
        laid = [
            recorded * mine / its
            for mine, its in zip(values, own, strict=True)
            if mine is not None and its and recorded is not None
        ]
        low, high = min(known + laid) * (1 - GRAIN), max(known + laid) * (1 + GRAIN)
        trials, links = counted(len(known), "trial"), counted(len(self.verdict), "link")
        why = f"{trials} on {links}, with and without the original's own error, and {GRAIN:.0%} on both sides"
        if name.endswith(" MB") and (more_s := self._longest_excess_s(values)) > 0:
            high += more_s
            why += f"; up to {more_s:.3f} s more, if what it sends where the capacity is not known did not pass"
        if name == "exit":
            once_s = self.inferred.base_s * (BIN_RTTS if self.sender.startswith("search") else ROUND_RTTS)
            low, high = max(low - once_s, 0.0), high + once_s
            why += f"; {once_s:.2f} s more, between two of its judgements"
        return Range(self.sender, name, unit, recorded, low, high, why)

    def _longest_excess_s(self, ends_s: list[float | None]) -> float:
        """Return how long the median known rate carries what is sent beyond the recorded where no capacity is known."""
        rate_mbps = float(self.inferred.capacity["rate_mbps"].median() or np.inf)  # type: ignore[arg-type]
        pairs = [(each, end_s) for each, end_s in zip(self.other, ends_s, strict=True) if end_s is not None]
        excess = [_in_unknown(self, each.measures, end_s)[:2] for each, end_s in pairs]
        return max(max(mine - its, 0.0) for mine, its in excess) * 8 / 1e6 / rate_mbps

    def _refusals(self, name: str, values: list[float | None]) -> Iterator[str]:
        if all(each is None for each in values):
            yield "not reached within the recorded time" if name.endswith("MB") else "has none on these links"
        if any(each is None for each in values):
            yield "reached in some of the trials only"
        yield from self._of_original(name)
        yield from self._of_way_back(name, values)
        yield from self._of_queue(name)
        yield from self._of_path()
        yield from self._of_unknown(name, values)
        known = [each for each in values if each is not None]
        if min(known) > 0 and max(known) > SPREAD * min(known):
            yield f"the trials differ by {100 * (max(known) / min(known) - 1):.0f} %"

    def _of_original(self, name: str) -> Iterator[str]:
        rows = [row for link in self.verdict for row in link if row.quantity == name]
        contained = marks()[: marks().index(name)] if name in marks() else ()  # a time contains those to fewer bytes
        checked = [row for link in self.verdict for row in link if row.quantity in (name, *contained)]
        wrong = [row for row in checked if row.answer == "DOES NOT FIT"]
        if wrong:
            otherwise = "otherwise: " if wrong[0].reason else ""
            yield f"the original's own {wrong[0].quantity} is replayed {otherwise}{wrong[0].difference}"
        if name != "exit":
            return
        if any(row.answer == "CANNOT TELL" for row in rows):
            yield f"the original's own exit cannot be compared: {rows[0].reason or DIFFERING}"
        exits_s = [each.exit_s for each in self.other if each.exit_s is not None]
        if not all(self._is_known(each) for each in exits_s):
            yield f"its exit after {min(exits_s):.1f} s lies where the capacity is not known"
        if (varies := self.inferred.rate_varies) > MOST_VARYING:
            yield f"the rate varies by {varies:.0%} from a quarter of an RTT to the next: its exit is chance"
        threshold_ms = self.inferred.path.base_rtt_ms * THRESHOLD_RTTS
        noise_ms = NOISE_FACTOR * (self.inferred.path.step_ms + self.inferred.jitter_ms)
        if threshold_ms < noise_ms:
            noise = f"three times the capture's noise ({noise_ms:.1f} ms)"
            yield f"an eighth of the RTT ({threshold_ms:.1f} ms) is below {noise}"

    def _of_way_back(self, name: str, values: list[float | None]) -> Iterator[str]:
        """Refuse the exit of a sender that judges round trips, and all behind it, where ACKs wait by chance."""
        first_s = min(each.exit_s or 0.0 for each in self.other)
        before = name.endswith(" MB") and all(each is not None and each < first_s for each in values)
        if before or _cause(self.sender) in WITHOUT_ROUND_TRIPS:
            return
        noise_ms, threshold_ms = COMPARED * self.inferred.up_noise_ms, self.inferred.path.base_rtt_ms * THRESHOLD_RTTS
        if threshold_ms < noise_ms:
            noise = f"by which two of them differ through waits of ACKs alone ({noise_ms:.1f} ms)"
            yield f"it judges round trips, and an eighth of the RTT ({threshold_ms:.1f} ms) is below that {noise}"

    def _of_queue(self, name: str) -> Iterator[str]:
        """Refuse losses above the largest recorded queue: nothing is known of a buffer there."""
        seen = self.inferred.buffer.most_queued_bytes
        most = max(each.most_queued_bytes for each in self.other)
        if name in ("lost", "first loss") and most > ABOVE_QUEUE * seen:
            yield f"its queue of {most / 1e6:.2f} MB is above the largest recorded one ({seen / 1e6:.2f} MB)"

    def _of_path(self) -> Iterator[str]:
        """Refuse a sender that leaves the original's path before its own exit, or where the capacity is not known.

        Where ACKs wait for one another, the recorded waits are those of the original's ACKs.
        """
        path = self.inferred.path
        wait_ms, base_ms = float(np.percentile(path.up.most_s, 95)) * 1e3, path.base_rtt_ms
        if wait_ms <= WAITING_RTTS * base_ms:
            return
        for mine, its in zip(self.other, self.original, strict=True):
            left_s = _apart_s(mine.measures.arrived_bytes, its.measures.arrived_bytes)
            own_s = OWN_SHARE * (mine.exit_s if mine.exit_s is not None else np.inf)
            if left_s is not None and (left_s < own_s or not self._is_known(left_s)):
                waits = f"ACKs wait ({wait_ms:.0f} ms), and its own are others"
                yield f"it leaves the original's path after {left_s:.1f} s; {waits}"
                return

    def _is_known(self, since_s: float) -> bool:
        """Return whether the capacity is known at a time since the first data."""
        place = int((since_s + self.recorded.begin_s - self.inferred.base_s / 2) / STEP_S)
        known = self.inferred.capacity["known"]
        return bool(known[min(max(place, 0), len(known) - 1)])

    def _of_unknown(self, name: str, values: list[float | None]) -> Iterator[str]:
        """Refuse what rests on more than the recorded bytes where the capacity is not known."""
        for emulated, value in zip(self.other, values, strict=True):
            end_s = value if name.endswith(" MB") and value is not None else self.recorded.length_s
            mine, its, total = _in_unknown(self, emulated.measures, end_s)
            if mine > BEYOND * its and mine - its > SMALL * total:
                yield f"it sends {mine / 1e6:.1f} MB where the capacity is only known to carry {its / 1e6:.1f} MB"
                return


def _cause(sender: str) -> str | None:
    """Return by which rule a sender leaves slow start, as far as the lab knows it."""
    known = load_senders().get(sender)
    return known.slow_start_exit if known else None


def _quantities(recorded: Measures, steps: int) -> list[tuple[str, str, float | None, Value]]:
    times: list[tuple[str, str, float | None, Value]] = [
        (f"{mark} MB", "s", recorded.mark_s[mark], lambda each, mark=mark: each.measures.mark_s[mark])  # type: ignore[misc]
        for mark in MARKS_MB
    ]
    return [
        *times,
        ("bytes", "MB", _until(recorded, steps), lambda each: _until(each.measures, steps)),
        ("RTT", "ms", _median(recorded.rtt_ms), lambda each: _median(each.measures.rtt_ms)),
        ("first loss", "s", recorded.first_loss_s, lambda each: each.measures.first_loss_s),
        ("lost", "packets", recorded.losses, lambda each: each.measures.losses),
        ("exit", "s", recorded.exit_s, lambda each: each.exit_s),
    ]


def _until(measures: Measures, steps: int) -> float:
    return float(measures.arrived_bytes[steps - 1]) / 1e6


def _median(values: NDArray[np.float64]) -> float | None:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else None


def _apart_s(mine: NDArray[np.float64], its: NDArray[np.float64]) -> float | None:
    count = min(len(mine), len(its))
    apart = np.abs(mine[:count] - its[:count]) > APART * np.maximum(its[:count], 1e5)
    return float(np.argmax(apart) + 1) * STEP_S if apart.any() else None


def _in_unknown(case: Case, measures: Measures, end_s: float) -> tuple[float, float, float]:
    """Return bytes of the sender and recorded ones in steps whose capacity is not known, and all until `end_s`."""
    table = case.inferred.capacity
    middle_s = np.arange(min(len(measures.arrived_bytes), len(case.recorded.arrived_bytes))) * STEP_S + STEP_S / 2
    place = ((middle_s + case.recorded.begin_s - case.inferred.base_s / 2) / STEP_S).astype(int)
    known = table["known"].to_numpy()[np.clip(place, 0, table.height - 1)]
    unknown = ~known & (middle_s < end_s)
    mine, its = (
        np.diff(each[: len(middle_s)], prepend=0.0) for each in (measures.arrived_bytes, case.recorded.arrived_bytes)
    )
    return float(mine[unknown].sum()), float(its[unknown].sum()), float(mine[middle_s < end_s].sum())
