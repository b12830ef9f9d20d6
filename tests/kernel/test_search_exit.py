# SPDX-License-Identifier: GPL-2.0-or-later
"""How versions of SEARCH leave slow start in the kernel, after idle and where the application is the limit too."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from lab.backends.records import TrialError
from lab.images.image import Image
from lab.judge.rules.truth import capacity_s
from lab.kernel.build import Kernel
from lab.links.profile import Profile
from lab.runs.plan import MSS_BYTES
from lab.tables.exits import EXIT_EVENT
from lab.tables.stored_trial import Trial
from lab.tables.trace import Events
from tests.brief import present
from tests.command import lab_ok
from tests.conftest import SMALL, Bench, experiment_on
from tests.exact_links import bdp_pkts, deep
from tests.guest import search as guest_search
from tests.guest.search import Case, Exit
from tests.own_modules import hook, source, written
from tests.search_acks import PUBLISHED, VERSIONS
from tests.search_trials import ACK, plan_of, run, sender
from tests.stress import Guest, link

DEEP = SMALL.model_copy(update={"down": SMALL.down.model_copy(update={"buffer_bytes": 2_000_000})})
BDP_PKTS = 20e6 / 8 * 0.1 / MSS_BYTES
BASE_RTT_NS = 100_000_000
PROBE = "tcp:tcp_probe"


class Left:
    """The exits of a trial's download, and its window after the first of them."""

    def __init__(self, events: Events) -> None:
        ports, counts = np.unique(events[ACK]["dport"], return_counts=True)
        self.port = ports[counts.argmax()]
        self.exits = self._own(events[EXIT_EVENT])
        probe = self._own(events[PROBE])
        self.after = probe[probe["t_ns"] > self.exits[0]["t_ns"]]

    def _own(self, events: NDArray[np.void]) -> NDArray[np.void]:
        own: NDArray[np.void] = events[events["dport"] == self.port]
        return own

    @property
    def cause(self) -> str:
        return str(self.exits[0]["cause"].decode())


def left(folder: Path, kernel: Kernel, world: Image, profile: Profile, name: str, **params: int) -> Left:
    return Left(run(plan_of(profile, sender(name, **params)), folder, kernel, world))


@pytest.mark.parametrize("name", ["search2", "search31"])
def test_an_exit_keeps_the_window_unless_requested(tmp_path: Path, kernel: Kernel, world: Image, name: str) -> None:
    trial = left(tmp_path, kernel, world, DEEP, name)
    assert trial.cause == "search"
    assert trial.exits[0]["cwnd_pkts"] == trial.exits[0]["ssthresh_pkts"]
    assert trial.after[0]["snd_cwnd"] == trial.exits[0]["cwnd_pkts"]


@pytest.mark.parametrize("name", ["search2", "search31"])
def test_a_roll_back_takes_two_initial_rtts_at_once(tmp_path: Path, kernel: Kernel, world: Image, name: str) -> None:
    """The link is full: in five bins of 0.35 RTT it delivered 1.75 bandwidth-delay products."""
    trial = left(tmp_path, kernel, world, DEEP, name, on_exit=1)
    exit_ = trial.exits[0]
    assert int(exit_["cwnd_pkts"]) - int(exit_["ssthresh_pkts"]) == pytest.approx(1.75 * BDP_PKTS, rel=0.1)
    assert trial.after[0]["snd_cwnd"] == exit_["ssthresh_pkts"]


def test_search4_drains_to_a_bandwidth_delay_product_and_goes_on_from_there(
    tmp_path: Path, kernel: Kernel, world: Image
) -> None:
    trial = left(tmp_path, kernel, world, DEEP, "search4")
    target = int(trial.exits[0]["ssthresh_pkts"])
    cwnd = trial.after["snd_cwnd"].astype(int)
    reached = int(np.argmax(cwnd == target))
    assert target == pytest.approx(1.05 * BDP_PKTS, rel=0.1)  # three bins of 0.35 RTT
    assert cwnd[reached] == target
    assert (np.diff(cwnd[:reached]) <= 1).all()  # no growth but the grants'
    assert cwnd.min() == target
    assert trial.after["t_ns"][reached] - trial.exits[0]["t_ns"] < 10 * BASE_RTT_NS


@pytest.mark.parametrize("name", ["search1", "search2", "search31", "search4"])
def test_an_exit_by_loss_is_reported_with_its_cause(tmp_path: Path, kernel: Kernel, world: Image, name: str) -> None:
    shallow = SMALL.model_copy(update={"down": SMALL.down.model_copy(update={"buffer_bytes": 100_000})})
    trial = left(tmp_path, kernel, world, shallow, name)
    assert trial.cause == "loss"
    assert trial.exits[0]["cwnd_pkts"] > trial.exits[0]["ssthresh_pkts"]


