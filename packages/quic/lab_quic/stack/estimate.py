# SPDX-License-Identifier: GPL-2.0-or-later
"""The exit from slow start as packets show it, for a stack that does not report it.

The lab knows what the server sent: the bottleneck's samples count what left it, what waits and what it dropped. What
the client had got is in the capture, and the server knows it one delay of the return path later. The difference is in
flight. In slow start it doubles with each flight that is acknowledged. The exit is estimated in the first round in
which it grows by less than an eighth: where the flight of that round first comes within an eighth of its peak. A sender
that a loss ends is so found where it was before the cut, one that slows down where it began to.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

GROWTH, NEAR = 1.125, 1 / 1.125
LEAST_BYTES = 6000  # in flight: below it a single packet is much
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """When a sender left slow start, and what was in flight."""

    t_s: float
    flight_bytes: float


def exit_of(qdisc: pl.DataFrame, packets: pl.DataFrame, up_delay_s: float, full_bytes: int) -> Estimate | None:
    """Return the estimate; None where the flight grew until the end. `full_bytes`: of a frame that is dropped."""
    t_s, sent, acked = _counted(qdisc, packets, up_delay_s, full_bytes)
    flight = sent - acked
    for begin in np.flatnonzero(flight >= LEAST_BYTES):
        end = int(np.searchsorted(acked, acked[begin] + flight[begin]))
        if end >= len(t_s):
            return None
        if flight[end] < GROWTH * flight[begin]:
            of_round = flight[begin : end + 1]
            at = begin + int(np.argmax(of_round >= NEAR * of_round.max()))
            return Estimate(float(t_s[at]), float(flight[at]))
    return None


def _counted(
    qdisc: pl.DataFrame, packets: pl.DataFrame, up_delay_s: float, full_bytes: int
) -> tuple[Values, Values, Values]:
    """Return, at each sample of the queue, its time and the bytes that were sent and acknowledged by then.

    A dropped frame counts as acknowledged when it is dropped: the sender will not wait for it.
    """
    t_s = qdisc["t_s"].to_numpy()
    dropped = qdisc["drops_pkts"].to_numpy() * full_bytes
    begin = qdisc["sent_bytes"][0] if qdisc.height else 0
    sent = (qdisc["sent_bytes"] + qdisc["backlog_bytes"]).to_numpy() - begin + dropped
    down = packets.filter(pl.col("to_client"))
    arrived = np.concatenate(([0], np.cumsum(down["frame_bytes"].to_numpy())))
    known = arrived[np.searchsorted(down["t_s"].to_numpy(), t_s - up_delay_s, side="right")]
    return t_s, sent.astype(np.float64), (known + dropped).astype(np.float64)
