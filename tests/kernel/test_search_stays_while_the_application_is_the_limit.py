# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH does not exit while the application is the limit, where a version or parameter minds that."""

import pytest

from lab.images.image import Image
from lab.kernel.build import Kernel
from tests.exact_links import bdp_pkts, deep
from tests.guest import search as guest_search
from tests.guest.search import Exit
from tests.stress import Guest, link

RATE_MBPS, RTT_MS = 20.0, 100.0
BDP_PKTS = bdp_pkts(RATE_MBPS, RTT_MS)
SIPS = [(30_000, 0.08)] * 60  # 3 Mb/s: a seventh of the link, some 26 packets a round trip
ANYTHING_BUT_CWND = {"app_limited": 3}
MINDING = {
    "search1": ANYTHING_BUT_CWND,
    "search2_printed": ANYTHING_BUT_CWND,
    "search31": {},
    "search4": {},
    "search": {},
}
CASES = [*MINDING.items(), ("search2", {"app_limited": 0})]


@pytest.fixture(scope="module")
def sipped(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> list[dict[str, Exit]]:
    guest = Guest(tmp_path_factory.mktemp("limited"), kernel, world)
    path = link(deep(RATE_MBPS, RTT_MS))
    exits: list[dict[str, Exit]] = guest.call(guest_search.watched, link=path, cases=CASES, sends=SIPS)
    return exits


@pytest.mark.parametrize("version", MINDING)
def test_it_does_not_exit_while_the_application_is_the_limit(sipped: list[dict[str, Exit]], version: str) -> None:
    assert sipped[list(MINDING).index(version)]["before"] is None


@pytest.mark.parametrize("version", MINDING)
def test_it_exits_once_the_link_is_the_limit(sipped: list[dict[str, Exit]], version: str) -> None:
    exit_ = sipped[list(MINDING).index(version)]["after"]
    assert exit_ is not None
    assert exit_["retrans"] == 0
    assert exit_["cwnd_pkts"] > BDP_PKTS


def test_one_that_does_not_mind_takes_the_application_for_the_link(sipped: list[dict[str, Exit]]) -> None:
    exit_ = sipped[-1]["before"]
    assert exit_ is not None
    assert exit_["cwnd_pkts"] < BDP_PKTS
