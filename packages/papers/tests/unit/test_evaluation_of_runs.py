# SPDX-License-Identifier: GPL-2.0-or-later
"""What the evaluation makes of a stored run: shares by both truths, values, claims, and averaged round trips."""

from dataclasses import replace

import polars as pl
import pytest
from lab_papers.evaluation.claims.measured import Measured
from lab_papers.evaluation.rtt_cycle import mean_of, of_trials
from lab_papers.evaluation.rules import constants, scores
from lab_papers.evaluation.rules.scores import shares
from lab_papers.evaluation.senders import SIZES_MB, values
from lab_papers.index.heuristics import TRUTHS_HEADER, truths_table

from bench.truths import figures
from lab.judge.ack_stream import ack_stream
from lab.judge.frames import Row
from lab.judge.registry import LASTING, TRUTH, TRUTHS
from lab.judge.stored import Stored
from lab.judge.summary import CLASSES, summarise
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from tests.approved import approved
from tests.stored_run import store_run

SENDERS = ("search", "cubic", "bbr")
NO_VERSIONS = pl.DataFrame()


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return Stored.of(Run(store_run(tmp_path_factory.mktemp("results"), trials=4, senders=SENDERS)))


def with_class(stored: Stored, truth: str, name: str | None) -> Stored:
    """The run, with one class for the first trial of SEARCH by one truth."""
    first = (pl.col("cca") == "search") & (pl.col("trial") == 1) & (pl.col("heuristic") == truth)
    changed = pl.when(first).then(pl.lit(name, dtype=pl.String)).otherwise("exit_class")
    outcomes = stored.judged.outcomes.with_columns(exit_class=changed)
    return replace(stored, judged=replace(stored.judged, outcomes=outcomes))


def of_search(stored: Stored, versions: pl.DataFrame = NO_VERSIONS) -> Row:
    return next(row for row in shares(stored, versions) if row["cca"] == "search" and not row["replayed"])


def test_the_shares_by_each_truth_are_those_of_the_runs_summary(stored: Stored) -> None:
    summary = summarise(stored.judged.outcomes, SENDERS)
    for row in shares(stored, NO_VERSIONS):
        for truth in TRUTHS:
            known = summary.row(by_predicate=(pl.col("cca") == row["cca"]) & (pl.col("heuristic") == truth), named=True)
            for name in ("judged", *(f"{each}{end}_pct" for each in CLASSES for end in ("", "_lo", "_hi"))):
                assert row[f"{truth}_{name}"] == known[name]


@pytest.mark.parametrize(
    ("brief", "lasting", "depends"),
    [("late", "late", 0), ("chokepoint", "early", 1), ("chokepoint", None, 1), (None, None, 0)],
)
def test_a_trial_depends_on_the_choice_where_its_class_is_another_by_the_other_truth(
    stored: Stored, brief: str | None, lasting: str | None, depends: int
) -> None:
    before = of_search(with_class(with_class(stored, TRUTH, "late"), LASTING, "late"))["depends"]
    changed = of_search(with_class(with_class(stored, TRUTH, brief), LASTING, lasting))["depends"]
    assert int(changed or 0) == int(before or 0) + depends


def test_a_replayed_form_has_a_row_of_its_own_scenario(stored: Stored) -> None:
    classes = [("truth", "chokepoint"), ("lasting", "early"), ("heuristic", "late")]
    one = [{"version": "search2", "trial": 1, "judge": judge, "exit_class": found} for judge, found in classes]
    versions = pl.DataFrame([{"scenario": name, **row} for name in (stored.name, "another") for row in one])
    (replayed,) = [row for row in shares(stored, versions) if row["replayed"]]
    assert (replayed["cca"], replayed["trials"], replayed["depends"]) == ("search2", 1, 1)
    assert (replayed["truth_chokepoint_pct"], replayed["lasting_early_pct"]) == (100, 100)


def test_the_table_and_the_figures_of_the_docs_state_both_shares_and_what_depends(stored: Stored) -> None:
    row = of_search(with_class(with_class(stored, TRUTH, "chokepoint"), LASTING, "early"))
    (group,) = truths_table(pl.DataFrame([row]), {}).groups
    cells = dict(zip(TRUTHS_HEADER, group.rows[0].cells, strict=True))
    assert cells["Class depends"] == f"{row['depends']} of 4"
    assert cells["Early (%)"].startswith("1 of 4")
    values = {figure["name"].split(": ", 1)[1]: figure["value"] for figure in figures(row)}
    assert str(values["lasting: early, chokepoint, late"]).startswith("25 / ")
    assert values["class depends"] == row["depends"]


def test_a_senders_capacity_is_the_truths_once_per_valid_trial(stored: Stored) -> None:
    true = stored.judged.outcomes.filter("valid", heuristic=TRUTH)
    table = values(stored)
    columns = ["cca", "trial", "capacity_s", "exit_s"]
    assert table.select(columns).rows() == true.select(columns).rows()
    assert table["capacity_s"].null_count() < table.height
    by_size = [table[name].mean() for name in SIZES_MB]
    known = [mean for mean in by_size if mean is not None]
    assert known == sorted(known)


