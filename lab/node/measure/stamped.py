# SPDX-License-Identifier: GPL-2.0-or-later
"""Datagrams with the kernel's own time of their arrival, however late they are read."""

import socket
import struct
import sys

from lab.node.system.tools import NodeError

SO_RCVBUFFORCE, SO_TIMESTAMPNS, SO_RXQ_OVFL = 33, 35, 40  # include/uapi/asm-generic/socket.h
CONTROL_BYTES = 64


def stamped(udp: socket.socket, size_bytes: int, flags: int = 0) -> tuple[bytes, int, int]:
    """Take a datagram: its first bytes, when it arrived (CLOCK_REALTIME, ns), and how many its socket has dropped.

    The socket has SO_TIMESTAMPNS, and SO_RXQ_OVFL where drops are wanted.
    """
    data, control, _, _ = udp.recvmsg(size_bytes, CONTROL_BYTES, flags)
    found = {kind: value for _, kind, value in control}
    if SO_TIMESTAMPNS not in found:
        raise NodeError("SO_TIMESTAMPNS: no time of arrival: must be stamped by this kernel")
    seconds, nanoseconds = struct.unpack("qq", found[SO_TIMESTAMPNS])
    return data, seconds * 10**9 + nanoseconds, int.from_bytes(found.get(SO_RXQ_OVFL, b""), sys.byteorder)
