# SPDX-License-Identifier: GPL-2.0-or-later
"""First loss: the third duplicate ACK in the client's capture (thesis, sections 5.2.1 and 5.3.2).

A duplicate ACK is defined by RFC 5681, section 2: no payload, neither SYN, FIN nor RST, the acknowledgment number of
the ACK before it, and the same advertised window. With SACK the window may differ when the ACK carries SACK blocks (RFC
6675, section 2): it reports data above a hole. So a window update, which is a repeated number with another window and
no SACK block, does not count, and does not restart the count either.

A client that holds nothing behind the acknowledged byte repeats itself for copies of what it has (D-SACK): its sender
retransmitted needlessly, as after a timeout on a link that stood still. Nothing was lost.

What only came late, as behind a queue that holds packets back, was not lost either: the segment that fills the hole
has a time stamp (TSval) no later than the first one behind it, which a retransmission, a round trip later, has not.

An emulator can check the answer: a first loss at the client has a first drop at the bottleneck behind it. What was
before the dropped frame waits for the queue to drain, and crosses to the client, which takes less than a base RTT. What
is behind it may come a round later, where the end of a window was dropped. A drop that late before the trial's end may
stay unseen, and so may one that a sender has made good by sending again: its own with fewer than three segments behind
it, or another download's. Of a user's stack the client's gaps are not in the capture.

First mark: the client's first ACK that echoes congestion (ECE, RFC 3168, section 6.1.3). Where the ends negotiated
ECN, a queue that manages itself marks instead of dropping: the same signal, which reaches the sender half an RTT later,
as a third duplicate ACK does. On a SYN the flag negotiates, and is no mark.
"""

from collections.abc import Callable
from functools import cache, partial

import numpy as np
import polars as pl

from lab.judge.rtt import min_rtt_ms
from lab.tables.downloads import requested_s
from lab.tables.packets import SYN

FIN, RST, ECE = 0x01, 0x04, 0x40  # RFC 9293, section 3.1
DUPLICATES = 3
# Three more segments must arrive, and an ACK may wait for the delayed-ACK timer (40 ms).
SLACK_S = 0.1
TELLING_MS = 2.0  # a shorter round trip is within two ticks of the time stamps
NEAR_PKTS = 1024  # in which what fills a hole is looked for at a time


def first_loss_s(packets: pl.DataFrame, flow: int = 1) -> float | None:
    """Time at which the client sent its third duplicate ACK; null when it never did."""
    of_flow = packets.lazy().filter(pl.col("flow") == flow).with_columns(reached=_reached())
    acks = of_flow.filter(~pl.col("to_client") & ((pl.col("flags") & (SYN | FIN | RST)) == 0))
    duplicates = acks.select("t_s", "ack_bytes", duplicate=_duplicate()).filter("duplicate")
    counted = duplicates.with_columns(count=pl.int_range(1, pl.len() + 1).over("ack_bytes"))
    third = counted.filter(pl.col("count") == DUPLICATES).select("t_s", "ack_bytes").collect()
    came_late = cache(partial(_came_late, packets, flow))
    return next((t_s for t_s, ack_bytes in third.iter_rows() if not came_late()(ack_bytes)), None)


def first_mark_s(packets: pl.DataFrame, flow: int = 1) -> float | None:
    """Time at which the client first echoed a mark; null when it never did."""
    echoed = pl.col("flags") & (SYN | ECE) == ECE
    found = packets.lazy().filter((pl.col("flow") == flow) & ~pl.col("to_client") & echoed).head(1).collect()
    return None if found.is_empty() else float(found.item(0, "t_s"))


def first_hole_s(packets: pl.DataFrame, flow: int = 1) -> tuple[float, float] | None:
    """Return when the last segment before the first hole arrived, and when the third one that does not fill it did.

    With that one the client's third duplicate ACK is due: as long as data lie behind a hole, each that does not fill it
    is answered by one. A hole of what only came late does not count.
    """
    data, came_late = _data(packets, flow), _came_late(packets, flow)
    first, length = (data[name].cast(pl.Int64).to_numpy() for name in ("seq_bytes", "len_bytes"))
    order, end, arrivals = np.argsort(first, kind="stable"), first + length, np.arange(len(first))
    upto = np.append(1, np.maximum.accumulate(end[order]))  # in the order of the stream, which begins at 1
    never = np.flatnonzero(first[order] > upto[:-1])
    adds = np.flatnonzero(np.diff(upto)[: never[0] if never.size else None])  # a copy adds nothing
    whole = np.searchsorted(np.maximum.accumulate(order[adds]), arrivals, side="right")
    had = np.append(1, upto[1:][adds])[whole]  # up to which byte the client has all, after each arrival
    moved = np.diff(had, prepend=1) > 0
    waits = ~moved & (np.maximum.accumulate(end) > had)
    began, count = np.maximum.accumulate(np.where(moved, arrivals, 0)), np.cumsum(waits)
    third = np.flatnonzero(waits & (count - (count - waits)[began] == DUPLICATES)).tolist()
    at = next((at for at in third if not came_late(int(had[at]))), None)
    return None if at is None else (float(data.item(int(began[at]), "t_s")), float(data.item(at, "t_s")))


