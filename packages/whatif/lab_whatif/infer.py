# SPDX-License-Identifier: GPL-2.0-or-later
"""All that a capture shows of its link."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab_whatif.capacity import MARGIN_S, busy_gaps, capacity, in_order, overtaken
from lab_whatif.path import FRAME_BYTES, Path
from lab_whatif.queue import END_SHARE, LEAST_DROPS, RANDOM_SHARE, Buffer, buffer_of
from lab_whatif.segments import HEADER_BYTES

STEP_RTTS, SHORTEST_STEP_S, LONGEST_STEP_S = 0.25, 0.005, 0.100
SHOWN_STEP_S = 0.100
SPANS = 16  # of a capture, in each of which both ways are seen: clocks hardly run apart within one
LAST_PART, LAST_ACKS = 64, 20  # of the ACKs, and at least so many: of these each shows a step of the last span
FEWEST_SINCE, FEWEST_RTTS, MOST_SPREAD = 2, 2, 0.25  # of losses behind a step of their queue; before it; of the step
STEADY, EVEN = 0.5, 0.9  # of the way up's changes are a drift's: R squared over time
MOST_OVERTAKEN_PCT = 0.1  # of the packets: without a word
MOST_ROUGH_SHARE = 0.05  # of the capacity: without a word
MOST_UNSTEADY_S, MOST_UNSTEADY_SHARE = 0.002, 0.02  # of a clock; or a share of the base RTT


@dataclass(frozen=True)
class Inferred:
    """A link as one download saw it."""

    name: str
    path: Path
    capacity: pl.DataFrame  # in steps of SHOWN_STEP_S
    buffer: Buffer
    jitter_ms: float  # of the way down without a queue
    mss_bytes: int
    length_s: float
    near_ms: float = 0.0  # which the capture's own end took to answer the handshake, where not at once
    handshake_ms: float = np.inf  # round trip of a sender's handshake, which waits for no second packet
    header_bytes: int = HEADER_BYTES  # of the capture's own packets, in front of data
    set_ms: float = 0.0  # by which the capture's clock was set meanwhile, beyond one step of its host's time stamps

    @property
    def base_s(self) -> float:
        return self.path.base_rtt_ms / 1e3

    @property
    def step_s(self) -> float:
        """Return the replay's step: a quarter of a base RTT, within bounds."""
        return min(max(self.base_s * STEP_RTTS, SHORTEST_STEP_S), LONGEST_STEP_S)

    @property
    def rate_varies(self) -> float:
        """Return by which share the rate changes from one known step of a quarter of an RTT to the next, median."""
        rate = self.capacity_in(self.step_s).filter("known")["rate_mbps"].to_numpy()
        return float(np.median(np.abs(np.diff(rate)) / np.maximum(rate[1:], 1e-9))) if len(rate) > 1 else 0.0

    @property
    def up_noise_ms(self) -> float:
        """Return how far ACKs' waits lie from their step's median, 90th percentile: what a replay leaves out."""
        up = self.path.up
        waits = pl.DataFrame({"step": (up.depart_s // self.step_s), "wait_s": (up.least_s + up.most_s) / 2})
        apart_s = waits.select((pl.col("wait_s") - pl.col("wait_s").median().over("step")).abs())
        return float(apart_s["wait_s"].quantile(0.9) or 0.0) * 1e3

    @property
    def overtaken_pct(self) -> float:
        """Return the share of packets that were late by themselves, as others that were sent later show."""
        return float(overtaken(self.path.down, self.path.step_ms / 1e3).mean()) * 100

    @property
    def backlog_ms(self) -> float:
        """Return how long a backlog lasted, in the mean of all."""
        busy = busy_gaps(self.path.down, self.path.step_ms / 1e3)
        begun = int((busy[1:] & ~busy[:-1]).sum())
        return float(np.diff(self.path.down.arrival_s)[busy[1:]].sum()) * 1e3 / max(begun, 1)

    @property
    def late_ms(self) -> float:
        """Return by how much a packet may be late by itself, which looks as if it had waited in a queue."""
        return self.jitter_ms + self.path.step_ms + MARGIN_S * 1e3 * self.path.by_acks  # else arrivals are exact

    @property
    def rough_share(self) -> float:
        """Return by which share the capacity may be wrong, where packets are late at the ends of each backlog."""
        return self.late_ms / self.backlog_ms if self.backlog_ms else np.inf

    @property
    def is_rough(self) -> bool:
        """Return whether that is so much that it is said, and widens the capacity's bounds."""
        return self.rough_share > MOST_ROUGH_SHARE

    @property
    def longer_share(self) -> float:
        """Return by which share the capture's own packets are longer than they count."""
        return (self.header_bytes - HEADER_BYTES) / (self.mss_bytes + FRAME_BYTES)

    @property
    def apart_ms(self) -> float:
        """Return by how much the base RTT exceeds what is stated if the two ends' clocks run apart.

        The shortest way down and the shortest way up lie far apart in time then: near each other they sum up to more.
        """
        down_s, up_s = self._least_of_spans()
        apart_s = float((down_s + up_s).min() - down_s.min() - up_s.min())
        steadily_s = apart_s if apart_s < np.inf and _steadiness(up_s) >= STEADY else 0.0
        return max(steadily_s, self.stepped_s) * 1e3

    @property
    def stepped_s(self) -> float:
        """Return by how much the way up changes at once, as where the other end's clock is set; 0 of too little."""
        up_s = self._least_of_spans()[1]
        up_s = up_s[np.isfinite(up_s)]
        step_s = abs(_step(up_s)[1])
        up, least_apart_s = self.path.up, self.least_apart_s
        if len(up_s) > 1 and np.ptp(up_s[:-1]) <= least_apart_s:  # level, but for a step within the last span
            last = slice(-max(len(up.least_s) // LAST_PART, LAST_ACKS), None)
            if up.least_s[last].min() - up_s[:-1].max() > least_apart_s:
                step_s = max(step_s, float(up.most_s[last].min() - up_s[:-1].mean()))
        return step_s if step_s > least_apart_s else 0.0

    @property
    def moved(self) -> tuple[float, float, float] | None:
        """Return from when on losses met a larger queue for good, and the mean in bytes until then and since."""
        buffer = self.buffer
        is_near = buffer.met_bytes >= RANDOM_SHARE * buffer.most_queued_bytes
        met_bytes, lost_s = buffer.met_bytes[is_near].astype(float), buffer.lost_s[is_near]
        if not buffer.is_placed or len(met_bytes) < LEAST_DROPS + FEWEST_SINCE:
            return None
        most_before, least_since = np.maximum.accumulate(met_bytes), np.minimum.accumulate(met_bytes[::-1])[::-1]
        for_good = most_before[:-1] <= least_since[1:]
        for_good &= lost_s[1:] - lost_s[0] >= FEWEST_RTTS * self.base_s  # one burst's losses climb, too
        for_good[: LEAST_DROPS - 1] = for_good[len(for_good) - FEWEST_SINCE + 1 :] = False
        place = 1 + int(np.where(for_good, _changes(met_bytes)[1], -1.0).argmax())
        before, since = np.split(met_bytes, [place])
        more_bytes = since.mean() - before.mean()
        is_step = more_bytes >= END_SHARE * buffer.most_queued_bytes and before.std() <= MOST_SPREAD * more_bytes
        if not (for_good[place - 1] and is_step):
            return None
        return float(lost_s[place]), float(before.mean()), float(since.mean())

    @property
    def is_long(self) -> bool:
        """Return whether the handshake's round trip was so much shorter than the base RTT that it is said."""
        return self.path.base_rtt_ms - self.handshake_ms > self.least_apart_s * 1e3

    @property
    def least_apart_s(self) -> float:
        """Return by how much clocks may differ without a word."""
        return max(MOST_UNSTEADY_S, MOST_UNSTEADY_SHARE * self.base_s) + self.path.step_ms / 1e3

    @property
    def drift(self) -> float:
        """Return by how many seconds the way up changes in each, where it does so as evenly as between two clocks."""
        _, up_s = self._least_of_spans()
        place = np.flatnonzero(np.isfinite(up_s))
        if _steadiness(up_s) < EVEN:
            return 0.0
        whole_s = float(np.polyfit(place, up_s[place], 1)[0]) * SPANS
        return whole_s / self._end_s if abs(whole_s) > self.least_apart_s else 0.0

    @property
    def _end_s(self) -> float:
        return max(float(self.path.down.arrival_s.max()), float(self.path.up.depart_s.max()))

    def _least_of_spans(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least waits of both ways in each span; infinite where there is none."""
        down, up, edges_s = self.path.down, self.path.up, np.linspace(0, self._end_s, SPANS + 1)[1:-1]
        return _least(down.arrival_s, down.wait_s, edges_s), _least(up.depart_s, up.most_s, edges_s)

    def capacity_in(self, step_s: float) -> pl.DataFrame:
        """Return the capacity in steps of another length."""
        return capacity(self.path.down, self.path.step_ms / 1e3, step_s, self.base_s / 2)


def infer(path: Path, name: str) -> Inferred:
    """Infer the link."""
    base_s = path.base_rtt_ms / 1e3
    table = capacity(path.down, path.step_ms / 1e3, SHOWN_STEP_S, base_s / 2)
    mss = path.mss_bytes or int((path.down.end - path.down.seq).max())
    length_s = float(path.down.arrival_s[-1])
    most_mbps = float(table["rate_mbps"].max() or 0)  # type: ignore[arg-type]
    jitter_ms, bytes_per_ms = _jitter_ms(path), most_mbps * 1e3 / 8
    in_queue = in_order(path.down, path.step_ms / 1e3)
    buffer = buffer_of(in_queue, base_s, int(path.up.ack.max()), bytes_per_ms * path.step_ms, bytes_per_ms * jitter_ms)
    rough = buffer.hidden_bytes > END_SHARE * buffer.most_queued_bytes
    late = path.by_acks and 100 * overtaken(path.down, path.step_ms / 1e3).mean() > MOST_OVERTAKEN_PCT
    if buffer.kind != "tail" and (rough or late):
        buffer = buffer.unplaced
    if path.counted:
        lost_s, lost_pkts = path.counted
        buffer = replace(buffer, lost_s=lost_s, lost_pkts=lost_pkts, met_bytes=buffer.met_bytes[:0])
    return Inferred(name, path, table, buffer, jitter_ms, mss, length_s)


def _least(t_s: NDArray[np.float64], waits_s: NDArray[np.float64], edges_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least wait between each two edges; infinite where there is none."""
    found = np.full(len(edges_s) + 1, np.inf)
    np.minimum.at(found, np.searchsorted(edges_s, t_s, side="right"), waits_s)
    return found


def _steadiness(waits_s: NDArray[np.float64]) -> float:
    """Return how far waits grow or shrink with time, as between clocks, and do not go up and down: R squared."""
    place = np.flatnonzero(np.isfinite(waits_s))
    if len(place) <= 2 or not np.ptp(waits_s[place]):
        return 0.0
    return float(np.corrcoef(place, waits_s[place])[0, 1]) ** 2


def _step(values: NDArray[np.float64]) -> tuple[int, float]:
    """Return where values change at once and for good, and by how much; 0 and 0 where they do otherwise."""
    apart, explained = _changes(values)
    place = int(explained.argmax()) if len(explained) else 0
    is_step = len(explained) > 0 and explained[place] >= EVEN * values.var() * len(values)
    return (place + 1, float(apart[place])) if is_step else (0, 0.0)


def _changes(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return of each place but the first the mean since then less that before, and the squares that this explains."""
    before, total = np.arange(1, len(values)), np.cumsum(values - values.mean())[:-1]
    apart = -total * len(values) / (before * (len(values) - before))
    return apart, np.abs(total * apart)


def _jitter_ms(path: Path) -> float:
    """Return the 90th percentile of waits that no queue explains: of packets far behind the one in front."""
    down = path.down
    gap_s = np.diff(down.arrival_s, prepend=-np.inf)
    idle = ~busy_gaps(down, path.step_ms / 1e3) & (gap_s > down.wait_s)
    idle[0] = False
    if not idle.any():
        return 0.0
    return max(float(np.percentile(down.wait_s[idle], 90)) * 1e3 - path.step_ms, 0.0)
