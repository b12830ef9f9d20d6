# SPDX-License-Identifier: GPL-2.0-or-later
"""What a QUIC client had of the stream with each datagram: how much without a gap, and whether there is more behind."""

import heapq

import numpy as np
from numpy.typing import NDArray

from lab_quic.log import ClientLog

Numbers = NDArray[np.int64]


class Received:
    """The stream at the client.

    Of each datagram that it got: `length` counts the new bytes, `begin` is where the first of them stands. `had` and
    `pieces` are what it had when it sent each of its own: bytes without a gap, and 1 where it had more behind a gap.
    """

    def __init__(self, log: ClientLog) -> None:
        number = log.pieces["got_before"].to_numpy() - 1
        offset, new = log.pieces["offset"].to_numpy(), log.pieces["new_bytes"].to_numpy()
        self.length = _sums(number, new, log.got.height)
        self.begin: Numbers = np.zeros(log.got.height, dtype=np.int64)
        self.begin[number[::-1]] = offset[::-1]  # the first one stays
        had, more = _progress(offset.tolist(), (offset + new).tolist())
        pieces_before = np.concatenate([[0], np.searchsorted(number, np.arange(log.got.height), side="right")])
        at = pieces_before[log.sent["got_before"].to_numpy()]
        self.had, self.pieces = np.array(had, dtype=np.int64)[at], np.array(more, dtype=np.int64)[at]


def _sums(places: Numbers, values: Numbers, count: int) -> Numbers:
    found: Numbers = np.zeros(count, dtype=np.int64)
    np.add.at(found, places, values)
    return found


def _progress(begins: list[int], ends: list[int]) -> tuple[list[int], list[int]]:
    """Return, before the first piece and after each one, the bytes without a gap, and 1 where there is more behind."""
    whole, waiting = 0, list[tuple[int, int]]()
    had, more = [0], [0]
    for piece in zip(begins, ends, strict=True):
        heapq.heappush(waiting, piece)
        while waiting and waiting[0][0] <= whole:
            whole = max(whole, heapq.heappop(waiting)[1])
        had.append(whole)
        more.append(1 if waiting else 0)
    return had, more
