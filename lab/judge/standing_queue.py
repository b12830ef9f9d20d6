# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a bottleneck's queue begins to stand: from which of its samples on it is never empty, and its link never idle.

The qdisc's backlog and its counter of bytes sent are sampled 60 times a base RTT (the RTT of the path with empty
queues), but at most once a millisecond. The queue stands from a sample on for a span of time where

* every sample of the span shows a backlog, and there are at least three of them: a shorter base RTT counts as two and a
  half intervals of the samples. A window below the bandwidth-delay product makes bursts that leave the queue empty
  between them within each RTT; one that fills the path no longer does;
* and the bytes sent over the span are at least 95 % of what the link allowed in it (the qdisc counts a frame with its
  Ethernet header, and so does the rate); a span of few frames may lack one. A queue that stands while the link sends
  nothing, or that emptied and refilled between two samples, does not count. Nor does a span in which the link allowed
  nothing (an outage).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from lab.tables.link_capacity import LinkCapacity

BUSY_SHARE = 0.95
SAMPLES_AT_LEAST = 3
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Queue:
    """The samples of a bottleneck's queue, oldest first, and its link."""

    t_s: Floats
    backlog_bytes: Floats
    sent_bytes: Floats
    link: LinkCapacity

    @classmethod
    def of(cls, qdisc: pl.DataFrame, link: LinkCapacity) -> "Queue":
        """Take the samples from the table `qdisc`."""
        t_s, backlog, sent = (
            qdisc[name].to_numpy().astype(np.float64) for name in ("t_s", "backlog_bytes", "sent_bytes")
        )
        return cls(t_s, backlog, sent, link)

    @cached_property
    def base_rtt_s(self) -> Floats:
        """The base RTT of a packet that arrives with each sample, and at least what the samples can show."""
        shown_s = (SAMPLES_AT_LEAST - 0.5) * np.median(np.diff(self.t_s)) if len(self.t_s) > 1 else 0.0
        return np.asarray(np.maximum(self.link.base_rtts_ms(self.t_s) / 1000, shown_s))

    def stands(self, span_s: Floats) -> Flags:
        """Return whether the queue stands from each sample on for the span given for it."""
        until_s = self.t_s + span_s
        last = np.searchsorted(self.t_s, until_s, side="right") - 1
        sent_until = self.link.sent_bytes(self.t_s)
        allowed = sent_until[last] - sent_until
        frame_bytes = self.link.frame_bytes
        few = (1 - BUSY_SHARE) * allowed < frame_bytes
        busy = self.sent_bytes[last] - self.sent_bytes >= np.where(few, allowed - frame_bytes, BUSY_SHARE * allowed)
        samples = last - np.arange(len(last)) + 1
        whole = (until_s <= self._filled_until_s) & (samples >= SAMPLES_AT_LEAST)
        return np.asarray(whole & busy & (allowed > 0))

    @cached_property
    def _filled_until_s(self) -> Floats:
        """The last of the samples with a backlog that follow each without a break; -inf where the queue is empty."""
        empty = np.flatnonzero(self.backlog_bytes <= 0)
        following = np.append(empty, len(self.t_s))[np.searchsorted(empty, np.arange(len(self.t_s)))]
        return np.where(self.backlog_bytes > 0, self.t_s[following - 1], -np.inf)


def first_s(t_s: Floats, flags: Flags) -> float | None:
    """Return the first time that is flagged."""
    found = np.flatnonzero(flags)
    return float(t_s[found[0]]) if found.size else None
