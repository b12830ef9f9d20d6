# SPDX-License-Identifier: GPL-2.0-or-later
"""From a trial's tables to its rows, and from rows to the summary."""

import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from lab.base.errors import UserError
from lab.judge.loss import SLACK_S, drops_s, first_loss_s
from lab.judge.outcome import SCHEMA, outcome, outcomes
from lab.judge.registry import TRUTHS, inferred, rules
from lab.judge.representative import representatives
from lab.judge.summary import CLASSES, summarise
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from tests.brief import present
from tests.stored_run import LINK, SENDERS, store_run

MEANS = ("capacity_s", "loss_s", "exit_s", "throughput_mbps", "retransmits_pkts")
CONTRACT = [
    *("cca", "heuristic", "trials", "valid", "early_pct", "chokepoint_pct", "late_pct"),
    *(name + suffix for name in MEANS for suffix in ("", "_sd")),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(store_run(tmp_path_factory.mktemp("results")))


@pytest.fixture(scope="module")
def judged(run: Run) -> pl.DataFrame:
    return outcomes(run.trials)


@pytest.fixture(scope="module")
def summary(judged: pl.DataFrame) -> pl.DataFrame:
    return summarise(judged, list(SENDERS))


def row(summary: pl.DataFrame, cca: str, heuristic: str) -> dict[str, Any]:
    return summary.filter(cca=cca, heuristic=heuristic).row(0, named=True)


def test_each_trial_has_a_row_per_rule(judged: pl.DataFrame, run: Run) -> None:
    assert judged.group_by("cca", "trial").agg("heuristic")["heuristic"].to_list() == [list(rules())] * len(run.trials)


def test_in_truth_each_modelled_sender_has_the_class_it_was_made_for(judged: pl.DataFrame) -> None:
    true = judged.filter(heuristic="truth").unique("cca").select("cca", "exit_class").rows()
    assert dict(true) == {"search": "chokepoint", "cubic": "early", "cubic_plain": "late", "bbr": "chokepoint"}
    assert judged["loss_agrees"].all()  # with the drops, in every trial
    hystart = judged.filter(cca="cubic", heuristic="truth")  # what did not happen is null
    assert hystart["capacity_s"].null_count() == hystart["loss_s"].null_count() == hystart.height


def test_the_rows_of_trials_without_a_loss_have_the_types_of_all_others(run: Run) -> None:
    hystart = outcomes([trial for trial in run.trials if trial.cca == "cubic"])
    assert hystart["loss_s"].null_count() == hystart.height > 0
    assert hystart.schema == SCHEMA
    assert outcomes([]).schema == SCHEMA


@pytest.mark.parametrize(("margin_s", "agrees"), [(0.01, True), (-0.01, False)])
def test_a_loss_agrees_with_a_drop_as_long_as_the_trials_own_queue_can_have_taken_to_drain(
    run: Run, margin_s: float, agrees: bool
) -> None:
    trial = next(trial for trial in run.trials if trial.cca == "cubic_plain")
    lost_s, dropped_s = present(first_loss_s(trial.packets, 1)), drops_s(trial.packets, trial.qdisc)[0]
    drain_s = LINK.buffer_bytes * 8 / (LINK.rate_mbps * 1e6)
    latest_s = dropped_s + drain_s + trial.meta["base_rtt_ms"] / 1e3 + SLACK_S
    trial.__dict__["qdisc"] = trial.qdisc.with_columns(pl.col("t_s") + (lost_s - latest_s + margin_s))
    assert {row["loss_agrees"] for row in outcome(trial)} == {agrees}


def test_a_trial_that_never_left_slow_start_is_valid_and_has_no_class(run: Run) -> None:
    trial = run.trials[0]
    trial.__dict__["exits"] = trial.exits.clear()
    rows = outcome(trial)
    assert [row["exit_class"] for row in rows] == [None] * len(rules())
    assert [row["exit_s"] for row in rows] == [None] * len(rules())


def test_an_exit_without_an_rtt_has_no_bitrate_and_no_class_by_median(run: Run) -> None:
    trial = run.trials[0]
    trial.__dict__["exits"] = trial.exits.with_columns(rtt_ms=pl.lit(None, pl.Float64))
    by_heuristic = {row["heuristic"]: row for row in outcome(trial)}
    assert by_heuristic["median_throughput_after"]["exit_bitrate_mbps"] is None
    assert by_heuristic["median_throughput_after"]["exit_class"] is None
    assert by_heuristic["truth"]["exit_class"] == "chokepoint"


def test_an_empty_capture_is_judged_by_the_queue_alone(run: Run) -> None:
    trial = run.trials[0]
    trial.__dict__["packets"] = trial.packets.clear()
    assert [row["exit_class"] for row in outcome(trial)] == [None] * len(inferred()) + ["chokepoint"] * len(TRUTHS)


def test_reading_a_run_keeps_no_tables_in_memory(run: Run) -> None:
    trials = run.trials
    outcomes(trials)
    assert not any("packets" in trial.__dict__ for trial in trials)


def test_the_summary_has_the_public_interfaces_columns_and_an_invalid_trial_in_no_percentage_or_mean(
    summary: pl.DataFrame,
) -> None:
    assert summary.columns[: len(CONTRACT)] == CONTRACT
    assert summary.select("cca", "heuristic").rows() == [(cca, name) for cca in SENDERS for name in rules()]
    bbr = row(summary, "bbr", "truth")
    assert (bbr["trials"], bbr["valid"], bbr["judged"]) == (3, 2, 2)
    assert bbr["throughput_mbps"] == pytest.approx(6.5)


def test_the_shares_of_judged_trials_add_up_to_100_and_a_mean_of_what_never_was_is_null(summary: pl.DataFrame) -> None:
    judged = summary.filter(pl.col("judged") > 0)
    sums_pct = judged.select(pl.sum_horizontal(f"{name}_pct" for name in CLASSES))["early_pct"].to_list()
    assert sums_pct == pytest.approx([100] * judged.height)
    hystart = row(summary, "cubic", "truth")
    assert (hystart["capacity_s"], hystart["capacity_s_sd"], hystart["capacity_trials"]) == (None, None, 0)


def test_a_sender_without_a_valid_trial_keeps_its_row(judged: pl.DataFrame) -> None:
    bbr = row(summarise(judged.with_columns(valid=False), ["bbr"]), "bbr", "truth")
    fields = ("trials", "valid", "early_pct", "early_lo_pct", "exit_s")
    assert [bbr[field] for field in fields] == [3, 0, None, None, None]


@pytest.mark.parametrize(
    ("valid", "exits_s", "shown"),
    [
        ([True, True, True, True, False], [12.0, 13.0, None, 11.0, 99.0], {"search": 1}),  # of the median exit
        ([False, True, True], [None, None, None], {"search": 2}),  # without any exit the first valid one
        ([False], [1.0], {}),
    ],
)
def test_the_trial_shown_is_the_valid_one_with_the_median_exit_time(
    valid: list[bool], exits_s: list[float | None], shown: dict[str, int]
) -> None:
    columns = {"cca": "search", "trial": range(1, len(valid) + 1), "valid": valid, "exit_s": exits_s}
    assert representatives(pl.DataFrame(columns, schema_overrides={"exit_s": pl.Float64})) == shown


def test_a_damaged_table_is_a_user_error_that_names_the_file(tmp_path: Path) -> None:
    run = Run(store_run(tmp_path, trials=1))
    (run.path / "trials" / "search-001" / "packets.parquet").write_bytes(b"PAR1 cut short")
    (fault,) = run.faults
    assert "search-001/packets.parquet: " in fault
    assert all(trial.cca != "search" for trial in run.trials)
    with pytest.raises(UserError, match=r"search-001/packets\.parquet"):
        _ = Trial(run.path / "trials" / "search-001").packets


def test_another_process_reads_and_checks_a_run_itself(tmp_path: Path) -> None:
    run = Run(store_run(tmp_path, trials=1))
    assert "search" in {trial.cca for trial in run.trials}
    (run.path / "trials" / "search-001" / "packets.parquet").write_bytes(b"PAR1 cut short")
    there: Run = pickle.loads(pickle.dumps(run))  # noqa: S301 - our own bytes
    assert "search" not in {trial.cca for trial in there.trials}
    assert there.trial("search", 1) is None
    assert present(there.trial("cubic", 1)).number == 1
