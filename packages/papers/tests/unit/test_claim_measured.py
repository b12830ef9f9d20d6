# SPDX-License-Identifier: GPL-2.0-or-later
"""A claim counts valid trials, under the rule of its scenario."""

from pathlib import Path

import pytest
from lab_papers.evaluation.claims.measured import Measured

from lab.judge.registry import TRUTH
from lab.judge.stored import Stored
from lab.tables.stored_run import Run
from tests.stored_run import store_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_run(tmp_path_factory.mktemp("edges"), trials=3)


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
