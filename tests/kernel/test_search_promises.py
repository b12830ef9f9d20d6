# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH after idle, where the application is the limit, after a plateau, and in a slow start that comes again."""

import polars as pl
import pytest

from lab.images.image import Image
from lab.judge.rules.truth import capacity_s
from lab.kernel.build import Kernel
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on
from tests.exact_links import bdp_pkts, deep
from tests.guest import search as guest_search
from tests.guest.search import Case, Exit
from tests.search_acks import PUBLISHED, VERSIONS
from tests.stress import Guest, link

LINKS = [(20.0, 100.0), (100.0, 30.0)]  # Mb/s, ms
DURATION_S = 3


def round_trips(trial: Trial, begin_s: float, end_s: float) -> float:
    """Whole round trips between two times, and of the last one the share of its bytes that was acknowledged."""
    acks = trial.acks.filter((pl.col("flow") == 1) & pl.col("t_s").is_between(begin_s, end_s))
    rows: list[tuple[int, int]] = acks.select("snd_una_bytes", "snd_nxt_bytes").rows()
    whole, (first, mark) = 0, rows[0]
    for una, nxt in rows:
        if una >= mark:
            whole, first, mark = whole + 1, una, nxt
    return whole + (rows[-1][0] - first) / (mark - first)


@pytest.mark.parametrize(("rate_mbps", "rtt_ms"), LINKS)
@pytest.mark.parametrize("version", VERSIONS)
def test_it_exits_between_one_and_three_round_trips_after_the_plateau(
    bench: Bench, version: str, rate_mbps: float, rtt_ms: float
) -> None:
    experiment = experiment_on(deep(rate_mbps, rtt_ms), version, duration_s=DURATION_S)
    trial = bench.run(experiment, version, f"plateau-{rate_mbps:.0f}")
    plateau_s = capacity_s(trial.qdisc, trial.link)
    exit_ = trial.exits.row(0, named=True)
    assert trial.valid
    assert plateau_s is not None
    assert exit_["cause"] == "search"
    assert 1 < round_trips(trial, plateau_s + rtt_ms / 1e3, exit_["t_s"]) < 3


Again = dict[str, float]


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> dict[str, Again]:
    guest = Guest(tmp_path_factory.mktemp("again"), kernel, world)
    found: dict[str, Again] = guest.call(guest_search.slow_started_again, link=link(SMALL), versions=list(VERSIONS))
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_all_decide_bins_in_an_epochs_first_second_but_the_published_code(
    again: dict[str, Again], version: str
) -> None:
    row = again[version]
    assert row["epoch_at_most_s"] < 1
    assert row["cwnd_pkts"] < row["ssthresh_pkts"]  # in slow start
    assert row["bins"] == 0 if version in PUBLISHED else row["bins"] >= 3  # of four round trips


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
