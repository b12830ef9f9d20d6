# SPDX-License-Identifier: GPL-2.0-or-later
"""What a link itself lost behind the bottleneck: it left the queue, and has not come by when it must have.

A delay line never lets a frame pass another one. So what left by a time has come once the delay of the last of it is
over, and on a link that delivers in frames (lab/kernel/qdisc/sch_delay_line.c) with the first delivery from then on
that is not full. What left until the latest time of which this holds is at least what the queue had sent at its sample,
and what it sends of its backlog from then on at the link's rate. The rest is lost: so much at least, and never more.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab.node.plan import Shape
from lab.tables.link_capacity import LinkCapacity

SLACK_S = 20e-6  # netem sends at 10 Gb/s, and a delivery of many packets takes a moment
ROUNDING = 0.05  # of a frame: timers of the kernel are half a microsecond apart
Values = NDArray[np.float64]


def lost_bytes(
    shapes: Iterable[Shape], link: pl.DataFrame, qdisc: pl.DataFrame, packets: pl.DataFrame, frame_bytes: int
) -> Values:
    """Return what the downlink lost by each sample of the queue, in whole frames; `packets` are all of the client's."""
    t_s = qdisc["t_s"].to_numpy()
    down = packets.filter(pl.col("to_client"))
    at_s = down["t_s"].to_numpy()
    if not (link.filter(quantity="down.loss_pct")["value"] > 0).any() or not len(t_s) or not len(at_s):
        return np.zeros(len(t_s))
    crossing = Crossing.of(shapes, link)
    due_s = crossing.due_by(t_s)
    by_s = crossing.delivered_by(due_s, at_s)
    until_s = t_s + by_s - due_s
    until_s = np.where(crossing.due_by(until_s) <= by_s + SLACK_S, until_s, t_s)
    left = qdisc["sent_bytes"].to_numpy()
    if (link["quantity"] == "down.rate_mbps").any():
        left = _sent_by(LinkCapacity(link), qdisc, until_s, frame_bytes)
    arrived = np.concatenate(([0], np.cumsum(down["frame_bytes"].to_numpy())))
    missing = left - qdisc["sent_bytes"][0] - arrived[np.searchsorted(at_s, by_s + SLACK_S, side="right")]
    known = np.zeros(len(t_s))
    sure = by_s + SLACK_S <= at_s[-1]
    np.maximum.at(known, np.searchsorted(t_s, until_s[sure], side="right") - 1, missing[sure])
    return np.maximum.accumulate(np.ceil(known / frame_bytes - ROUNDING)) * frame_bytes


@dataclass(frozen=True)
class Crossing:
    """How a delay line delivers: from when on which delay holds, at most once in which time, and how much at once."""

    from_s: Values
    delay_s: Values
    period_s: float = 0.0
    most_pkts: float = np.inf

    @classmethod
    def of(cls, shapes: Iterable[Shape], link: pl.DataFrame) -> "Crossing":
        """Return that of a trial's downlink."""
        spec = next(shape["spec"] for shape in shapes if shape["part"] == "delay-down")
        steps = link.filter(quantity="down.delay_ms")
        period_s, most_pkts = spec.get("frame_us", 0) / 1e6, spec.get("frame_pkts") or np.inf
        return cls(steps["t_s"].to_numpy(), steps["value"].to_numpy() / 1e3, period_s, most_pkts)

    def due_by(self, t_s: Values) -> Values:
        """Return by when what left until a time is due: where the delay falls, what comes after waits."""
        held = np.maximum(np.searchsorted(self.from_s, t_s, side="right") - 1, 0)
        ends_s = np.append(self.from_s[1:], np.inf) + self.delay_s
        earlier_s = np.append(-np.inf, np.maximum.accumulate(ends_s))[held]
        return np.asarray(np.maximum(t_s + self.delay_s[held], earlier_s))

    def delivered_by(self, due_s: Values, at_s: Values) -> Values:
        """Return when all that is due at a time has come; what comes through an idle line comes at once."""
        if not self.period_s:
            return due_s
        begins = np.flatnonzero(np.diff(at_s, prepend=-np.inf) > self.period_s / 2)
        whole = np.diff(begins, append=len(at_s)) < self.most_pkts
        begins_s, whole_s = np.append(at_s[begins], np.inf), np.append(at_s[begins][whole], np.inf)
        waits = begins_s[np.searchsorted(begins_s, due_s - SLACK_S)] <= due_s + self.period_s
        return np.where(waits, whole_s[np.searchsorted(whole_s, due_s - SLACK_S)], due_s)


def _sent_by(link: LinkCapacity, qdisc: pl.DataFrame, until_s: Values, frame_bytes: int) -> Values:
    """Return what the queue sent at least until a time of each sample: while it does not empty, at the link's rate."""
    t_s, drops, left = (qdisc[name].to_numpy() for name in ("t_s", "drops_pkts", "sent_bytes"))
    by = np.searchsorted(t_s, until_s).clip(max=len(t_s) - 1)
    waits = qdisc["backlog_bytes"].to_numpy() - (drops[by] - drops) * frame_bytes
    could = link.sent_bytes(t_s)
    empties = np.append(True, waits[:-1] < np.diff(could) + frame_bytes)  # one is on its way already
    busy = pl.DataFrame({"ahead": left - could, "period": np.cumsum(empties)})
    ahead = busy.select(pl.col("ahead").cum_max().over("period"))["ahead"].to_numpy()
    at_rate = link.sent_bytes(np.where(np.isfinite(until_s), until_s, t_s)) + ahead - frame_bytes
    return np.asarray(np.maximum(left, np.minimum(left + waits, at_rate)))
