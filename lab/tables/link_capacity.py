# SPDX-License-Identifier: GPL-2.0-or-later
"""The link of a trial as it was: what could pass in a span of time, and the round trip without a queue."""

from functools import cached_property

import numpy as np
import polars as pl

from lab.node.qdiscs.qdisc_kind import wire_bytes

WAYS = ("down", "up")
JUST_BEFORE_S = 1e-9  # what may pass at the instant of an opportunity is part of a span that begins with it
HEADERS_BYTES = 66  # of a segment: Ethernet, IPv4, and TCP with time stamps


class LinkCapacity:
    """A trial's table `link`: quantity, t_s, value; each value holds until the next, the first also before."""

    def __init__(self, table: pl.DataFrame, mss_bytes: int = 0) -> None:
        self.table = table
        self.frame_bytes = wire_bytes(mss_bytes + HEADERS_BYTES)

    @classmethod
    def constant(cls, rate_mbps: float, base_rtt_ms: float) -> "LinkCapacity":
        """Make a link that does not change."""
        values = {"down.rate_mbps": rate_mbps, "down.delay_ms": base_rtt_ms / 2, "up.delay_ms": base_rtt_ms / 2}
        table = pl.DataFrame({"quantity": list(values), "t_s": 0.0}, schema_overrides={"t_s": pl.Float64})
        return cls(table.with_columns(pl.Series("value", list(values.values()), pl.Float64, strict=False)))

    @property
    def changes(self) -> bool:
        """Return whether the bottleneck's rate has more than one value."""
        return len(self._curve[0]) > 1

    def bytes_between(self, begin_s: float, end_s: float) -> float:
        """Return what the bottleneck could send in a span."""
        begin, end = self.sent_bytes(np.array([begin_s, end_s]))
        return float(end - begin)

    def rate_mbps(self, begin_s: float, end_s: float) -> float:
        """Return the bottleneck's mean rate in a span."""
        return self.bytes_between(begin_s, end_s) * 8 / 1e6 / (end_s - begin_s)

    def most_bytes_in(self, span_s: float) -> float:
        """Return the most that the bottleneck could send in a span: in one that begins or ends with a change."""
        times, _, _ = self._curve
        begins_s = np.concatenate([times - JUST_BEFORE_S, times - span_s])
        return float((self.sent_bytes(begins_s + span_s) - self.sent_bytes(begins_s)).max())

    def base_rtt_ms(self, t_s: float) -> float:
        """Return the round trip without a queue of a packet that is sent at a time."""
        return float(self.base_rtts_ms(np.array([t_s]))[0])

    def base_rtts_ms(self, t_s: np.ndarray) -> np.ndarray:
        """Return the same of packets that are sent at several times."""
        return np.asarray(np.sum([self._held(f"{way}.delay_ms", t_s) for way in WAYS], axis=0))

    def _held(self, quantity: str, t_s: np.ndarray) -> np.ndarray:
        times, values = self._series(quantity)
        return np.asarray(values[np.maximum(np.searchsorted(times, t_s, side="right") - 1, 0)])

    def _series(self, quantity: str) -> tuple[np.ndarray, np.ndarray]:
        rows = self._parts.get((quantity,), self.table.clear())
        return rows["t_s"].to_numpy(), rows["value"].to_numpy()

    @cached_property
    def _parts(self) -> dict[tuple[object, ...], pl.DataFrame]:
        """The rows of each quantity: a rule looks one up for each sample of the queue."""
        return self.table.partition_by("quantity", as_dict=True)

    @cached_property
    def _curve(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times, bytes that could have passed by then, and bytes a second from then on."""
        times, sizes = self._series("down.opportunity_bytes")
        if len(times):
            return times, np.cumsum(sizes), np.zeros(len(times))
        times, rates_mbps = self._series("down.rate_mbps")
        bytes_a_second = rates_mbps * 1e6 / 8
        return times, np.concatenate(([0.0], np.cumsum(np.diff(times) * bytes_a_second[:-1]))), bytes_a_second

    def sent_bytes(self, t_s: np.ndarray) -> np.ndarray:
        """Return what the bottleneck could have sent by each time, since its first change."""
        times, by_then, bytes_a_second = self._curve
        n = np.searchsorted(times, t_s, side="right") - 1
        before = (t_s - times[0]) * bytes_a_second[0]
        after = by_then[n] + (t_s - times[n]) * bytes_a_second[n]
        return np.asarray(np.where(n < 0, before, after))

    def time_of_bytes(self, size_bytes: np.ndarray) -> np.ndarray:
        """Return when the bottleneck could first have sent so much, since its first change; infinite where never."""
        times, by_then, bytes_a_second = self._curve
        following = np.searchsorted(by_then, size_bytes, side="left")
        last = np.maximum(following - 1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            within = times[last] + (size_bytes - by_then[last]) / bytes_a_second[last]
        return np.asarray(np.where(bytes_a_second[last] > 0, within, np.append(times, np.inf)[following]))
