# SPDX-License-Identifier: GPL-2.0-or-later
"""Many datagrams in one system call (sendmmsg, recvmmsg), which Python has no functions for.

The kernel stamps what comes in (SO_TIMESTAMPNS), so that it may be read late and many at a time: waking up for each
datagram would cost more than the datagram.
Under User Mode Linux a system call costs some ten times what it costs elsewhere. Layouts are those of 64-bit Linux.
"""

import ctypes
import errno
import os
import socket
import struct
from collections.abc import Iterator

from lab.node.system.libc import LIBC
from lab.node.system.tools import NodeError

SO_RCVBUFFORCE, SO_TIMESTAMPNS, SO_RXQ_OVFL = 33, 35, 40  # include/uapi/asm-generic/socket.h
IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, IP_PMTUDISC_DO = 10, 23, 2  # linux/in.h, linux/in6.h
BUFFER_BYTES = 64 << 20
BATCH = 256  # datagrams a system call
LONGEST_PAUSE_S = 0.02  # between two readings of the buffer
CMSG = struct.Struct("Qii")  # struct cmsghdr; its data follow, padded to 8 bytes
CONTROL_BYTES = 64
LOST = (errno.ENOBUFS, errno.ECONNREFUSED, errno.EAGAIN)  # refused here: lost as on any hop after this one


class _Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class _Header(ctypes.Structure):
    """struct msghdr."""

    _fields_ = [
        ("name", ctypes.c_void_p),
        ("name_length", ctypes.c_uint),
        ("iov", ctypes.c_void_p),
        ("iov_count", ctypes.c_size_t),
        ("control", ctypes.c_void_p),
        ("control_length", ctypes.c_size_t),
        ("flags", ctypes.c_int),
    ]


class _Message(ctypes.Structure):
    """struct mmsghdr: a header, and how many bytes were moved."""

    _fields_ = [("header", _Header), ("length", ctypes.c_uint)]


class Batch:
    """Buffers of one size for so many datagrams."""

    def __init__(self, count: int, size_bytes: int) -> None:
        self.count, self.size_bytes, self._used = count, size_bytes, count
        self.data = ctypes.create_string_buffer(count * size_bytes)
        self._control = ctypes.create_string_buffer(count * CONTROL_BYTES)
        self._iovecs = (_Iovec * count)()
        self._messages = (_Message * count)()
        for number in range(count):
            self._iovecs[number] = _Iovec(ctypes.addressof(self.data) + number * size_bytes, size_bytes)
            self._messages[number].header.iov = ctypes.addressof(self._iovecs) + number * ctypes.sizeof(_Iovec)
            self._messages[number].header.iov_count = 1

    def send(self, udp: socket.socket, count: int) -> None:
        """Send the first so many buffers; what the kernel refuses for want of room is lost."""
        done = 0
        while done < count:
            moved = LIBC.sendmmsg(udp.fileno(), ctypes.byref(self._messages[done]), count - done, 0)
            if moved < 0 and ctypes.get_errno() == errno.EMSGSIZE:
                raise NodeError("packet_bytes: must be at most what the path carries unfragmented")
            if moved < 0 and ctypes.get_errno() not in (*LOST, errno.EINTR):
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            done += moved if moved > 0 else int(ctypes.get_errno() != errno.EINTR)

    def receive(self, udp: socket.socket) -> int:
        """Take the datagrams that are there, as many as there are buffers, without waiting; returns how many."""
        for number in range(self._used):  # the kernel left there how much it wrote
            header = self._messages[number].header
            header.control = ctypes.addressof(self._control) + number * CONTROL_BYTES
            header.control_length = CONTROL_BYTES
        moved: int = LIBC.recvmmsg(udp.fileno(), self._messages, self.count, socket.MSG_DONTWAIT, None)
        if moved < 0 and ctypes.get_errno() not in (*LOST, errno.EINTR):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self._used = max(moved, 0)
        return self._used

    def received(self, count: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield of each datagram where it begins in `data`, its length, when it arrived, the socket's drops so far."""
        for number in range(count):
            message = self._messages[number]
            arrived_ns, dropped = self._ancillary(number * CONTROL_BYTES, message.header.control_length)
            yield number * self.size_bytes, message.length, arrived_ns, dropped

    def _ancillary(self, at: int, length: int) -> tuple[int, int]:
        """Read a datagram's control messages: the kernel's time stamp, and the count of drops."""
        arrived_ns, dropped, end = 0, 0, at + length
        while at + CMSG.size <= end:
            size, _, kind = CMSG.unpack_from(self._control, at)
            if kind == SO_TIMESTAMPNS:
                seconds, nanoseconds = struct.unpack_from("qq", self._control, at + CMSG.size)
                arrived_ns = seconds * 10**9 + nanoseconds
            elif kind == SO_RXQ_OVFL:
                (dropped,) = struct.unpack_from("I", self._control, at + CMSG.size)
            at += max((size + 7) & ~7, CMSG.size)
        return arrived_ns, dropped


def open_udp(family: int, port: int) -> socket.socket:
    """Open a socket that stamps arrivals, counts its own drops, buffers much, and never fragments."""
    udp = socket.socket(family, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    udp.setsockopt(socket.SOL_SOCKET, SO_RXQ_OVFL, 1)
    try:
        udp.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    except PermissionError:  # not root: what net.core.rmem_max grants
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    udp.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
    if family == socket.AF_INET6:
        udp.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, IP_PMTUDISC_DO)
    udp.bind(("", port))
    return udp


def headers_bytes(udp: socket.socket) -> int:
    """Return the bytes of IP and UDP before a datagram's payload."""
    return 48 if udp.family == socket.AF_INET6 and not udp.getpeername()[0].startswith("::ffff:") else 28
