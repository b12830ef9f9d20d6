# SPDX-License-Identifier: GPL-2.0-or-later
"""Every sender gets its flow through, whole, whatever the path does to it, and the kernel complains of nothing."""

from collections.abc import Callable
from math import prod

import pytest

from lab.images.image import Image
from lab.kernel.build import Kernel
from tests.guest import hardships as guest_hardships
from tests.guest.hardships import LEAST_MSS_BYTES, RENEGED_BYTES, SIZE_BYTES, Facts
from tests.stress import Guest, algorithms, link

LEAST_CWND_PKTS = 10  # what every flow begins with (RFC 6928): none was stuck below it for its whole life
PACKET_BYTES = 1514
HELD_BYTES = 20e6 / 8 * 0.1 + 500_000  # by the small path, its queue full
A_ROUND_MULTIPLIES = 2  # the window in slow start, at most,
# Hybla's by 2^(least RTT / 25 ms) (tcp_hybla.c). Vivace's is twice what its rate needs, which doubles with each
# interval: two more begin before one that was too fast is measured (tcp_vivace.c; stated after a window of 12 times).
MULTIPLIED = {"hybla": 2**4, "vivace": 2 * 2**2}


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> Guest:
    return Guest(tmp_path_factory.mktemp("hardships"), kernel, world)


def most_cwnd_pkts(sender: str, packet_bytes: int = PACKET_BYTES) -> float:
    """Bound a window: it fills the path and its queue once more, twice for the round in which losses are heard of."""
    return HELD_BYTES / packet_bytes * A_ROUND_MULTIPLIES * MULTIPLIED.get(sender, A_ROUND_MULTIPLIES)


def suffered(guest: Guest, hardship: Callable[..., Facts], packet_bytes: int = PACKET_BYTES) -> Facts:
    """Have every sender suffer it; every flow must arrive whole, with a congestion window that makes sense."""
    facts: Facts = guest.call(hardship, link=link(), algorithms=algorithms())
    assert list(facts) == algorithms()
    for sender, found in facts.items():
        assert LEAST_CWND_PKTS <= found["most_cwnd_pkts"] <= most_cwnd_pkts(sender, packet_bytes), sender
    return facts


def without(facts: Facts, *counters: str) -> list[str]:
    """Name the senders whose kernel never counted such a thing: they did not meet the hardship."""
    return [sender for sender, found in facts.items() if not any(found.get(counter) for counter in counters)]


@pytest.mark.parametrize(
    ("hardship", "counters", "bytes_"),
    [
        (guest_hardships.timeout, ["server.TcpExtTCPTimeouts"], SIZE_BYTES),
        (guest_hardships.lost_syn, ["server.TcpExtTCPSynRetrans"], SIZE_BYTES),
        (guest_hardships.reordering, ["server.TcpExtTCPSACKReorder", "server.TcpExtTCPTSReorder"], SIZE_BYTES),
        (guest_hardships.reneging, ["server.TcpExtTCPSACKReneging"], RENEGED_BYTES),
        (guest_hardships.zero_window, ["client.TcpExtTCPToZeroWindowAdv"], SIZE_BYTES),
        (guest_hardships.fast_open, ["server.TcpExtTCPFastOpenPassive"], SIZE_BYTES),  # data before the handshake ends
    ],
)
def test_a_flow_survives(guest: Guest, hardship: Callable[..., Facts], counters: list[str], bytes_: int) -> None:
    facts = suffered(guest, hardship)
    assert without(facts, *counters) == []
    assert {found["got_bytes"] for found in facts.values()} == {bytes_}


def test_a_flow_survives_tiny_segments(guest: Guest) -> None:
    facts = suffered(guest, guest_hardships.tiny_mss, LEAST_MSS_BYTES)
    for found in facts.values():
        assert found["server.TcpOutSegs"] > found["got_bytes"] / LEAST_MSS_BYTES


def test_a_flow_survives_congestion_marks_and_retransmits_for_none(guest: Guest) -> None:
    facts = suffered(guest, guest_hardships.marks)
    assert without(facts, "client.IpExtInCEPkts") == []
    assert {
        sender: found["server.TcpRetransSegs"] for sender, found in facts.items() if found.get("server.TcpRetransSegs")
    } == {}
    assert {found["got_bytes"] for found in facts.values()} == {SIZE_BYTES}


def test_a_flow_survives_every_change_of_its_congestion_control(guest: Guest) -> None:
    names = algorithms()
    found = guest.call(guest_hardships.switched, link=link(), algorithms=names)
    assert len(found["switches"]) == len(names) * (len(names) - 1)
    # It was each of them: what one multiplies, the next may multiply again before a loss is heard of.
    most_pkts = HELD_BYTES / PACKET_BYTES * A_ROUND_MULTIPLIES * prod(MULTIPLIED.values())
    assert LEAST_CWND_PKTS <= found["most_cwnd_pkts"] <= most_pkts
