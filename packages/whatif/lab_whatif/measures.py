# SPDX-License-Identifier: GPL-2.0-or-later
"""What a download did, by the same rules for a capture and for an emulated trial. Times count from its first data."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lab_whatif.infer import Inferred
from lab_whatif.path import NOT_KNOWN, Path
from lab_whatif.refuse import BULK_BYTES

MARKS_MB = (1, 5, 20)
STEP_S = 0.1
FIRST_WINDOW = 10  # segments (RFC 6928)
IN_SLOW_START = 0.9  # of the first window and all that was acknowledged: what slow start has in flight
Seconds = NDArray[np.float64]


@dataclass(frozen=True)
class Measures:
    """A download in numbers; None where it did not come so far, or has none."""

    begin_s: float  # since its SYN
    length_s: float
    mark_s: dict[int, float | None]  # until so many MB had arrived
    end_bytes: int  # at length_s
    rtt_ms: Seconds  # in steps of STEP_S; NaN where nothing arrived
    arrived_bytes: Seconds  # until the end of each step
    first_loss_s: float | None
    losses: int
    exit_s: float | None  # as the bytes in flight show it
    most_queued_bytes: int


def measured(inferred: Inferred, most_s: float | None = None) -> Measures:
    """Measure a download, or its first `most_s` seconds."""
    path, down = inferred.path, inferred.path.down
    begin_s = bulk_begin_s(path)
    entered_s = float((down.arrival_s - down.wait_s).max())  # of the last packet: then the queue only drains
    length_s = min(entered_s - begin_s, most_s or np.inf)
    since_s = down.arrival_s - begin_s
    total = np.cumsum(down.end - down.seq)
    kept = since_s <= length_s
    marks = {mark: _reached_s(since_s[kept], total[kept], mark * 10**6) for mark in MARKS_MB}
    ends_s: Seconds = np.arange(1, max(int(length_s / STEP_S), 1) + 1, dtype=np.float64) * STEP_S
    arrived = np.concatenate([[0], total])[np.searchsorted(since_s, ends_s, side="right")]
    loss, left_s = inferred.buffer.first_loss_s, exit_s(inferred)
    return Measures(
        begin_s,
        length_s,
        marks,
        int(total[kept][-1]) if kept.any() else 0,
        _rtt_ms(path, begin_s, ends_s),
        arrived.astype(float),
        None if loss is None else loss - begin_s,
        int(inferred.buffer.lost_pkts[inferred.buffer.lost_s <= begin_s + length_s].sum()),
        None if left_s is None else left_s - begin_s,
        inferred.buffer.most_queued_bytes,
    )


def bulk_begin_s(path: Path) -> float:
    """Return when the bulk's first segment arrived: the last that was sent into an empty path among the first bytes."""
    sent = path.sent
    starts = np.flatnonzero((sent.end <= BULK_BYTES) & (sent.flight <= 0))
    end = int(sent.end[starts[-1] if len(starts) else 0])
    return float(path.down.arrival_s[np.flatnonzero(path.down.end >= end)[0]])


def _reached_s(since_s: Seconds, total: NDArray[np.int64], size_bytes: int) -> float | None:
    place = int(np.searchsorted(total, size_bytes))
    return float(since_s[place]) if place < len(total) else None


def _rtt_ms(path: Path, begin_s: float, ends_s: Seconds) -> Seconds:
    """Return the median round trip of each step: base, wait down, and wait up."""
    down = _medians(path.down.arrival_s - begin_s, path.down.wait_s, ends_s)
    up = _medians(path.up.depart_s - begin_s, path.up.most_s, ends_s)
    return np.asarray(path.base_rtt_ms + (down + up) * 1e3)


def _medians(t_s: Seconds, values: Seconds, ends_s: Seconds) -> Seconds:
    places = np.searchsorted(t_s, np.concatenate([[0.0], ends_s]))
    parts = [values[begin:end] for begin, end in pairwise(places)]
    return np.array([np.median(part) if len(part) else np.nan for part in parts])


def exit_s(inferred: Inferred) -> float | None:
    """Return when slow start ended: at the report of the first loss, or as the flight shows it before.

    In slow start the first window and all that was acknowledged is in flight; later it is less. The exit is when so
    much had been acknowledged that slow start explains the largest flight.
    """
    sent, mss_bytes = inferred.path.sent, inferred.mss_bytes
    if (sent.flight == NOT_KNOWN).all():
        return None
    reported_s = _loss_reported_s(inferred)
    before = sent.t_s < (reported_s or np.inf)
    window = FIRST_WINDOW * mss_bytes + sent.acked
    last = np.flatnonzero(before & (sent.flight + mss_bytes >= IN_SLOW_START * window))
    if not len(last) or last[-1] + 1 >= before.sum():
        return reported_s
    most = int(sent.flight[: last[-1] + 1].max()) + mss_bytes
    place = int(np.searchsorted(sent.acked, most - FIRST_WINDOW * mss_bytes))
    return float(sent.t_s[min(place, len(sent.t_s) - 1)])


def _loss_reported_s(inferred: Inferred) -> float | None:
    """Return when an ACK behind the first hole reached the sender."""
    lost_s, up = inferred.buffer.first_loss_s, inferred.path.up
    if lost_s is None:
        return None
    place = min(int(np.searchsorted(up.depart_s, lost_s)), len(up.depart_s) - 1)
    return lost_s + inferred.base_s / 2 + float(up.most_s[place])
