# SPDX-License-Identifier: GPL-2.0-or-later
"""What a QUIC client had of the stream with each datagram: how much without a gap, and how many pieces beyond it."""

import heapq

import numpy as np

from lab.tables.quic_log import ClientLog


class Received:
    """The stream at the client.

    `begin` and `length` are the new data of each datagram that it got. `had` and `pieces` are what it had when it sent
    each of its own: bytes without a gap, and received pieces behind the first gap.
    """

    def __init__(self, log: ClientLog) -> None:
        self.begin, self.length = log.got["offset"].to_numpy(), log.got["new_bytes"].to_numpy()
        had, pieces = _progress(self.begin.tolist(), self.length.tolist())
        before = log.sent["got_before"].to_numpy()
        self.had, self.pieces = np.array(had, dtype=np.int64)[before], np.array(pieces, dtype=np.int64)[before]


def _progress(begins: list[int], lengths: list[int]) -> tuple[list[int], list[int]]:
    """Return, before the first datagram and after each one, the bytes without a gap and the pieces beyond the gap."""
    whole, waiting = 0, list[tuple[int, int]]()
    had, pieces = [0], [0]
    for begin, length in zip(begins, lengths, strict=True):
        if length:
            heapq.heappush(waiting, (begin, begin + length))
        while waiting and waiting[0][0] <= whole:
            whole = max(whole, heapq.heappop(waiting)[1])
        had.append(whole)
        pieces.append(1 if waiting else 0)
    return had, pieces
