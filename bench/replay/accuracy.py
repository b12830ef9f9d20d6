# SPDX-License-Identifier: GPL-2.0-or-later
"""How far a replayed link was from its series: pure functions of the requested series and of when packets came.

All times count from the series' start.
"""

import numpy as np
import numpy.typing as npt
import polars as pl

from lab.links.steps import Row
from lab.tables.link_capacity import LinkCapacity

WINDOW_S = 0.1
FRAME_BYTES = 1514
RATE, OPPORTUNITIES = "down.rate_mbps", "down.opportunity_bytes"
Floats = npt.NDArray[np.float64]


def series(rows: list[Row], quantity: str) -> LinkCapacity:
    """Make a link of a series of Mb/s (RATE) or of bytes that may pass (OPPORTUNITIES)."""
    t_s, values = zip(*rows, strict=True)
    return LinkCapacity(pl.DataFrame({"quantity": quantity, "t_s": t_s, "value": values}))


def on_grid(rows: list[Row], step_s: float, duration_s: float) -> list[Row]:
    """Restate a series at every step of a grid: the value in force there."""
    times, values = (np.array(column) for column in zip(*rows, strict=True))
    grid_s = np.arange(round(duration_s / step_s)) * step_s
    held = values[np.maximum(np.searchsorted(times, grid_s + 1e-9, side="right") - 1, 0)]
    return list(zip(grid_s.tolist(), held.tolist(), strict=True))


def ahead(link: LinkCapacity, duration_s: float, lead_s: float, tick_s: float) -> npt.NDArray[np.uint64]:
    """List full frames that keep a link's queue filled, one more than it can carry: rows of (ns, bytes).

    Each is sent a lead before the link could begin with it, at a tick: a frame that a stall interrupts had begun.
    """
    ticks_s = np.arange(0.0, duration_s, tick_s)
    due = np.floor(link.sent_bytes(ticks_s + lead_s) / FRAME_BYTES).astype(np.int64) + 1
    counts = np.diff(due, prepend=0)
    times_ns = np.repeat((ticks_s * 1e9).round().astype(np.uint64), counts)
    return np.column_stack([times_ns, np.full_like(times_ns, FRAME_BYTES)])


def window_errors_pct(link: LinkCapacity, received_s: Floats, frame_bytes: Floats, duration_s: float) -> Floats:
    """Compare the bytes that came in each window with the series', over a link that always had a queue.

    Each window reaches from the end of one packet to the end of another, the last before its two edges: what was
    carried between them is then known to the byte, however few packets a window holds. The error is in per cent of
    what the series lets pass in the window, at least a frame.
    """
    edges_s = np.arange(WINDOW_S, duration_s + 1e-9, WINDOW_S)
    last = np.searchsorted(received_s, edges_s, side="right") - 1
    known = last >= 0
    edges_s, last = edges_s[known], last[known]
    excess = np.cumsum(frame_bytes)[last] - link.sent_bytes(received_s[last])
    requested = np.diff(link.sent_bytes(edges_s))
    return np.asarray(100 * np.abs(np.diff(excess)) / np.maximum(requested, FRAME_BYTES))


def delay_errors_ms(rows: list[Row], sent_s: Floats, received_s: Floats) -> Floats:
    """Compare one-way delays, in the order of sending, with a series in ms: a packet never comes before another."""
    times, values = (np.array(column) for column in zip(*rows, strict=True))
    delay_s = values[np.maximum(np.searchsorted(times, sent_s, side="right") - 1, 0)] / 1e3
    return np.asarray(1e3 * np.abs(received_s - np.maximum.accumulate(sent_s + delay_s)))