def drops_s(packets: pl.DataFrame, qdisc: pl.DataFrame, flow: int = 1) -> pl.Series:
    """Return the samples that show drops since the client requested its data: before, no segment was dropped."""
    grown = pl.col("drops_pkts").diff().fill_null(pl.col("drops_pkts")) > 0
    return qdisc.filter(grown).filter(pl.col("t_s") >= requested_s(packets, flow))["t_s"]


def agrees_with_drops(
    loss_s: float | None,
    drops: pl.Series,
    seen_by: Callable[[float], float],
    end_s: float,
    hole_s: tuple[float, float] | None = None,
    *,
    made_good: bool = False,
) -> bool:
    """Return whether the first loss follows a drop as it must; `seen_by`: when what was queued at a drop has arrived.

    hole_s: the client's first hole; made_good: whether the first drop may have shown in another way than by this loss.
    """
    if drops.is_empty():
        return loss_s is None
    first_s = float(drops[0])
    if loss_s is None:
        return end_s < seen_by(first_s) + SLACK_S or (hole_s is None and made_good)
    # The sample that first shows a drop can be one sampling interval after it.
    before = drops.filter(drops - SLACK_S <= loss_s)
    ahead_s, due_s = hole_s or (loss_s, loss_s)
    latest_s = seen_by(float(before[-1]) if made_good and len(before) else first_s) + SLACK_S
    return len(before) > 0 and ahead_s <= latest_s and loss_s <= due_s + SLACK_S


def _data(packets: pl.DataFrame, flow: int) -> pl.DataFrame:
    return packets.filter((pl.col("flow") == flow) & pl.col("to_client") & (pl.col("len_bytes") > 0))


def _came_late(packets: pl.DataFrame, flow: int) -> Callable[[int], bool]:
    """Return a function that tells whether what the client lacked behind a byte came late, and was not sent again."""
    data = _data(packets, flow)
    first, length, stamp = (
        data[name].cast(pl.Int64).fill_null(-1).to_numpy() for name in ("seq_bytes", "len_bytes", "tsval")
    )
    end = first + length
    reached = np.maximum.accumulate(end) if len(end) else end
    shortest_ms = cache(lambda: min_rtt_ms(packets, flow) or 0.0)

    def came_late(ack_bytes: int) -> bool:
        behind = int(np.searchsorted(reached, ack_bytes, side="right"))  # its first that arrived
        for begin in range(behind + 1, len(first), NEAR_PKTS):
            near = slice(begin, begin + NEAR_PKTS)
            filling = np.flatnonzero((first[near] <= ack_bytes) & (end[near] > ack_bytes))
            if filling.size:
                one, other = int(stamp[behind]), int(stamp[begin + filling[0]])
                is_later = (one - other) % 2**32 >= 2**31  # of numbers that wrap
                return min(one, other) >= 0 and not is_later and shortest_ms() >= TELLING_MS
        return False

    return came_late


def _reached() -> pl.Expr:
    """Return up to which byte data had come to the client by each packet; null before any."""
    end = pl.col("seq_bytes").cast(pl.Int64) + pl.col("len_bytes").cast(pl.Int64)
    return pl.when(pl.col("to_client") & (pl.col("len_bytes") > 0)).then(end).cum_max().forward_fill()


def _duplicate() -> pl.Expr:
    same_number = pl.col("ack_bytes") == pl.col("ack_bytes").shift(1)
    same_window = pl.col("window_bytes") == pl.col("window_bytes").shift(1)
    selective = pl.col("sack_edges").fill_null(0) > 0
    behind = (pl.col("reached") > pl.col("ack_bytes")).fill_null(True)
    return ((pl.col("len_bytes") == 0) & same_number & (same_window | selective) & behind).fill_null(False)
