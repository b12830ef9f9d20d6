# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP and IPv4 headers of captured frames, decoded in columns (RFC 791, 9293, 7323, 2018)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
ETHERNET_BYTES = 14
TIMESTAMP, SACK, WINDOW_SCALE = 8, 5, 3
PLAIN_TIMESTAMP = (1, 1, 8, 10)  # NOP NOP, then the option: what every segment after the handshake begins with
PLAIN_SACK = (1, 1, 5)  # NOP NOP, then the option and its length: what follows the time stamp of a duplicate ACK


def is_tcp(head: Bytes) -> NDArray[np.bool_]:
    """Return which frames are TCP over IPv4, first fragments."""
    ipv4 = big_endian(head, 12, 2) == 0x0800
    whole = big_endian(head, ETHERNET_BYTES + 6, 2) & 0x1FFF == 0
    return np.asarray(ipv4 & whole & (head[:, ETHERNET_BYTES + 9] == 6))


def big_endian(head: Bytes, at: int, width: int) -> NDArray[np.int64]:
    """Read an unsigned field that lies at the same place in every row."""
    return head[:, at : at + width].view(f">u{width}")[:, 0].astype(np.int64)


def header_bytes(head: Bytes) -> NDArray[np.int64]:
    """Return where the payload of rows that are TCP begins."""
    tcp_at = ETHERNET_BYTES + (head[:, ETHERNET_BYTES] & 0x0F).astype(np.int64) * 4
    offset_at = np.minimum(tcp_at + 12, head.shape[1] - 1)
    return tcp_at + (np.take_along_axis(head, offset_at[:, None], axis=1)[:, 0] >> 4).astype(np.int64) * 4


def segments(head: Bytes) -> dict[str, NDArray[np.int64]]:
    """Decode rows that are TCP; -1 stands for an option that is not there."""
    ip_bytes = (head[:, ETHERNET_BYTES] & 0x0F).astype(np.int64) * 4
    tcp = _shifted(head, ETHERNET_BYTES + ip_bytes)
    tcp_bytes = (tcp[:, 12] >> 4).astype(np.int64) * 4
    return {
        "src_port": big_endian(tcp, 0, 2),
        "dst_port": big_endian(tcp, 2, 2),
        "seq": big_endian(tcp, 4, 4),
        "ack": big_endian(tcp, 8, 4),
        "flags": big_endian(tcp, 12, 2) & 0x0FFF,
        "window": big_endian(tcp, 14, 2),
        "len": big_endian(head, ETHERNET_BYTES + 2, 2) - ip_bytes - tcp_bytes,
        **_options(tcp, tcp_bytes),
    }


def _shifted(head: Bytes, starts: NDArray[np.int64]) -> Bytes:
    """Move every row so that its TCP header comes first; a plain slice where all begin at the same place."""
    if len(starts) and (starts == starts[0]).all():
        return head[:, starts[0] :]
    width = head.shape[1] - ETHERNET_BYTES - 20
    columns = np.minimum(starts[:, None] + np.arange(width), head.shape[1] - 1)
    return np.take_along_axis(head, columns, axis=1)


def _options(tcp: Bytes, tcp_bytes: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    found = {name: np.full(len(tcp), -1, dtype=np.int64) for name in ("tsval", "tsecr", "sack_edges", "window_scale")}
    begins_plain = (tcp[:, 20:24] == PLAIN_TIMESTAMP).all(axis=1)
    sack_bytes = np.where((tcp[:, 32:35] == PLAIN_SACK).all(axis=1), tcp[:, 35], 0).astype(np.int64)
    plain = begins_plain & (tcp_bytes == 32)
    with_sack = begins_plain & (sack_bytes > 0) & (tcp_bytes == 34 + sack_bytes)
    found["sack_edges"][with_sack] = (sack_bytes[with_sack] - 2) // 8
    for name, at in (("tsval", 24), ("tsecr", 28)):
        found[name][plain | with_sack] = big_endian(tcp, at, 4)[plain | with_sack]
    for row in np.flatnonzero(~(plain | with_sack)):
        _walk_options(bytes(tcp[row, 20 : tcp_bytes[row]]), row, found)
    return found


def options(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield TCP's options, as far as they are whole."""
    at = 0
    while at < len(text) and text[at] != 0:
        if text[at] == 1:
            at += 1
            continue
        length = text[at + 1] if at + 1 < len(text) else 0
        if length < 2 or at + length > len(text):
            return
        yield text[at], text[at + 2 : at + length]
        at += length


def _walk_options(text: bytes, row: np.intp, found: dict[str, NDArray[np.int64]]) -> None:
    for kind, body in options(text):
        if kind == TIMESTAMP and len(body) == 8:
            found["tsval"][row] = int.from_bytes(body[:4])
            found["tsecr"][row] = int.from_bytes(body[4:])
        elif kind == SACK:
            found["sack_edges"][row] = len(body) // 8
        elif kind == WINDOW_SCALE and len(body) == 1:
            found["window_scale"][row] = body[0]
