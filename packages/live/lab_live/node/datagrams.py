# SPDX-License-Identifier: GPL-2.0-or-later
"""What measures a path: datagrams that fill it, their arrivals, and small probes with their echoes.

The kernel stamps what comes in (SO_TIMESTAMPNS), so that it may be read late and many at a time: waking up for each
datagram would cost more than the datagram. All times are CLOCK_REALTIME nanoseconds of the end that read them.
"""

import errno
import select
import socket
import struct
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

from lab.node.measure.stamped import SO_RCVBUFFORCE, SO_RXQ_OVFL, SO_TIMESTAMPNS, stamped
from lab.node.system.tools import NodeError

IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, IP_PMTUDISC_DO = 10, 23, 2  # linux/in.h, linux/in6.h
BUFFER_BYTES = 64 << 20
LOST = (errno.ENOBUFS, errno.ECONNREFUSED, errno.EAGAIN)  # refused here: lost as on any hop after this one
BURST_PKTS = 256  # at most, before the clock is read again
LONGEST_PAUSE_S = 0.02  # between two readings of the buffer
FILLER = struct.Struct("!8sBxxxI")  # token, phase, number; then padding
PROBE = struct.Struct("!8sBxxxIQQQ")  # token, phase, number; sent, echo's arrival, echo's departure
ARRIVAL = struct.Struct("<QI")  # as stored: arrived, number
ROUND_TRIP = struct.Struct("<IQQQQ")  # as stored: number; sent, arrived there, left there, arrived back

MOST_RECORDS_BYTES = 1 << 30  # of a phase: 89 million arrivals
SKB_BYTES = 4352  # at most what the kernel counts for a datagram of one Ethernet frame
TICK_S = 0.001  # between bursts of fillers: a shorter sleep is not kept on every machine


class Phase(NamedTuple):
    """What goes on for a while: fillers either way or none, probes always."""

    number: int
    seconds: float
    quiet_s: float  # silence after `seconds` that ends the phase: what was queued has come
    drain_s: float  # waited at most for that silence


class Arrived(NamedTuple):
    """Arrivals of fillers as stored, and what this end's own socket dropped for want of buffer."""

    records: bytes
    overflowed_pkts: int


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


def _headers_bytes(udp: socket.socket) -> int:
    """Return the bytes of IP and UDP before a datagram's payload."""
    return 48 if udp.family == socket.AF_INET6 and not udp.getpeername()[0].startswith("::ffff:") else 28


def _received(udp: socket.socket, size_bytes: int, most_pkts: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield the beginning of each datagram that is there, when it arrived, and the socket's drops so far.

    most_pkts: after which the caller looks at its clock, however many still come.
    """
    for _ in range(most_pkts):
        try:
            yield stamped(udp, size_bytes, socket.MSG_DONTWAIT)
        except OSError as error:
            if error.errno not in LOST:
                raise
            return


def fill(udp: socket.socket, token: bytes, phase: Phase, rate_mbps: float, packet_bytes: int) -> int:
    """Send numbered datagrams at a rate until the phase's seconds are over; returns how many the kernel was given."""
    payload = bytearray(packet_bytes - _headers_bytes(udp))
    interval_ns = (packet_bytes + 14) * 8e3 / rate_mbps  # rates count Ethernet headers, as tc does
    begun_ns, sent = time.monotonic_ns(), 0
    while (gone_ns := time.monotonic_ns() - begun_ns) < phase.seconds * 1e9:
        due = min(int(gone_ns / interval_ns) + 1 - sent, BURST_PKTS)
        for number in range(sent, sent + due):
            FILLER.pack_into(payload, 0, token, phase.number, number)
            send(udp, payload)
        sent += due
        if due < BURST_PKTS:
            time.sleep(max(TICK_S - (time.monotonic_ns() - begun_ns - gone_ns) / 1e9, 0))
    return sent


def collect(udp: socket.socket, token: bytes, phase: Phase, rate_mbps: float) -> Arrived:
    """Receive a phase's fillers until its seconds are over and silence has come."""
    records, overflowed = bytearray(), 0
    room_pkts = udp.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) / SKB_BYTES
    pause_s = min(LONGEST_PAUSE_S, room_pkts / 4 * 12e-3 / rate_mbps)  # a quarter of the buffer, at 12,000 bits each
    begun_s = last_s = time.monotonic()
    while not _over(phase, begun_s, last_s):
        time.sleep(pause_s)
        for data, arrived_ns, dropped in _received(udp, FILLER.size, int(room_pkts)):  # the padding is not wanted
            last_s = time.monotonic()
            if len(data) == FILLER.size and len(records) < MOST_RECORDS_BYTES:
                sender, index, number = FILLER.unpack(data)
                if sender == token and index == phase.number:
                    records += ARRIVAL.pack(arrived_ns, number)
                    overflowed = max(overflowed, dropped)
    return Arrived(bytes(records), overflowed)


def _over(phase: Phase, begun_s: float, last_s: float) -> bool:
    now_s = time.monotonic()
    silent = now_s - max(last_s, begun_s + phase.seconds) > phase.quiet_s
    return silent or now_s - begun_s > phase.seconds + phase.drain_s


def send(udp: socket.socket, payload: bytes | bytearray) -> None:
    """Send one datagram; what a full queue refuses is lost as on any hop after it."""
    try:
        udp.send(payload)
    except OSError as error:
        if error.errno == errno.EMSGSIZE:
            raise NodeError("packet_bytes: must be at most what the path carries unfragmented") from None
        if error.errno not in LOST:
            raise


def echo(udp: socket.socket, token: bytes, stop: threading.Event) -> None:
    """Send every probe back with the times of its arrival and departure, until stopped."""
    waiting = select.poll()
    waiting.register(udp, select.POLLIN)
    while not stop.is_set():
        waiting.poll(100)
        for index, number, sent_ns, _, _, arrived_ns in _probes(udp, token):
            send(udp, PROBE.pack(token, index, number, sent_ns, arrived_ns, time.time_ns()))


def send_probes(udp: socket.socket, token: bytes, phase: Phase, interval_s: float) -> int:
    """Send a numbered probe an interval, on the absolute clock; returns how many."""
    begun_ns = time.monotonic_ns()
    count = int(phase.seconds / interval_s)
    for number in range(count):
        due_ns = begun_ns + round(number * interval_s * 1e9)
        time.sleep(max(due_ns - time.monotonic_ns(), 0) / 1e9)
        send(udp, PROBE.pack(token, phase.number, number, time.time_ns(), 0, 0))
    return count


def collect_probes(udp: socket.socket, token: bytes, phase: Phase) -> bytes:
    """Receive a phase's echoes until its seconds are over and silence has come."""
    records = bytearray()
    begun_s = last_s = time.monotonic()
    while not _over(phase, begun_s, last_s):
        time.sleep(LONGEST_PAUSE_S)
        for index, number, *times_ns in _probes(udp, token):
            if index == phase.number:
                records += ROUND_TRIP.pack(number, *times_ns)
                last_s = time.monotonic()
    return bytes(records)


def _probes(udp: socket.socket, token: bytes) -> Iterator[tuple[int, int, int, int, int, int]]:
    """Take the probes that are there: phase, number, the three times they carry, and when they arrived."""
    for data, arrived_ns, _ in _received(udp, PROBE.size, BURST_PKTS):
        if len(data) == PROBE.size:
            sender, index, number, sent_ns, there_ns, left_ns = PROBE.unpack(data)
            if sender == token:
                yield index, number, sent_ns, there_ns, left_ns, arrived_ns
