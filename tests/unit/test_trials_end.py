# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial ends at its time whatever the queue holds, with its measurements whole; nothing is left running."""

import struct

import pytest

from lab.node.traffic import arrival
from lab.node.traffic.arrival import Arrival

SERVER, CONTROL, DATA = 5201, 40000, 40001


def segment(source: int, target: int, payload_bytes: int, protocol: int = arrival.TCP) -> bytes:
    """Build an IPv4 packet with a TCP segment of 12 bytes of options."""
    ip = struct.pack("!BBHHHBBHII", 0x45, 0, 20 + 32 + payload_bytes, 0, 0, 64, protocol, 0, 1, 2)
    return (ip + struct.pack("!HHIIBBHHH", source, target, 1, 1, 8 << 4, 0x10, 100, 0, 0)).ljust(128, b"\0")


def test_data_are_what_comes_over_any_connection_but_the_servers_first() -> None:
    watching = Arrival.__new__(Arrival)
    watching.port, watching.control = SERVER, None
    came = [
        segment(80, 1234, 500),  # of another server
        segment(SERVER, CONTROL, 0),
        segment(SERVER, CONTROL, 1),  # a state of iperf3's
        segment(SERVER, DATA, 0),
        segment(SERVER, DATA, 500, protocol=17),
        segment(SERVER, CONTROL, 1),
    ]
    assert not any(watching.is_data(packet) for packet in came)
    assert watching.is_data(segment(SERVER, DATA, 1448))


@pytest.mark.parametrize("length", range(0, 60, 7))
def test_a_packet_that_is_cut_short_is_no_segment(length: int) -> None:
    assert length >= 40 or arrival.tcp(segment(SERVER, DATA, 1448)[:length]) is None
