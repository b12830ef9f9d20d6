# SPDX-License-Identifier: GPL-2.0-or-later
"""A dumpcap file as arrays: when each frame was captured, how long it was, and its first bytes.

Columnar, because tshark takes longer to dissect a 30 s download than all the rest of its trial takes: some fifty times
what this does (`lab bench` prints the ratio). The tests hold every field of every frame against tshark's own.
Format: draft-ietf-opsawg-pcapng.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lab.errors import UserError

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
BYTE_ORDER = 0x1A2B3C4D
ETHERNET = 1
TSRESOL = 9  # option if_tsresol
PACKET_HEAD = 28  # bytes of an enhanced packet block before its data


@dataclass(frozen=True)
class Frames:
    """Captured frames, in the order of the file."""

    time_ns: NDArray[np.int64]  # since the epoch
    wire_bytes: NDArray[np.uint32]
    captured_bytes: NDArray[np.uint32]
    head: NDArray[np.uint8]  # (frames, snaplen): what was captured, zeros after it


def read_pcapng(file: Path, snaplen_bytes: int) -> Frames:
    """Read a little-endian, single-section capture of Ethernet; UserError where it is cut short or something else."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}: must be a readable capture") from None
    if len(data) < 12 or struct.unpack_from("<I4xI", data) != (SECTION, BYTE_ORDER):
        raise UserError(f"{file}: must be a pcapng capture as dumpcap writes it")
    starts, tick_ns = _walk(data, file)
    padded = np.frombuffer(data + bytes(snaplen_bytes + PACKET_HEAD), dtype=np.uint8)
    words = _gather(padded, starts, PACKET_HEAD).view("<u4").astype(np.int64)
    captured = words[:, 5].astype(np.uint32)
    head = _gather(padded, starts + PACKET_HEAD, snaplen_bytes)
    head[np.arange(snaplen_bytes) >= captured[:, None]] = 0
    return Frames(((words[:, 3] << 32) | words[:, 4]) * tick_ns, words[:, 6].astype(np.uint32), captured, head)


def _walk(data: bytes, file: Path) -> tuple[NDArray[np.int64], int]:
    """Find where the packet blocks begin, and what one tick of their clock is in nanoseconds."""
    starts, tick_ns, at, size = [], 1000, 0, len(data)
    unpack = struct.Struct("<II").unpack_from
    while at < size:
        kind, length = unpack(data, at) if at + 8 <= size else (0, 0)
        if length < 12 or at + length > size:
            raise UserError(f"{file}: must be a whole capture: it ends inside a block at byte {at}")
        if kind == PACKET:
            starts.append(at)
        elif kind == INTERFACE:
            tick_ns = _tick_ns(data[at : at + length], file)
        at += length
    return np.array(starts, dtype=np.int64), tick_ns


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


def _gather(data: NDArray[np.uint8], starts: NDArray[np.int64], width: int) -> NDArray[np.uint8]:
    """Copy `width` bytes from each start: a (starts, width) matrix."""
    windows = np.lib.stride_tricks.sliding_window_view(data, width)
    return np.ascontiguousarray(windows[starts])
