# SPDX-License-Identifier: GPL-2.0-or-later
"""Edges of stored runs: any damaged table of any trial is missing, and a claim counts valid trials under its rule."""

from pathlib import Path

import pytest
from lab_papers.evaluation.claims.measured import Measured

from lab.judge.registry import TRUTH
from lab.judge.stored import Stored
from lab.tables.stored_run import Run
from lab.tables.stored_trial import TABLES, Trial
from tests.stored_run import store_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_run(tmp_path_factory.mktemp("edges"), trials=3)


@pytest.mark.parametrize("table", TABLES)
def test_a_trial_with_any_table_cut_short_is_not_whole(run: Path, table: str) -> None:
    folder = run / "trials" / "cubic-003"
    file = folder / f"{table}.parquet"
    content = file.read_bytes()
    assert Trial(folder).is_whole
    try:
        file.write_bytes(content[:-1])
        assert not Trial(folder).is_whole
    finally:
        file.write_bytes(content)


def test_a_claim_counts_valid_trials_only(run: Path) -> None:
    measured = Measured(Stored.of(Run(run)), {})
    counts = {cca: measured.estimate({"cca": cca, "values": {}}, "early_pct", None).trials for cca in ("bbr", "search")}  # type: ignore[typeddict-item]
    assert counts == {"bbr": 2, "search": 3}


def test_a_claim_is_judged_by_the_scenarios_rule_and_not_by_the_true_queue(run: Path) -> None:
    found = Stored.of(Run(run))
    ours = Measured(found, {}).estimate({"cca": "search", "values": {}}, "capacity_s", None)  # type: ignore[typeddict-item]
    of_rule = {
        rule: found.judged.outcomes.filter("valid", cca="search", heuristic=rule)["capacity_s"].mean()
        for rule in ("latency_offset", TRUTH)
    }
    assert ours.value == pytest.approx(of_rule["latency_offset"])
    assert of_rule["latency_offset"] != pytest.approx(of_rule[TRUTH])
