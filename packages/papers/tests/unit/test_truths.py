# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares by both truths, and how many trials have another class by the other one."""

from dataclasses import replace

import polars as pl
import pytest
from lab_papers.evaluation.truths import shares
from lab_papers.index.heuristics import TRUTHS_HEADER, truths_table

from bench.truths import figures
from lab.judge.frames import Row
from lab.judge.registry import LASTING, TRUTH, TRUTHS
from lab.judge.stored import Stored
from lab.judge.summary import CLASSES, summarise
from lab.tables.stored_run import Run
from tests.stored_run import store_run

SENDERS = ("search", "cubic")
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
