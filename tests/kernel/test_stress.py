# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders by the thousand without memory, and each over whatever a path does: all arrives, and nothing stays behind."""

from math import prod

import pytest

from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.runs.plan import draw, make_plan
from lab.schema.cca import load_ccas
from tests.conftest import SMALL, experiment_on, recipe_under_test
from tests.guest import failslab as guest_failslab
from tests.guest import hardships as guest_hardships
from tests.guest import modules as guest_modules
from tests.guest import trial as guest_trial
from tests.guest.hardships import LEAST_MSS_BYTES, RENEGED_BYTES, SIZE_BYTES, Facts, Hardship
from tests.stress import SLOW, Guest, algorithms, link

FLOWS, LOADS = 1000, 1000
LEAST_GROWTH_KB = 1000  # of a kernel that has not settled; a flow's state lost each time were 300 kB, a module 12 MB

sanitized = recipe_under_test().sanitize
where_memory_fails = pytest.mark.skipif(
    not sanitized, reason="only the sanitize kernel injects failures: make test-sanitize"
)
where_bugs_show = pytest.mark.skipif(
    not sanitized, reason="trials on the default kernel are many: this is for make test-sanitize"
)


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> Guest:
    return Guest(tmp_path_factory.mktemp("stress"), kernel, world)


def test_a_thousand_flows_at_once_of_all_senders_by_turns_all_arrive(guest: Guest) -> None:
    found = guest.call(guest_modules.crowd, link=link(), algorithms=algorithms(), flows=FLOWS)
    assert found["got_bytes"] == FLOWS * guest_modules.SIZE_BYTES
    assert 1 <= found["most_cwnd_pkts"] < guest_modules.SIZE_BYTES


def test_a_used_module_is_never_unloaded_and_a_thousand_loads_leave_no_memory_in_use(guest: Guest) -> None:
    requested = {"module": "tcp_search", "algorithm": load_ccas()["search"].algorithm, "times": LOADS}
    reloaded = guest.call(guest_modules.reloaded, link=link(SLOW), **requested)
    assert reloaded["refused"] == LOADS
    assert reloaded["moved_bytes"] > LOADS * guest_modules.OWN_BYTES
    grown_kb = {name: reloaded["late"][name] - before for name, before in reloaded["early"].items()}
    assert max(grown_kb.values()) < LEAST_GROWTH_KB, grown_kb


@where_memory_fails
@pytest.mark.parametrize("algorithm", ["search", "best", "bbr3", "leocc", "vivace"])
def test_a_flow_without_memory_of_its_own_goes_on_arrives_and_is_counted(guest: Guest, algorithm: str) -> None:
    requested = {"module": f"tcp_{algorithm}", "parameter": "no_memory_flows"}
    found = guest.call(guest_failslab.starved_module, link=link(), algorithms=[algorithm], **requested)
    assert found["counted"] == {algorithm: 1}
    assert found["facts"][algorithm]["got_bytes"] == SIZE_BYTES


@where_memory_fails
def test_every_sender_arrives_in_a_kernel_where_one_allocation_in_twenty_fails(guest: Guest) -> None:
    found = guest.call(guest_failslab.starved_kernel, link=link(), algorithms=algorithms())
    assert {facts["got_bytes"] for facts in found["facts"].values()} == {SIZE_BYTES}
    assert min(found["failed"].values()) > 10


@where_bugs_show
@pytest.mark.parametrize("sender", load_ccas())
def test_a_trial_of_each_sender_leaves_the_kernel_silent(guest: Guest, sender: str) -> None:
    experiment = experiment_on(SMALL, sender)
    plan = make_plan(experiment, experiment.ccas[sender], draw(experiment, 1)) | {"preload": None}
    assert 1 < guest.call(guest_trial.trial, plan=plan) < SMALL.down.rate_mbps


LEAST_CWND_PKTS = 10  # what every flow begins with (RFC 6928): none was stuck below it for its whole life
PACKET_BYTES = 1514
HELD_BYTES = 20e6 / 8 * 0.1 + 500_000  # by the small path, its queue full
A_ROUND_MULTIPLIES = 2  # the window in slow start, at most,
# Hybla's by 2^(least RTT / 25 ms) (tcp_hybla.c). Vivace's is twice what its rate needs, which doubles with each
# interval: two more begin before one that was too fast is measured (tcp_vivace.c; stated after a window of 12 times).
MULTIPLIED = {"hybla": 2**4, "vivace": 2 * 2**2}


@pytest.fixture(scope="module")
def hard_guest(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> Guest:
    return Guest(tmp_path_factory.mktemp("hardships"), kernel, world)


def most_cwnd_pkts(sender: str, packet_bytes: int = PACKET_BYTES) -> float:
    """Bound a window: it fills the path and its queue once more, twice for the round in which losses are heard of."""
    return HELD_BYTES / packet_bytes * A_ROUND_MULTIPLIES * MULTIPLIED.get(sender, A_ROUND_MULTIPLIES)


def suffered(hard_guest: Guest, hardship: Hardship, packet_bytes: int = PACKET_BYTES) -> Facts:
    """Have every sender suffer it; every flow must arrive whole, with a congestion window that makes sense."""
    requested = {"link": link(), "algorithms": algorithms(), "hardship": hardship.__name__}
    facts: Facts = hard_guest.call(guest_hardships.suffered, **requested)
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
def test_a_flow_survives(hard_guest: Guest, hardship: Hardship, counters: list[str], bytes_: int) -> None:
    facts = suffered(hard_guest, hardship)
    assert without(facts, *counters) == []
    assert {found["got_bytes"] for found in facts.values()} == {bytes_}


def test_a_flow_survives_tiny_segments(hard_guest: Guest) -> None:
    facts = suffered(hard_guest, guest_hardships.tiny_mss, LEAST_MSS_BYTES)
    for found in facts.values():
        assert found["server.TcpOutSegs"] > found["got_bytes"] / LEAST_MSS_BYTES


def test_a_flow_survives_congestion_marks_and_retransmits_for_none(hard_guest: Guest) -> None:
    facts = suffered(hard_guest, guest_hardships.marks)
    assert without(facts, "client.IpExtInCEPkts") == []
    assert {
        sender: found["server.TcpRetransSegs"] for sender, found in facts.items() if found.get("server.TcpRetransSegs")
    } == {}
    assert {found["got_bytes"] for found in facts.values()} == {SIZE_BYTES}


def test_a_flow_survives_every_change_of_its_congestion_control(hard_guest: Guest) -> None:
    names = algorithms()
    found = hard_guest.call(guest_hardships.switched, link=link(), algorithms=names)
    assert len(found["switches"]) == len(names) * (len(names) - 1)
    # It was each of them: what one multiplies, the next may multiply again before a loss is heard of.
    most_pkts = HELD_BYTES / PACKET_BYTES * A_ROUND_MULTIPLIES * prod(MULTIPLIED.values())
    assert LEAST_CWND_PKTS <= found["most_cwnd_pkts"] <= most_pkts
