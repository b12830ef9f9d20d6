# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign: what it runs, in which order, and a tenth of it."""

from pathlib import Path

import pytest
from lab_papers.campaign import campaign, load_campaign, quick_trials, stages

from lab.schema.scenario import load_scenario, scenarios


def test_a_scenario_that_cannot_be_read_is_reported_with_the_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.yml").write_text("question: What is missing?\n")
    monkeypatch.setenv("LAB_SCENARIOS", str(tmp_path))
    assert "broken" in campaign()
    experiments, errors = load_campaign(["broken", "geo"], quick=True)
    assert [experiment.name for experiment in experiments] == ["geo"]
    assert "broken.yml" in str(errors[0])


def test_the_papers_experiments_come_before_all_their_counterfactuals() -> None:
    own, counterfactuals = stages()
    assert own + counterfactuals == [*own, *(name for name in campaign() if name not in own)]
    assert {load_scenario(name)[1].counterfactual_of is None for name in own} == {True}
    assert {load_scenario(name)[1].counterfactual_of is None for name in counterfactuals} == {False}
    assert all(load_scenario(name)[1].campaign for name in own)
    assert set(campaign()) < set(scenarios())


@pytest.mark.parametrize(("trials", "quick"), [(200, 20), (101, 11), (100, 10), (50, 10), (10, 10), (9, 9), (1, 1)])
def test_a_quick_campaign_runs_a_tenth_and_enough_for_a_claim(trials: int, quick: int) -> None:
    assert quick_trials(trials) == quick
