# SPDX-License-Identifier: GPL-2.0-or-later
"""The bottleneck's buffer and what it drops, by the queue that packets next to a loss found."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy  # loads scipy.stats at its first use
from numpy.typing import NDArray

from lab.base.stats import wilson_pct
from lab_whatif.path import Down

RANDOM_SHARE = 0.25  # of the largest queue: what is lost below it was not lost for lack of room
# Times the queue of the first loss, and one step of the time stamps; packets accepted above it: no tail drop.
THRESHOLD_ABOVE = 1.1
NEAR_END, MOST_ELSEWHERE = 0.75, 0.25  # of the largest queue, where a tail drops; share of losses that are not there
# What a tail drops has met the largest queue, within these bounds (chosen over ten captures of tail drop); an AQM drops
# most below, where others get in. At the sender a capture shows together what one ACK covers.
END_PKTS, END_SHARE, LEAST_AT_END, TOGETHER_PCT = 2, 0.05, 0.5, 95
REORDERED_SHARE = 0.5  # of a base RTT: what fills a hole sooner was late, and not sent again
CHANCE_SDS = 2  # standard deviations by which more is lost in the queue than random loss alone would lose there
BY_CHANCE = 0.05  # probability from which queues that losses met and all queues are alike
BY_AN_AQM = 0.001  # probability below which losses with a short queue were not at random: of PIE 10^-50 and less
LEAST_DROPS = 5  # by which a probability is stated
LEAST_DROP_PCT = 3.0  # above a threshold: less is random loss, which also meets packets in a queue
Kind = Literal["tail", "threshold", "at least"]


@dataclass(frozen=True)
class Holes:
    """Runs of lost bytes: the packet that arrived next, the one sent in front, and how many packets were lost."""

    place: NDArray[np.int64]
    front: NDArray[np.int64]
    packets: NDArray[np.float64]


@dataclass(frozen=True)
class Buffer:
    """What is known of the buffer."""

    kind: Kind
    bytes: int  # of a tail: what it holds; of a threshold: the queue at which the drop was first seen
    most_queued_bytes: int
    drop_pct: float | None  # above the threshold
    random_loss_pct: float
    lost_s: NDArray[np.float64]  # when the packet behind each hole arrived
    lost_pkts: NDArray[np.float64]
    met_bytes: NDArray[np.int64]  # the queue that each of them met
    hidden_bytes: int = 0  # by which one ACK of many packets makes a queue too large
    random_pkts: int = 0  # lost where the queue was not near its largest
    is_placed: bool = True  # whether it is seen which queue what was lost had met

    @property
    def unplaced(self) -> "Buffer":
        """Return what is left where the queue that what was lost had met is not seen."""
        most = self.most_queued_bytes
        return replace(self, kind="at least", bytes=most, drop_pct=None, random_loss_pct=0.0, is_placed=not self.losses)

    @property
    def losses(self) -> int:
        return int(self.lost_pkts.sum())

    @property
    def random_bounds_pct(self) -> tuple[float | None, float | None]:
        """Return bounds of the random loss (Wilson): what was lost near the largest queue may be for lack of room."""
        if not self.random_loss_pct:
            return None, None
        most = self.losses if self.kind == "at least" else self.random_pkts
        packets = max(round(100 * most / self.random_loss_pct), most)
        return wilson_pct(self.random_pkts, packets)[0], wilson_pct(most, packets)[1]

    @property
    def first_loss_s(self) -> float | None:
        """Return when the first loss could be seen at the receiver."""
        return float(self.lost_s[0]) if len(self.lost_s) else None


def holes(down: Down, base_s: float, acked: int) -> Holes:
    """Find what was lost: holes that nothing fills which was sent at the same time.

    Of what was acknowledged, which ends at `acked`, it is no more than what came later: the capture lost the rest.
    """
    highest = np.maximum.accumulate(down.end)
    before = np.concatenate([[1], highest[:-1]])
    place = np.flatnonzero(down.seq > before)
    begin, end = before[place], down.seq[place]
    lost, filled = (end - begin).astype(float), np.zeros(len(place))
    sent_s = down.arrival_s - down.wait_s
    old = np.flatnonzero(down.seq < before)
    hole = np.searchsorted(begin, down.seq[old], side="right") - 1
    for packet, number in zip(old[hole >= 0], hole[hole >= 0], strict=True):
        size = max(min(down.end[packet], end[number]) - down.seq[packet], 0)
        filled[number] += size
        lost[number] -= size * (sent_s[packet] - sent_s[place[number]] < REORDERED_SHARE * base_s)
    lost = np.where(end <= acked, np.minimum(lost, filled), lost)
    real = lost > 0
    full = max(float((down.end - down.seq).max()), 1.0)
    front = np.searchsorted(highest, begin[real])
    return Holes(place[real], front, np.ceil(lost[real] / full))


def buffer_of(down: Down, base_s: float, acked: int, grain_bytes: float, jitter_bytes: float) -> Buffer:
    """Judge the buffer and its kind.

    `grain_bytes` left during one step of the time stamps, and `jitter_bytes` while the way down varies without a queue.
    """
    found, queued = holes(down, base_s, acked), down.queued_bytes
    most = int(queued.max())
    # a burst's end is lost: the packet in front of it has met that queue, and the one behind it a drained one
    levels = np.maximum(queued[found.place], queued[found.front])
    is_low, at_low = levels < RANDOM_SHARE * most, queued < RANDOM_SHARE * most
    below = (
        NEAR_END * most - grain_bytes - float(down.frame_bytes.max())
    )  # a queue is known to a step of the stamps and a packet
    is_below = levels < below
    evenly = _lost_evenly(found.packets, levels, queued, below)
    random_pct = 100 * evenly or _share_pct(found.packets[is_low], at_low)
    lost = down.arrival_s[found.place], found.packets, levels
    full, levels = found.packets[~is_low], levels[~is_low]
    together = _together_pkts(down, queued)
    hidden_bytes = int((together - 1) * down.frame_bytes.max())
    below_pkts, random_pkts = (int(found.packets[each].sum()) for each in (is_below, is_below if evenly else is_low))
    if not len(full):
        return Buffer("at least", most, most, None, random_pct, *lost, hidden_bytes, below_pkts)
    every_pct = _share_pct(found.packets, queued >= 0)
    # lost at random, or by an AQM
    everywhere = Buffer("at least", most, most, None, every_pct, *lost, hidden_bytes, below_pkts)
    by_chance = random_pct / 100 * (float((~at_low).sum()) + float(full.sum()))
    if float(full.sum()) <= by_chance + CHANCE_SDS * math.sqrt(by_chance):
        return everywhere
    level = int(levels[0])
    above = full[levels >= level]
    drop_pct = _share_pct(above, queued > level)
    within = max(END_PKTS * together * float(down.frame_bytes.max()) + grain_bytes, END_SHARE * most) + jitter_bytes
    near_pkts, near_share, end_share = _near_end(full, levels, queued, (NEAR_END * most, most - within), evenly)
    is_first = most <= THRESHOLD_ABOVE * level + grain_bytes + hidden_bytes
    if end_share >= LEAST_AT_END and near_share >= 1 - MOST_ELSEWHERE and (is_first or end_share >= 1 - MOST_ELSEWHERE):
        held = _held_bytes(levels, grain_bytes, down)
        return Buffer("tail", held, most, None, random_pct, *lost, hidden_bytes, random_pkts)
    if is_first or drop_pct < LEAST_DROP_PCT:
        below = every_pct / 100 * (float((queued < NEAR_END * most).sum()) + float(full.sum()) - near_pkts)
        by_queue = float(full.sum()) - near_pkts < below - CHANCE_SDS * math.sqrt(below)  # fewer than at random
        return everywhere.unplaced if by_queue and near_share >= 1 - MOST_ELSEWHERE else everywhere
    if _at_other_times(down.arrival_s[found.place[is_low]], down.arrival_s[at_low]):
        return everywhere.unplaced  # PIE, whose probability is still high while its queue drains
    stated_pct = drop_pct if above.sum() >= LEAST_DROPS else None
    return Buffer("threshold", level, most, stated_pct, random_pct, *lost, hidden_bytes, random_pkts)


def _near_end(
    lost_pkts: NDArray[np.float64],
    levels: NDArray[np.float64],
    queued: NDArray[np.int64],
    least: tuple[float, float],
    evenly: float,
) -> tuple[float, float, float]:
    """Return how many losses by the queue met one near its end, and their share, and the share of those at its end.

    levels: the queue that each loss met; least: from which queue on it is near, and at its end; evenly: the share of
    all packets that is lost at random.
    """
    near_pkts, end_pkts = (
        float(lost_pkts[levels >= one].sum()) - evenly * float((queued >= one).sum()) for one in least
    )
    by_queue_pkts = max(near_pkts, 1.0) if evenly else float(lost_pkts.sum())
    return near_pkts, near_pkts / by_queue_pkts, end_pkts / by_queue_pkts


def _at_other_times(lost_s: NDArray[np.float64], passed_s: NDArray[np.float64]) -> bool:
    """Return whether losses do not follow what passed: random ones do (Kolmogorov and Smirnov)."""
    if len(lost_s) < LEAST_DROPS:
        return False
    return bool(scipy.stats.ks_2samp(lost_s, passed_s, method="asymp").pvalue < BY_AN_AQM)


def _share_pct(lost: NDArray[np.float64], passed: NDArray[np.bool_]) -> float:
    return 100 * float(lost.sum()) / max(float(lost.sum() + passed.sum()), 1.0)


def _held_bytes(levels: NDArray[np.int64], grain_bytes: float, down: Down) -> int:
    """Return the largest queue that was met and the packet that met it, in whole packets."""
    frame_bytes = int(down.frame_bytes.max())
    met_bytes = float(levels.max()) - grain_bytes / 2  # a time stamp is half a step too old, in the mean
    return max(round(met_bytes / frame_bytes) + 1, 1) * frame_bytes


def _lost_evenly(
    packets: NDArray[np.float64], levels: NDArray[np.int64], queued: NDArray[np.int64], below: float
) -> float:
    """Return the share lost with a queue below some bytes; 0 where it differs with the queue, as by an AQM."""
    every = np.maximum(queued[1:], queued[:-1])  # as of a loss: the larger of two next to it
    every, near = every[every < below], levels < below
    if not LEAST_DROPS <= packets[near].sum() <= LEAST_DROP_PCT / 100 * len(every):
        return 0.0
    met = np.repeat(levels[near], packets[near].astype(int))
    alike = scipy.stats.ks_2samp(met, every, method="asymp").pvalue >= BY_CHANCE
    return len(met) / (len(met) + len(every)) if alike else 0.0


def _together_pkts(down: Down, queued: NDArray[np.int64]) -> float:
    """Return how many packets one time shows together, nearly at most: of all, or of those in the largest queue."""
    last = int(queued.argmax())
    waiting = down.arrival_s[last - int(queued[last] // down.frame_bytes.max()) : last + 1]
    every, largest = (np.unique(times_s, return_counts=True)[1] for times_s in (down.arrival_s, waiting))
    of_packets = np.repeat(largest, largest)
    return max(float(np.percentile(every, TOGETHER_PCT)), float(np.percentile(of_packets, TOGETHER_PCT)))
