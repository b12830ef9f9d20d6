# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH starts again after idle: a pause in mid slow start is no reason to exit, and the plateau after it is."""

import pytest

from lab.images.image import Image
from lab.kernel.build import Kernel
from tests.exact_links import bdp_pkts, deep
from tests.guest import search as guest_search
from tests.guest.search import Case, Exit
from tests.search_acks import VERSIONS
from tests.stress import Guest, link

RATE_MBPS, RTT_MS = 20.0, 100.0
BDP_PKTS = bdp_pkts(RATE_MBPS, RTT_MS)
# Four round trips of slow start; then 0.37 s in which nothing is sent: more than a retransmission timeout of 0.3 s, and
# a gap of ten or eleven bins, a whole window, between ACKs.
PAUSE = [(120_000, 0.68)]
NO_RESTART = {"net.ipv4.tcp_slow_start_after_idle": "0"}


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> Guest:
    return Guest(tmp_path_factory.mktemp("idle"), kernel, world)


@pytest.fixture(scope="module")
def paused(guest: Guest) -> list[dict[str, Exit]]:
    cases: list[Case] = [(version, {}) for version in VERSIONS]
    path = link(deep(RATE_MBPS, RTT_MS))
    exits: list[dict[str, Exit]] = guest.call(guest_search.watched, link=path, cases=cases, sends=PAUSE)
    return exits


@pytest.mark.parametrize("version", VERSIONS)
def test_after_idle_it_goes_on_in_slow_start_until_it_is_full(paused: list[dict[str, Exit]], version: str) -> None:
    exits = paused[VERSIONS.index(version)]
    assert exits["before"] is None
    assert exits["after"] is not None
    assert exits["after"]["retrans"] == 0
    assert exits["after"]["cwnd_pkts"] > BDP_PKTS


def test_where_no_idle_is_reported_a_silence_is_a_false_exit_unless_missed_bins_start_again(guest: Guest) -> None:
    """What the tests above would see of a sender that keeps its bins over a silence."""
    requested = {"link": link(deep(RATE_MBPS, RTT_MS)), "sends": PAUSE, "sysctls": NO_RESTART}
    kept, fixed = guest.call(
        guest_search.watched, cases=[("search2_printed", {}), ("search2_printed", {"missed_bins_max": 5})], **requested
    )
    assert kept["after"]["cwnd_pkts"] < BDP_PKTS < fixed["after"]["cwnd_pkts"]
