# SPDX-License-Identifier: GPL-2.0-or-later
"""Both ends of a small stack over UDP for tests, and what a bad one does: it imports nothing but the standard library.

The client acknowledges each datagram. The server's window grows by one datagram for each acknowledgement: control
`stops` ends that at STOPS datagrams, any other at the first acknowledgement that skips some, where it halves the
window; `mute` does so too, and names no lost packet, `bare` no state of recovery either. `twenty` begins with 20.
`ids` and `sizes` put the processor's cycle counter into the datagrams.
"""

import ctypes
import json
import mmap
import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TextIO

PACKET_BYTES, FIRST, STOPS = 1472, 10, 80
NUMBER = struct.Struct("!Q")
AGAIN_S = 1.0


def serve(address: str, port: str, control: str, log: str | None = None) -> None:
    udp = bound(address, port)
    request, client = udp.recvfrom(100)
    left, window = -(-int(request.rstrip(b"\0")) // PACKET_BYTES), 2 * FIRST if control == "twenty" else FIRST
    sent, acked, growing = 0, 0, True
    events = Path(log).open("w") if log else None  # noqa: SIM115 as long as the server
    write(events, {"qlog_version": "0.4", "qlog_format": "JSON-SEQ"})
    write(events, {"time": ms(), "name": "quic:packet_received", "data": {}})
    udp.settimeout(AGAIN_S)
    while acked < left:
        while sent < min(acked + window, left):
            rest_bytes = PACKET_BYTES - 2 * NUMBER.size - (cycles() % 500 if control == "sizes" else 0)
            own = NUMBER.pack(cycles() if control == "ids" else 0)
            udp.sendto(NUMBER.pack(sent) + own + bytes(rest_bytes), client)
            sent += 1
        try:
            (number,) = NUMBER.unpack(udp.recv(100)[: NUMBER.size])
        except TimeoutError:
            acked, number = sent, sent - 1
        skipped, acked = number > acked, max(acked, number + 1)
        window += growing
        if growing and (window >= STOPS if control == "stops" else skipped):
            growing, window = False, window if control == "stops" else window // 2
            if skipped and control not in ("mute", "bare"):
                write(events, {"time": ms(), "name": "recovery:packet_lost", "data": {}})
            state = {
                "old": "slow_start",
                "new": "recovery" if skipped and control != "bare" else "congestion_avoidance",
            }
            write(events, {"time": ms(), "name": "recovery:congestion_state_updated", "data": state})
        metrics = {"congestion_window": window * PACKET_BYTES, "bytes_in_flight": (sent - acked) * PACKET_BYTES}
        write(events, {"time": ms(), "name": "recovery:metrics_updated", "data": metrics})


def get(address: str, port: str, size: str) -> None:
    """Request some bytes, and acknowledge each datagram."""
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.connect((address, int(port)))
    udp.send(size.encode() + bytes(100 - len(size)))
    last = -(-int(size) // PACKET_BYTES) - 1
    number = -1
    while number < last:
        datagram = udp.recv(2000)
        (number,) = NUMBER.unpack(datagram[: NUMBER.size])
        udp.send(datagram[: NUMBER.size])


def bad(how: str, address: str = "", port: str = "0", log: str = "") -> None:
    """Do what no server should."""
    if how == "exits":
        sys.exit("no such key")
    if how == "silent":
        time.sleep(100)
    if how in MEANWHILE and not os.fork():
        after_s, action = MEANWHILE[how]
        time.sleep(after_s)
        action()
        os._exit(0)
    if how in MEANWHILE:
        serve(address, port, "halves")
        return
    if how == "spins":
        bound(address, port)
        while True:
            pass
    udp = bound(address, port)
    _, client = udp.recvfrom(100)
    udp.sendto(bytes(PACKET_BYTES), client)
    if how == "crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "hangs":
        time.sleep(1000)
    if how == "prints":
        while True:
            print("x" * 10_000_000)
    if how == "logs":
        with Path(log).open("w") as file:
            while True:
                file.write("x" * 10_000_000)


def signal_the_capture(number: int) -> None:
    """Stop dumpcap, so that it does not end when it should, or end it before."""
    for each in Path("/proc").glob("[0-9]*"):
        if (each / "comm").read_text() == "dumpcap\n":
            os.kill(int(each.name), number)


def set_the_date() -> None:
    """Set the date a little on."""
    time.clock_settime(time.CLOCK_REALTIME, time.time() + 0.005)


# When, and what: late, so that what came until then would do as a download.
MEANWHILE: dict[str, tuple[float, Callable[[], None]]] = {
    "stops_capture": (2.2, partial(signal_the_capture, signal.SIGSTOP)),
    "ends_capture": (3.3, partial(signal_the_capture, signal.SIGINT)),
    "sets_date": (2.2, set_the_date),
}


def cycles() -> int:
    """Return the processor's cycle counter, which no seed of the lab decides: rdtsc, and both halves in one."""
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("0f31 48c1e220 4809d0 c3"))
    place = ctypes.addressof(ctypes.c_char.from_buffer(code))
    return int(ctypes.CFUNCTYPE(ctypes.c_uint64)(place)())


def bound(address: str, port: str) -> socket.socket:
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind((address, int(port)))
    return udp


def ms() -> float:
    return time.monotonic_ns() / 1e6


def write(events: TextIO | None, record: dict[str, object]) -> None:
    """Write a record of the qlog, if there is one; a stopped server has written all."""
    if events:
        events.write("\x1e" + json.dumps(record) + "\n")
        events.flush()


if __name__ == "__main__":
    ends: dict[str, Callable[..., None]] = {"serve": serve, "get": get, "bad": bad}
    ends[sys.argv[1]](*sys.argv[2:])