def test_the_published_point_of_a_grid_misjudges_what_its_rule_misjudges(stored: Stored) -> None:
    truths = scores.trials(stored)
    points = constants.grid(stored, truths).filter("published")
    judged = stored.judged.outcomes.filter("valid", pl.col("exit_class").is_not_null())
    true = judged.filter(heuristic=TRUTH).select("cca", "trial", truth_class="exit_class")
    for row in points.iter_rows(named=True):
        of_rule = judged.filter(heuristic=row["rule"]).join(true, on=["cca", "trial"])
        wrong = of_rule.filter(pl.col("exit_class") != pl.col("truth_class")).height
        assert row["judged"] == of_rule.height > 0
        assert row["misjudged_pct"] == pytest.approx(100 * wrong / of_rule.height)


def test_a_claim_counts_valid_trials_only(stored: Stored) -> None:
    measured = Measured(stored, {})
    counts = {cca: measured.estimate({"cca": cca, "values": {}}, "early_pct", None).trials for cca in ("bbr", "search")}  # type: ignore[typeddict-item]
    assert counts == {"bbr": 3, "search": 4}


def test_a_claim_is_judged_by_the_scenarios_rule_and_not_by_the_true_queue(stored: Stored) -> None:
    ours = Measured(stored, {}).estimate({"cca": "search", "values": {}}, "capacity_s", None)  # type: ignore[typeddict-item]
    of_rule = {
        rule: stored.judged.outcomes.filter("valid", cca="search", heuristic=rule)["capacity_s"].mean()
        for rule in ("latency_offset", TRUTH)
    }
    assert ours.value == pytest.approx(of_rule["latency_offset"])
    assert of_rule["latency_offset"] != pytest.approx(of_rule[TRUTH])


@pytest.fixture
def trials(stored: Stored) -> list[Trial]:
    return [trial for trial in stored.run.trials if trial.cca in ("search", "cubic") and trial.number <= 2]


def averaged(trials: list[Trial], full_s: dict[tuple[str, int], float | None], step_s: float) -> pl.DataFrame:
    return mean_of(of_trials(trials, full_s, step_s), step_s)


def test_the_average_is_the_approved_one(trials: list[Trial]) -> None:
    table = averaged(trials, {(trial.cca, trial.number): None for trial in trials}, 0.1)
    text = table.gather_every(5).with_columns(pl.col(pl.Float64).round_sig_figs(6)).write_csv()
    assert text == approved("slow-start-rtt.csv", text)


def test_the_round_trips_of_slow_starts_are_averaged_where_half_of_the_trials_have_one(trials: list[Trial]) -> None:
    searches = [trial for trial in trials if trial.cca == "search"]
    stream = ack_stream(searches[0].acks)
    t_s = stream["t_us"].to_numpy() / 1e6
    whole_s = {("search", 1): float(t_s[0]) + 1.0, ("search", 2): None}
    alone = averaged(searches, {("search", 1): whole_s["search", 1]}, 0.1)
    assert alone["t_s"].to_list() == pytest.approx([0.1 * step for step in range(alone.height)])
    assert 9 <= alone.height <= 11
    assert alone["rtt_ms"][0] == pytest.approx(stream["rtt_us"][0] / 1e3)
    assert alone["trials"].unique().to_list() == [1]
    both = averaged(searches, whole_s, 0.1)
    assert both["trials"].to_list() == [2] * alone.height + [1] * (both.height - alone.height)
    other = averaged(searches, {("search", 2): None}, 0.1)
    mean = (alone["rtt_ms"] + other["rtt_ms"].head(alone.height)) / 2
    assert both["rtt_ms"].head(alone.height).to_list() == pytest.approx(mean.to_list())
    assert both["rtt_ms"].tail(-alone.height).to_list() == other["rtt_ms"].tail(-alone.height).to_list()


def test_a_step_that_fewer_than_half_of_the_trials_have_is_left_out(trials: list[Trial]) -> None:
    first_s = {trial.path.name: ack_stream(trial.acks)["t_us"][0] / 1e6 for trial in trials}
    short = {
        (trial.cca, trial.number): first_s[trial.path.name] + (2.0 if (trial.cca, trial.number) == ("cubic", 1) else 1)
        for trial in trials[:3]
    }
    table = averaged(trials, {**short, ("cubic", 1): None}, 0.1)
    assert table["trials"].min() == 2 or table["t_s"].max() <= 1.01  # type: ignore[operator]


def test_a_trial_whose_slow_start_had_one_ack_adds_no_round_trips_and_none_no_average(trials: list[Trial]) -> None:
    searches = [trial for trial in trials if trial.cca == "search"]
    first_s = ack_stream(searches[0].acks)["t_us"][0] / 1e6
    alone = averaged(searches, {("search", 2): None}, 0.1)
    both = averaged(searches, {("search", 1): first_s, ("search", 2): None}, 0.1)
    assert both.equals(alone)
    assert averaged(trials, {}, 0.1).is_empty()
