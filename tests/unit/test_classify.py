# SPDX-License-Identifier: GPL-2.0-or-later
"""The class of an exit, rule by rule, behind a queue that manages itself too; and the summary of a run."""

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.base.stats import wilson_pct
from lab.judge import digest
from lab.judge.ack_stream import windows
from lab.judge.classify import ExitClass, by_bitrate, by_time
from lab.judge.loss import first_mark_s
from lab.judge.outcome import SCHEMA
from lab.judge.rate_rule import first_reached_s
from lab.judge.registry import rules
from lab.judge.rule import Evidence
from lab.judge.rules import lasting
from lab.judge.slow_start import SlowStartExit, first_exit
from lab.judge.summary import summarise
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from tests.brief import present
from tests.slow_start_model import FRAME_BYTES, INTERVAL_S, PACKETS, TARGET_S, Download, Path, download, packet
from tests.stored_run import store_run
from tests.unit.test_heuristics_of_capacity import last_empty_s

LEFT = SlowStartExit(t_s=10.0, cwnd_pkts=1000, rtt_ms=600.0, cause="search")
LEFT_UPON_LOSS = replace(LEFT, cause="loss")
times = st.floats(0, 100)
maybe_times = st.none() | times


@pytest.mark.parametrize(
    ("left", "capacity_s", "signal_s", "found"),
    [
        (LEFT, 10.1, 17.0, ExitClass.EARLY),  # before the capacity
        (LEFT, 9.0, 17.0, ExitClass.CHOKEPOINT),
        (LEFT, 10.0, None, ExitClass.CHOKEPOINT),  # at the very moment of capacity
        (LEFT_UPON_LOSS, 9.0, None, ExitClass.LATE),  # the kernel ascribes it to loss
        (LEFT, 9.0, 10.0, ExitClass.LATE),  # with the first loss, whatever its cause
        (LEFT_UPON_LOSS, 12.0, 9.9, ExitClass.EARLY),
        (LEFT, None, None, ExitClass.EARLY),  # from a link that never fills
        (LEFT_UPON_LOSS, None, 9.9, ExitClass.LATE),  # though the rule never saw the capacity
        (replace(LEFT, cause="timeout"), None, None, by_time(LEFT_UPON_LOSS, None, None)),  # a timeout is a loss
    ],
)
def test_an_exit_is_judged_by_the_times_of_capacity_and_of_the_first_signal(
    left: SlowStartExit, capacity_s: float | None, signal_s: float | None, found: ExitClass
) -> None:
    assert by_time(left, capacity_s, signal_s) is found


def test_what_never_left_slow_start_or_has_no_capacity_but_signs_of_a_queue_is_not_judged() -> None:
    assert by_time(LEFT, capacity_s=None, signal_s=None, filling=True) is None
    assert by_time(None, capacity_s=9.0, signal_s=None) is None
    assert by_bitrate(None, 100.0, 90.0, None) is None


@pytest.mark.parametrize(
    ("left", "bitrate", "median", "signal_s", "found"),
    [
        (LEFT, 89.9, 90.0, None, ExitClass.EARLY),
        (LEFT, 90.0, 90.0, None, ExitClass.CHOKEPOINT),
        (LEFT_UPON_LOSS, 95.0, 90.0, 9.9, ExitClass.LATE),
        (LEFT_UPON_LOSS, 85.0, 90.0, 9.9, ExitClass.EARLY),
        (LEFT, None, 90.0, None, None),
        (LEFT, 90.0, None, None, None),
    ],
)
def test_by_median_throughput_a_lower_bitrate_is_early_and_a_loss_else_late(
    left: SlowStartExit, bitrate: float | None, median: float | None, signal_s: float | None, found: ExitClass | None
) -> None:
    assert by_bitrate(left, bitrate, median, signal_s) is found


@given(times, times, maybe_times)
def test_a_later_exit_is_never_in_an_earlier_class(exit_s: float, capacity_s: float, loss_s: float | None) -> None:
    order = list(ExitClass)
    now = present(by_time(replace(LEFT, t_s=exit_s), capacity_s, loss_s))
    later = present(by_time(replace(LEFT, t_s=exit_s + 1), capacity_s, loss_s))
    assert order.index(now) <= order.index(later)


