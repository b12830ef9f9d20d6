# SPDX-License-Identifier: GPL-2.0-or-later
"""When each segment reached the receiver, as a sender's capture shows it: by ACKs and SACK blocks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab_whatif.segments import Segments

Seconds = NDArray[np.float64]
Numbers = NDArray[np.int64]
BOTH = 2  # copies: of more it is not known which came
ROUND_SHARE = 0.9  # of the shortest round trip until then: an answer after less is that of the first copy


@dataclass(frozen=True)
class Arrivals:
    """Segments that arrived: their row, when they were sent, and when they arrived on the receiver's clock."""

    row: Numbers
    sent_s: Seconds
    arrival_s: Seconds
    once: NDArray[np.bool_]  # which were sent once: of others it is not known for sure which copy arrived
    shortest_round_s: float  # from a segment's sending to what reported it, both of the capture's clock
    taken_back: int  # ACKs that end within a block that was reported: the receiver has discarded it (RFC 2018)


def arrivals_of(segments: Segments, back: Numbers, far_s: Seconds) -> Arrivals:
    """Follow the scoreboard from the first ACK to the last; a segment that was sent again counts as it was answered."""
    board = _Board(segments)
    stamp_s = dict(zip(back.tolist(), far_s.tolist(), strict=True))
    data, length = segments.data.tolist(), segments.length.tolist()
    for row in range(len(data)):
        if data[row]:
            if length[row]:
                board.send(row)
        elif row in stamp_s:
            board.acknowledge(row, stamp_s[row])
    return board.result()


def _first_copies(segments: Segments) -> Numbers:
    """Return the rows of what was sent for the first time, in the order of its bytes: the capture's may be another."""
    rows = np.flatnonzero(segments.data & (segments.length > 0))
    begin, end = segments.seq[rows], (segments.seq + segments.length)[rows]
    edges = np.unique(np.concatenate([begin, end]))
    first, last = np.searchsorted(edges, begin), np.searchsorted(edges, end)
    sent_by = np.zeros(len(edges), dtype=np.int64)  # the first row that holds what lies behind an edge
    for row in range(len(rows) - 1, -1, -1):
        sent_by[first[row] : last[row]] = row
    kept = np.flatnonzero(sent_by[first] == np.arange(len(rows)))
    return rows[kept[np.argsort(begin[kept], kind="stable")]]


class _Board:
    def __init__(self, segments: Segments) -> None:
        self.segments = segments
        self.row = _first_copies(segments)
        self.is_first = np.zeros(len(segments.seq), dtype=np.bool_)
        self.is_first[self.row] = True
        self.seq = segments.seq[self.row]
        self.end = np.minimum(self.seq + segments.length[self.row], np.append(self.seq[1:], np.iinfo(np.int64).max))
        self.sent_row = self.row.copy()
        self.arrival_s = np.full(len(self.row), np.nan)
        self.once = np.ones(len(self.row), dtype=np.bool_)
        self.copies = np.ones(len(self.row), dtype=np.int64)
        self.cumulative = 0
        self.known: dict[int, int] = {}  # last right edge of each SACK block above it, by its left edge
        self.taken_back = 0
        self.shortest_s = np.inf

    def send(self, row: int) -> None:
        if self.is_first[row]:
            return
        begin, end = int(self.segments.seq[row]), int(self.segments.seq[row] + self.segments.length[row])
        places = slice(int(np.searchsorted(self.seq, begin)), int(np.searchsorted(self.seq, end)))
        missing = np.isnan(self.arrival_s[places])
        self.once[places] &= ~missing
        self.copies[places] += 1
        self.sent_row[places] = np.where(missing, row, self.sent_row[places])

    def acknowledge(self, row: int, stamp_s: float) -> None:
        ack = int(self.segments.ack[row])
        if ack > self.cumulative:
            self._arrived(self.cumulative, ack, row, stamp_s)
            self.cumulative = ack
            self.known = {left: right for left, right in self.known.items() if right > ack}
            self.taken_back += any(left <= ack for left in self.known)
        if twice := self.segments.sack.twice(row, ack):
            self._both_arrived(*twice)
        for left, right in self.segments.sack.of(row):
            seen = self.known.get(left, left)
            if right > max(seen, self.cumulative):
                self._arrived(max(seen, self.cumulative), right, row, stamp_s)
                self.known[left] = right

    def _both_arrived(self, begin: int, end: int) -> None:
        """Take what was sent twice, and came twice, for late: its first copy was not lost."""
        first, last = int(np.searchsorted(self.seq, begin)), int(np.searchsorted(self.end, end, side="right"))
        late = np.flatnonzero(self.copies[first:last] == BOTH) + first
        self.sent_row[late] = self.row[late]

    def _arrived(self, begin: int, end: int, row: int, stamp_s: float) -> None:
        first, last = int(np.searchsorted(self.seq, begin)), int(np.searchsorted(self.end, end, side="right"))
        part = self.arrival_s[first:last]
        new = np.isnan(part)
        part[new] = stamp_s
        sent = self.sent_row[first:last]
        round_s = self.shortest_s if self.shortest_s < np.inf else 0.0
        again = self.segments.t_s[row] - self.segments.t_s[sent] < ROUND_SHARE * round_s
        if (fresh := new & (sent == self.row[first:last])).any():
            last_s = self.segments.t_s[sent[fresh][-1]]
            self.shortest_s = min(self.shortest_s, float(self.segments.t_s[row] - last_s))
        self.sent_row[first:last] = np.where(new & again, self.row[first:last], sent)

    def result(self) -> Arrivals:
        """Return what arrived in the order in which it was sent: so it stands among what one ACK reports."""
        seen = np.flatnonzero(~np.isnan(self.arrival_s))
        seen = seen[np.argsort(self.sent_row[seen], kind="stable")]
        sent_s = self.segments.t_s[self.sent_row[seen]]
        return Arrivals(self.row[seen], sent_s, self.arrival_s[seen], self.once[seen], self.shortest_s, self.taken_back)
