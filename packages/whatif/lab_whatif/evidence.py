# SPDX-License-Identifier: GPL-2.0-or-later
"""Each inferred number with its bounds and the reason for them."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lab_whatif.infer import Inferred
from lab_whatif.queue import LEAST_DROPS, Buffer

CHANCE = 0.05  # that more packets than stated get in above a threshold before the first is lost


class Item(NamedTuple):
    """One number; None where it is not known on that side."""

    name: str
    value: float | str | None
    unit: str
    low: float | None
    high: float | None
    reason: str


def items(inferred: Inferred) -> list[Item]:
    """Return all numbers."""
    return [*_times(inferred), *_capacity(inferred), *_buffer(inferred)]


def _times(inferred: Inferred) -> Iterator[Item]:
    path = inferred.path
    base_ms, step_ms = path.base_rtt_ms, path.step_ms
    why = f"shortest way down plus shortest way up, each by the time stamps, whose step is {step_ms:g} ms; too long by "
    why = "the shortest round trip of the log; too long by " if path.counted else why
    least = "what every packet waited"
    least += "; too short by the way to the near end, which did not answer at once" if inferred.near_ms else ""
    least += "; too short by as much as the ends' clocks ran apart" if inferred.apart_ms else ""
    least += "; too short by as much as the capture's clock was set" if inferred.set_ms else ""
    set_ms = inferred.set_ms + step_ms if inferred.set_ms else 0.0
    most_ms = base_ms + step_ms + inferred.near_ms + inferred.apart_ms + set_ms
    least_ms = round(inferred.handshake_ms, 2) if inferred.is_long else None
    yield Item("base_rtt", round(base_ms, 2), "ms", least_ms, round(most_ms, 2), why + least)
    yield Item("jitter_down", round(inferred.jitter_ms, 2), "ms", 0, None, "90th percentile of waits without a queue")
    least_ms, most_ms = (float(np.percentile(each, 95)) * 1e3 for each in (path.up.least_s, path.up.most_s))
    why = "an ACK arrived between two segments: the last that echoes an older one and the first that echoes it"
    why = "assumed: a log does not separate the two ways" if path.counted else why
    yield Item("ack_wait_p95", round(most_ms, 1), "ms", round(least_ms, 1), round(most_ms, 1), why)


def _capacity(inferred: Inferred) -> Iterator[Item]:
    table = inferred.capacity
    known = table.filter("known")
    share = 100 * known.height / table.height
    why = "bytes over time where a packet entered before the one in front had left; elsewhere what passed is the least"
    median = float(known["rate_mbps"].median() or 0)  # type: ignore[arg-type]
    low, high = (float(np.percentile(known["rate_mbps"], each)) for each in (10, 90))
    percentiles = "10th to 90th percentile of steps"
    if inferred.is_rough:
        low, high = low / (1 + inferred.rough_share), high / (1 - inferred.rough_share)
        percentiles += f"; wider by {inferred.late_ms:.1f} ms, by which each backlog may be shorter or longer"
    yield Item("capacity_known", round(share, 1), "% of 100 ms steps", None, None, why)
    yield Item("capacity_median", round(median, 3), "Mb/s", round(low, 3), round(high, 3), percentiles)


def _buffer(inferred: Inferred) -> Iterator[Item]:
    found, rate = inferred.buffer, float(inferred.capacity["rate_mbps"].max() or 0)  # type: ignore[arg-type]
    step_bytes, jitter_bytes = (
        round(rate * 1e3 / 8 * each_ms) for each_ms in (inferred.path.step_ms, inferred.jitter_ms)
    )
    reasons = {
        "tail": "no packet was accepted with a larger queue than the first lost one would have found",
        "threshold": "packets were accepted with more than 1.1 times the queue of the first loss: its end was not seen",
        "at least": "nothing was lost for lack of room, or not that alone: larger than the largest queue",
    }
    if inferred.path.counted:
        reasons["at least"] = "a log counts losses and does not place them: larger than the largest queue, or not"
    if not found.is_placed:
        reasons["at least"] = "ACKs or packets that are late, or an AQM, do not place losses: larger, or not"
    frame_bytes = int(inferred.path.down.frame_bytes.max())
    margin_bytes = step_bytes + found.hidden_bytes
    # one packet is on its way, and may count or not; what was lost needed less than one more
    high = found.bytes + 2 * frame_bytes + margin_bytes if found.kind == "tail" else None
    below_pkts = _below_pkts(found)
    low = None if below_pkts is None else max(found.bytes - margin_bytes - jitter_bytes - below_pkts * frame_bytes, 0)
    yield Item("buffer_kind", found.kind, "", None, None, reasons[found.kind])
    name = "drop_threshold" if found.kind == "threshold" else "buffer"
    why = f"what left during the wait of packets next to a loss; one step of the time stamps is {step_bytes} bytes"
    why += f", a packet {frame_bytes}"
    why += f", what leaves while a packet is late by itself {jitter_bytes}" if jitter_bytes else ""
    why += f", what one ACK shows together {found.hidden_bytes}" if found.hidden_bytes else ""
    yield Item(name, found.bytes, "bytes", low, high, why)
    yield Item("largest_queue", found.most_queued_bytes, "bytes", None, None, "beyond it nothing is known of losses")
    if found.kind == "threshold":
        why = f"share lost above the threshold; stated from {LEAST_DROPS} losses on"
        yield Item("drop", found.drop_pct, "%", None, None, why)
    least_pct, most_pct = (None if each is None else round(each, 4) for each in found.random_bounds_pct)
    yield Item(
        "random_loss",
        round(found.random_loss_pct, 4) if found.is_placed else None,
        "%",
        least_pct,
        most_pct,
        "lost where no full queue explains it: at random, or by a queue that manages itself (AQM); Wilson's 95 %, from "
        "only those far below the largest queue to all of them",
    )


def _below_pkts(found: Buffer) -> int | None:
    """Return by how many packets what is stated may be too much: above a threshold some get in before one is lost."""
    if found.kind != "threshold":
        return int(found.kind == "tail")
    return math.ceil(math.log(CHANCE) / math.log1p(-found.drop_pct / 100)) if found.drop_pct else None