HOME = Path(rate_mbps=100, base_rtt_ms=20, buffer_bytes=32_000_000, duration_s=1, codel=True)
EVERY_S = 0.0003
FULL_PKTS = HOME.rate_mbps * 1e6 * HOME.base_rtt_ms / 8e3 / FRAME_BYTES  # window that fills the path


def first_signal_s(model: Download) -> float:
    """CoDel's first signal from the exact times of all frames: the first that ends an interval above the target."""
    sending_s = FRAME_BYTES * 8 / (model.path.rate_mbps * 1e6)
    began_s = [(leaves_s - sending_s, leaves_s - sending_s - enters_s) for enters_s, leaves_s in sorted(model.queue)]
    above_s = None
    for leaves_s, waited_s in began_s:
        above_s = None if waited_s < TARGET_S else leaves_s if above_s is None else above_s
        if above_s is not None and leaves_s >= above_s + INTERVAL_S:
            return leaves_s
    raise AssertionError


def judged(path: Path) -> tuple[str | None, float | None, float | None]:
    """Return the class of the model's exit, its capacity and its first mark, from its tables alone."""
    model = download(path)
    left, mark_s = first_exit(model.tables()["exits"]), first_mark_s(model.tables()["packets"])
    capacity_s = lasting.capacity_s(model.qdisc(EVERY_S), path.link, left.t_s if left else None)
    return by_time(left, capacity_s, mark_s), capacity_s, mark_s


def test_the_queue_stands_and_is_first_marked_when_the_exact_model_has_it() -> None:
    model = download(HOME)
    _, capacity_s, mark_s = judged(HOME)
    signal_s = first_signal_s(model)
    assert capacity_s == pytest.approx(last_empty_s(model, signal_s), abs=2 * EVERY_S)
    assert mark_s == pytest.approx(signal_s + HOME.base_rtt_ms / 2e3, abs=FRAME_BYTES * 8e-6 / HOME.rate_mbps + 1e-9)
    assert capacity_s is not None
    assert mark_s is not None
    assert mark_s - capacity_s > INTERVAL_S
    assert judged(replace(HOME, codel=False))[2] is None


@pytest.mark.parametrize(
    ("exit_cwnd_pkts", "found"),
    [
        (round(FULL_PKTS / 2), "early"),
        (round(1.5 * FULL_PKTS), "chokepoint"),
        (None, "late"),  # the mark ends slow start
    ],
)
def test_an_exit_is_judged_by_the_standing_queue_and_the_mark(exit_cwnd_pkts: int | None, found: str) -> None:
    assert judged(replace(HOME, exit_cwnd_pkts=exit_cwnd_pkts))[0] == found


def outcome(trial: int, exit_class: str | None, exit_s: float | None, **changes: object) -> dict[str, object]:
    row = {"cca": "search", "trial": trial, "valid": True, "heuristic": "truth", "data_s": 1.0, "throughput_mbps": 5.0}
    return dict.fromkeys(SCHEMA) | row | {"exit_class": exit_class, "exit_s": exit_s} | changes


ROWS = [
    outcome(1, "early", 2.0, capacity_s=3.0),
    outcome(2, "early", 4.0, capacity_s=5.0, loss_s=9.0),
    outcome(3, "late", 6.0, capacity_s=4.0, loss_s=5.0, throughput_mbps=8.0),
    outcome(4, None, None),
    outcome(5, "chokepoint", 100.0, valid=False, capacity_s=100.0),
    outcome(6, "chokepoint", 100.0, cca="cubic"),
    outcome(7, "chokepoint", 100.0, heuristic="latency_offset"),
]


@pytest.fixture(scope="module")
def row() -> dict[str, object]:
    summary = summarise(pl.DataFrame(ROWS, schema=SCHEMA, orient="row"), ["search"])
    assert summary["heuristic"].to_list() == list(rules())
    return summary.row(by_predicate=pl.col("heuristic") == "truth", named=True)


def test_an_invalid_trial_counts_nowhere_else_and_shares_have_wilsons_interval(row: dict[str, object]) -> None:
    assert (row["trials"], row["valid"], row["judged"]) == (5, 4, 3)
    assert (row["exit_trials"], row["capacity_trials"], row["loss_trials"]) == (3, 3, 2)
    assert row["chokepoint_pct"] == 0
    assert row["early_pct"] == pytest.approx(200 / 3)
    assert (row["early_lo_pct"], row["early_hi_pct"]) == pytest.approx((20.765, 93.851), abs=0.01)
    assert (row["late_lo_pct"], row["late_hi_pct"]) == pytest.approx(wilson_pct(1, 3))
    assert row["chokepoint_lo_pct"] == pytest.approx(0)