@pytest.mark.parametrize(
    ("name", "wrong", "reported"),
    [
        ("search2", {"bins": 4}, "tcp_search2: bins=4: must be a whole number from 5 to 100"),
        ("search2", {"on_exit": 2}, "tcp_search2: on_exit=2: must be a whole number from 0 to 1"),
        ("search31", {"bins": 12, "extra_bins": 13}, "bins=12 extra_bins=13: must be at most 24 in all"),
    ],
)
def test_a_module_refuses_what_it_cannot_do(
    tmp_path: Path, kernel: Kernel, world: Image, name: str, wrong: dict[str, int], reported: str
) -> None:
    with pytest.raises(TrialError, match=reported):
        left(tmp_path, kernel, world, SMALL, name, **wrong)


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
    plateau_s = present(capacity_s(trial.qdisc, trial.link))
    exit_ = trial.exits.row(0, named=True)
    assert trial.valid
    assert exit_["cause"] == "search"
    assert 1 < round_trips(trial, plateau_s + rtt_ms / 1e3, exit_["t_s"]) < 3


Again = dict[str, float]


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> dict[str, Again]:
    guest = Guest(tmp_path_factory.mktemp("again"), kernel, world)
    found: dict[str, Again] = guest.call(guest_search.slow_started_again, link=link(SMALL), versions=list(VERSIONS))
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_all_decide_bins_in_an_epochs_first_second_but_published_code(again: dict[str, Again], version: str) -> None:
    row = again[version]
    assert row["epoch_at_most_s"] < 1
    assert row["cwnd_pkts"] < row["ssthresh_pkts"]  # in slow start
    assert row["bins"] == 0 if version in PUBLISHED else row["bins"] >= 3  # of four round trips


RATE_MBPS, RTT_MS = 20.0, 100.0
BULK_BDP_PKTS = bdp_pkts(RATE_MBPS, RTT_MS)
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
    assert exits["after"]["cwnd_pkts"] > BULK_BDP_PKTS


def test_where_no_idle_is_reported_a_silence_is_a_false_exit_unless_missed_bins_start_again(guest: Guest) -> None:
    """What the tests above would see of a sender that keeps its bins over a silence."""
    requested = {"link": link(deep(RATE_MBPS, RTT_MS)), "sends": PAUSE, "sysctls": NO_RESTART}
    kept, fixed = guest.call(
        guest_search.watched, cases=[("search2_printed", {}), ("search2_printed", {"missed_bins_max": 5})], **requested
    )
    assert kept["after"]["cwnd_pkts"] < BULK_BDP_PKTS < fixed["after"]["cwnd_pkts"]


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
    exit_ = present(sipped[list(MINDING).index(version)]["after"])
    assert exit_["retrans"] == 0
    assert exit_["cwnd_pkts"] > BULK_BDP_PKTS


def test_one_that_does_not_mind_takes_the_application_for_the_link(sipped: list[dict[str, Exit]]) -> None:
    exit_ = present(sipped[-1]["before"])
    assert exit_["cwnd_pkts"] < BULK_BDP_PKTS


OPTIONS = ("--links", "wired", "--against", "reno", "--trials", "1", "--duration", "2", "--jobs", "2")


def from_threshold(threshold_pkts: int) -> str:
    code = f"static void begin(struct sock *sk)\n{{\n\ttcp_sk(sk)->snd_ssthresh = {threshold_pkts};\n}}\n"
    return source("ahead", code, init="begin")


def at_window(window_pkts: int, then: str) -> str:
    """Return a sender of an infinite threshold, and its rule once the window is reached."""
    body = f"""struct tcp_sock *tp = tcp_sk(sk);

	tcp_reno_cong_avoid(sk, ack, acked);
	if (tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH && tcp_snd_cwnd(tp) >= {window_pkts}) {{
		{then}
	}}"""
    return source("rule", hook(body), cong_avoid="hook")


LEAVES = "tp->snd_ssthresh = tcp_snd_cwnd(tp);"
MODULES = {
    "window_100": at_window(100, LEAVES),
    "from_100": from_threshold(100),
    "at_50_to_100": at_window(50, "tp->snd_ssthresh = 100;"),
    "lowered": at_window(100, f"{LEAVES}\n\t\ttcp_snd_cwnd_set(tp, 50);"),
    "from_100000": from_threshold(100_000),
}


@pytest.fixture(scope="module")
def exits(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel) -> dict[str, dict[str, object]]:
    assert kernel
    folder = tmp_path_factory.mktemp("watched")
    files = [str(written(folder, content, f"{name}.c")) for name, content in MODULES.items()]
    lab_ok(folder / "results", "try", *files, *OPTIONS)
    trials = next((folder / "results/compare-wired").glob("[0-9]*")) / "trials"
    return {each.name.removesuffix("-001"): Trial(each).exits.to_dicts()[0] for each in trials.iterdir()}


@pytest.mark.parametrize(
    ("sender", "like"),
    [
        pytest.param("ahead_from_100", "rule_window_100", id="a threshold since its begin"),
        pytest.param("rule_at_50_to_100", "rule_window_100", id="a threshold that its rule sets ahead"),
        pytest.param("rule_lowered", "rule_window_100", id="a rule that lowers the window as it leaves"),
        pytest.param("ahead_from_100000", "reno", id="a threshold that a loss comes before"),
    ],
)
def test_slow_start_lasts_until_the_window_has_reached_the_threshold(
    exits: dict[str, dict[str, object]], sender: str, like: str
) -> None:
    fields = ("t_s", "cwnd_pkts", "ssthresh_pkts", "cause")
    assert {field: exits[sender][field] for field in fields} == {field: exits[like][field] for field in fields}
