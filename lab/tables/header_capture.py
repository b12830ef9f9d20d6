# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture as it is kept: the headers of every frame, compressed. tshark and Wireshark open it as it is.

dumpcap cuts all frames at one length, that of the longest header, so that a third of its file is payload.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from lab.tables import tcp_headers
from lab.tables.pcapng import PACKET_HEAD, ROWS, blocks_of
from lab.tables.raw import gather

Bytes = NDArray[np.uint8]
TAIL = 4  # a block ends with its length


def keep_headers(source: Path, target: Path, snaplen_bytes: int) -> None:
    """Write a dumpcap file without the payload of its TCP segments, zstd-compressed; all other blocks as they are."""
    with pa.output_stream(str(target), compression="zstd") as sink:
        for blocks in blocks_of(source):
            data, starts = blocks.data, blocks.starts
            if not len(starts):
                sink.write(data)
                continue
            last = int(starts[-1])
            sink.write(data[: starts[0]])
            for at in range(0, len(starts), ROWS):
                sink.write(_cut(gather(data, starts[at : at + ROWS], PACKET_HEAD + snaplen_bytes)))
            sink.write(data[last + int(data[last + 4 : last + 8].view("<u4")[0]) :])


def _cut(blocks: Bytes) -> Bytes:
    """Cut each packet block (draft-ietf-opsawg-pcapng, section 4.3) after its headers, and lay them end to end."""
    head = blocks[:, PACKET_HEAD:]
    captured = blocks[:, 20:24].copy().view("<u4")[:, 0]
    kept = np.minimum(captured, _header_bytes(head)).astype(np.int64)
    lengths = PACKET_HEAD + (kept + 3) // 4 * 4 + TAIL
    ends = np.cumsum(lengths)
    out = np.empty(ends[-1], dtype=np.uint8)
    for size in np.unique(kept):  # a few: headers differ in their options
        these = np.flatnonzero(kept == size)
        length = int(lengths[these[0]])
        rows = np.zeros((len(these), length), dtype=np.uint8)
        rows[:, : PACKET_HEAD + size] = blocks[these, : PACKET_HEAD + size]
        rows[:, 4:8] = rows[:, -TAIL:] = _word(length)
        rows[:, 20:24] = _word(size)
        sliding_window_view(out, length, writeable=True)[ends[these] - length] = rows
    return out


def _word(number: int) -> Bytes:
    return np.array([number], dtype="<u4").view(np.uint8)


def _header_bytes(head: Bytes) -> NDArray[np.int64]:
    """Return how much of each frame is headers: all of it where it is not TCP."""
    width = head.shape[1]
    return np.where(tcp_headers.is_tcp(head), np.minimum(tcp_headers.header_bytes(head), width), width)