def test_means_are_over_the_trials_with_the_event_from_the_syn_and_from_the_first_data(row: dict[str, object]) -> None:
    assert (row["exit_s"], row["exit_s_sd"]) == pytest.approx((4, 2))
    assert (row["loss_s"], row["capacity_s"]) == pytest.approx((7, 4))
    assert (row["throughput_mbps"], row["throughput_mbps_sd"]) == pytest.approx((5.75, 1.5))
    assert (row["data_s"], row["exit_from_data_s"], row["exit_from_data_s_sd"]) == pytest.approx((1, 3, 2))
    assert (row["loss_from_data_s"], row["capacity_from_data_s"]) == pytest.approx((6, 3))


@pytest.mark.parametrize(("known", "mean"), [((0, 4, 8), 4.0), ((0, None, 8), None), ((0, None, None), None)])
def test_retransmissions_have_a_mean_where_those_of_each_trial_are_known(
    known: tuple[int | None, ...], mean: float | None
) -> None:
    rows = [outcome(number, "late", 1.0, retransmits_pkts=pkts) for number, pkts in enumerate(known, 1)]
    found = summarise(pl.DataFrame(rows, schema=SCHEMA, orient="row"), ["search"])
    assert found.filter(heuristic="truth")["retransmits_pkts"].to_list() == [mean]


def test_without_trials_every_value_is_null_and_every_count_0() -> None:
    empty = summarise(pl.DataFrame(schema=SCHEMA), ["bbr"]).row(0, named=True)
    assert (empty["cca"], empty["trials"], empty["valid"], empty["judged"], empty["exit_trials"]) == ("bbr", 0, 0, 0, 0)
    assert (empty["early_pct"], empty["early_lo_pct"], empty["exit_s"], empty["exit_s_sd"]) == (None, None, None, None)


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> list[Trial]:
    return Run(store_run(tmp_path_factory.mktemp("rules"), trials=2, senders=("search", "cubic"))).trials


def evidence(trial: Trial) -> Evidence:
    return Evidence(trial, first_exit(trial.exits, 1), None)


@pytest.mark.parametrize("name", [name for name, rule in rules().items() if rule.constants])
def test_a_rule_with_its_published_constants_finds_what_it_finds_without(trials: list[Trial], name: str) -> None:
    rule = rules()[name]
    assert rule.constants
    for trial in trials:
        (found,) = rule.constants.judge(evidence(trial), (rule.constants.published,))
        assert found.capacity_s == rule.judge(evidence(trial)).capacity_s
    assert len(rule.constants.published) == len(rule.constants.labels)
    assert all(len(point) == len(rule.constants.labels) for point in rule.constants.grid)


@pytest.mark.parametrize("name", [name for name, rule in rules().items() if rule.rate_mbps])
def test_a_rule_by_rate_dates_the_capacity_by_the_window_that_makes_its_rate(trials: list[Trial], name: str) -> None:
    rule = rules()[name]
    assert rule.rate_mbps
    for trial in trials:
        seen = evidence(trial)
        found = rule.apply(seen)
        rate_mbps = rule.rate_mbps(seen.throughput, seen.exit_s)
        assert found.median_mbps == rate_mbps
        assert found.capacity_s == first_reached_s(windows(trial.acks), trial.meta["mss_bytes"], rate_mbps)
        assert rate_mbps is not None


def test_a_size_was_downloaded_with_the_first_ack_of_the_client_that_covers_it() -> None:
    size = digest.OBJECT_BYTES
    rows = [
        packet(0.1, True, ack_bytes=10 * size),  # what the server acknowledges is no download
        packet(0.2, False, ack_bytes=size),  # the SYN is one of them
        packet(0.3, False, ack_bytes=size + 1),
        packet(0.4, False, ack_bytes=3 * size + 1),
        packet(0.5, False, ack_bytes=2 * size),  # reordered
        packet(0.6, False, ack_bytes=9 * size) | {"flow": 2},
    ]
    times = digest._download_s(pl.DataFrame(rows, schema=PACKETS, orient="row"))
    assert times[:4] == [0.3, 0.4, 0.4, None]
    assert len(times) == digest.OBJECTS
