# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture as it is kept: the headers of every frame, compressed. tshark and Wireshark open it as it is.

dumpcap cuts all frames at one length, that of the longest header, so that a third of its file is payload.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
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
    padded = (kept + 3) // 4 * 4
    lengths = (PACKET_HEAD + padded + TAIL).astype("<u4").view(np.uint8).reshape(-1, TAIL)
    out = np.zeros((len(blocks), blocks.shape[1] + 3 + TAIL), dtype=np.uint8)
    columns = np.arange(out.shape[1], dtype=np.int16)
    out[:, : blocks.shape[1]] = blocks * (columns[: blocks.shape[1]] < (PACKET_HEAD + kept).astype(np.int16)[:, None])
    out[:, 4:8] = lengths
    out[:, 20:24] = kept.astype("<u4").view(np.uint8).reshape(-1, 4)
    np.put_along_axis(out, PACKET_HEAD + padded[:, None] + np.arange(TAIL), lengths, axis=1)
    inside = columns < (PACKET_HEAD + padded + TAIL).astype(np.int16)[:, None]
    return np.asarray(out[inside])


def _header_bytes(head: Bytes) -> NDArray[np.int64]:
    """Return how much of each frame is headers: all of it where it is not TCP."""
    return np.where(tcp_headers.is_tcp(head), tcp_headers.header_bytes(head), head.shape[1])
