# SPDX-License-Identifier: GPL-2.0-or-later
"""Which segments have arrived, or came twice, as a sender's capture shows it: ACKs and SACK blocks (RFC 2018)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from lab_formats.reading.packets import TCP_BYTES
from numpy.typing import NDArray

from lab.tables.tcp_headers import SACK, options

Numbers = NDArray[np.int64]
MOST_BLOCKS = 4


@dataclass(frozen=True)
class Blocks:
    """SACK blocks per segment: rows of left and right edges from the SYN, -1 where there is none."""

    left: Numbers  # (segments, MOST_BLOCKS)
    right: Numbers

    @classmethod
    def none(cls, height: int) -> "Blocks":
        """Return no blocks."""
        empty = np.full((height, MOST_BLOCKS), -1, dtype=np.int64)
        return cls(empty, empty)

    def of(self, row: int) -> Iterator[tuple[int, int]]:
        """Yield a segment's blocks."""
        for left, right in zip(self.left[row], self.right[row], strict=True):
            if left < 0:
                return
            yield int(left), int(right)

    def twice(self, row: int, ack: int) -> tuple[int, int] | None:
        """Return what a segment reports to have come twice: below its ACK, or in its second block (RFC 2883)."""
        (left, right), (outer_left, outer_right) = zip(self.left[row, :2], self.right[row, :2], strict=True)
        is_twice = left >= 0 and (right <= ack or outer_left <= left < right <= outer_right)
        return (int(left), int(right)) if is_twice else None


def blocks_of(headers: list[bytes], data: NDArray[np.bool_], counts: Numbers, isn: int) -> Blocks:
    """Decode the blocks of the receiver's segments; edges count from the data's initial sequence number.

    An edge is taken to be within 2^31 of that number, or of the last edge: downloads above 2 GB wrap.
    """
    left, right = (np.full((len(headers), MOST_BLOCKS), -1, dtype=np.int64) for _ in range(2))
    near = isn
    for row in np.flatnonzero((counts > 0) & ~data):
        for place, (begin, end) in enumerate(_edges(headers[row][TCP_BYTES:])):
            near += (begin - near + 2**31) % 2**32 - 2**31
            left[row, place], right[row, place] = near - isn, near - isn + (end - begin) % 2**32
    return Blocks(left, right)


def _edges(header: bytes) -> Iterator[tuple[int, int]]:
    for kind, body in options(header):
        if kind == SACK:
            for place in range(0, len(body) - 7, 8):
                yield int.from_bytes(body[place : place + 4]), int.from_bytes(body[place + 4 : place + 8])
