# SPDX-License-Identifier: GPL-2.0-or-later
"""What the evaluation computes of a stored run, against the run's own tables."""

import polars as pl
import pytest
from lab_papers.evaluation.rules import constants, scores
from lab_papers.evaluation.senders import SIZES_MB, values

from lab.judge.registry import TRUTH
from lab.judge.stored import Stored
from lab.tables.stored_run import Run
from tests.stored_run import store_run


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return Stored.of(Run(store_run(tmp_path_factory.mktemp("results"), trials=2, senders=("search", "cubic", "bbr"))))


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
