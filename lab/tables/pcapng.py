# SPDX-License-Identifier: GPL-2.0-or-later
"""A dumpcap file as arrays: when each frame was captured, how long it was, and its first bytes.

Columnar, because tshark takes longer to dissect a 30 s download than all the rest of its trial takes: some fifty times
what this does (`make bench` prints the ratio). The tests hold every field of every frame against tshark's own.
Format: draft-ietf-opsawg-pcapng.
"""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lab.base.errors import UserError
from lab.tables.raw import gather

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
BYTE_ORDER = 0x1A2B3C4D
ETHERNET = 1
TSRESOL = 9  # option if_tsresol
ROWS = 8192  # handled at a time
PIECE_BYTES = 1 << 21  # of the file, read at a time: a block is shorter
PACKET_HEAD = 28  # bytes of an enhanced packet block before its data


@dataclass(frozen=True)
class Frames:
    """Captured frames, in the order of the file."""

    time_ns: NDArray[np.int64]  # since the epoch
    wire_bytes: NDArray[np.uint32]
    captured_bytes: NDArray[np.uint32]
    head: NDArray[np.uint8]  # (frames, snaplen): what was captured, zeros after it


def joined(pieces: Iterable[Frames]) -> Frames:
    """Lay pieces of a capture end to end."""
    first, *more = pieces
    names = (each.name for each in fields(Frames))
    return (
        Frames(*(np.concatenate([getattr(each, name) for each in (first, *more)]) for name in names)) if more else first
    )


def read_pcapng(file: Path, snaplen_bytes: int) -> Frames:
    """Read a little-endian, single-section capture of Ethernet; UserError where it is cut short or something else."""
    return joined(frames_of(file, snaplen_bytes))


def frames_of(file: Path, snaplen_bytes: int) -> Iterator[Frames]:
    """Yield the frames of such a capture piece by piece: the memory that this needs is that of a piece."""
    for blocks in blocks_of(file):
        words = gather(blocks.data, blocks.starts, PACKET_HEAD).view("<u4")
        ticks = (words[:, 3].astype(np.int64) << 32) | words[:, 4]
        head = gather(blocks.data, blocks.starts + PACKET_HEAD, snaplen_bytes)
        _clear_after(head, words[:, 5])
        yield Frames(ticks * blocks.tick_ns, words[:, 6], words[:, 5], head)


@dataclass(frozen=True)
class Blocks:
    """A piece of a capture: whole blocks, where its packet blocks begin, and one tick of their clock."""

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    tick_ns: int


def blocks_of(file: Path) -> Iterator[Blocks]:
    """Yield a capture in pieces of whole blocks."""
    rest, place, tick_ns = b"", 0, 1000
    for read, last in _read(file):
        data = np.frombuffer(rest + read, dtype=np.uint8)
        if not place and (len(data) < 12 or struct.unpack_from("<I4xI", data[:12].tobytes()) != (SECTION, BYTE_ORDER)):
            raise UserError(f"{file}: must be a pcapng capture as dumpcap writes it")
        starts, end, tick_ns = _packet_blocks(data, file, place, last, tick_ns)
        yield Blocks(data[:end], starts, tick_ns)
        rest, place = data[end:].tobytes(), place + end


def _read(file: Path) -> Iterator[tuple[bytes, bool]]:
    """Read a capture, or decompress one that is kept (`.zst`); yields pieces, and whether one is the last."""
    kept = file.suffix == ".zst"
    try:
        with pa.input_stream(str(file), compression="zstd") if kept else file.open("rb") as stream:
            piece = stream.read(PIECE_BYTES)
            while following := stream.read(PIECE_BYTES):
                yield piece, False
                piece = following
            yield piece, True
    except OSError as error:
        rule = "must be a whole zstd-compressed capture" if kept else f"{error.strerror}: must be a readable record"
        raise UserError(f"{file}: {rule}") from None


def _clear_after(head: NDArray[np.uint8], captured_bytes: NDArray[np.uint32]) -> None:
    """Put zeros where the bytes are no longer the frame's; some rows at a time, so that comparing needs no memory."""
    width = head.shape[1]
    narrow = np.min_scalar_type(width)  # bytes, where they suffice: many are compared at once
    columns, kept = np.arange(width, dtype=narrow), np.minimum(captured_bytes, width).astype(narrow)
    for at in range(0, len(head), ROWS):
        head[at : at + ROWS] *= columns < kept[at : at + ROWS, None]


def _packet_blocks(
    data: NDArray[np.uint8], file: Path, place: int, last: bool, tick_ns: int
) -> tuple[NDArray[np.int64], int, int]:
    """Find where the packet blocks of a piece begin, where its whole blocks end, and one tick of their clock in ns.

    Every block holds the place of the next one. Of packet blocks, which are all but a few, whole runs are followed.
    """
    words = data[: len(data) // 4 * 4].view("<u4")
    runs = _Runs(words)
    found, at = [np.empty(0, dtype=np.int64)], 0
    while 4 * at < len(data):
        run, after = runs.from_(at)
        if not len(run):
            is_there = at + 2 <= len(words)
            kind, length = words[at : at + 2].tolist() if is_there else (0, 0)
            after = at + length // 4
            if not last and length < PIECE_BYTES and (not is_there or after > len(words)):
                break  # it goes on in the next piece
            if length < 12 or length % 4 or after > len(words):
                raise UserError(f"{file}: must be a whole capture: it ends inside a block at byte {place + 4 * at}")
            if kind == PACKET:
                run = np.array([at])
            elif kind == INTERFACE:
                tick_ns = _tick_ns(data[4 * at : 4 * after].tobytes(), file)
        found.append(4 * run)
        at = after
    return np.concatenate(found), 4 * at, tick_ns


class _Runs:
    """All that looks like a packet block (data may), and how far each leads: places and lengths in words."""

    def __init__(self, words: NDArray[np.uint32]) -> None:
        places = np.flatnonzero(words[: -PACKET_HEAD // 4] == PACKET)
        lengths = words[places + 1].astype(np.int64)
        after = places + lengths // 4
        whole = (lengths >= PACKET_HEAD + 4) & (lengths % 4 == 0) & (after <= len(words))
        whole[whole] = words[after[whole] - 1] == lengths[whole]  # a block ends with its length
        self.places, self.after = places[whole], after[whole]
        self.last = np.append(np.flatnonzero(self.after[:-1] != self.places[1:]), len(self.places) - 1)

    def from_(self, at: int) -> tuple[NDArray[np.int64], int]:
        """Return the packet blocks that follow one another from a 32-bit word on; none where another block is there."""
        first = int(np.searchsorted(self.places, at))
        if first == len(self.places) or self.places[first] != at:
            return self.places[:0], at
        last = self.last[np.searchsorted(self.last, first)]
        return self.places[first : last + 1], int(self.after[last])


def _tick_ns(block: bytes, file: Path) -> int:
    (link_type,) = struct.unpack_from("<H", block, 8)
    if link_type != ETHERNET:
        raise UserError(f"{file}: link_type={link_type}: must be {ETHERNET} (Ethernet)")
    at, resolution = 16, 6
    while at + 4 <= len(block) - 4:
        code, length = struct.unpack_from("<HH", block, at)
        if code == TSRESOL:
            resolution = block[at + 4]
        at += 4 + (length + 3) // 4 * 4
    if resolution not in (6, 9):
        raise UserError(f"{file}: if_tsresol={resolution}: must be 6 or 9 (micro- or nanoseconds)")
    return 1000 if resolution == 6 else 1
