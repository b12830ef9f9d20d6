# SPDX-License-Identifier: GPL-2.0-or-later
"""The papers' campaign: its scenarios and their order, a tenth of it, and the recordings that come before it."""

from io import StringIO
from pathlib import Path

import pytest
from lab_papers.campaign import campaign, load_campaign, stages
from lab_papers.commands import reproduce
from lab_papers.commands.reproduce import as_run, fetch_for
from lab_papers.evaluation.search.forms import FORMS
from rich.console import Console

from lab.base.entry_points import brought
from lab.runs.execute import Executed
from lab.runs.experiment import load_experiment, specification
from lab.schema.scenario import load_scenario, scenarios
from tests.command import scenario_file


def test_the_campaign_is_every_scenario_that_states_it() -> None:
    assert campaign() == [name for name in scenarios() if load_scenario(name)[1].campaign]
    assert "geo" not in campaign()
    assert "thesis-geo" in campaign()


def test_a_scenario_joins_no_campaign_unless_it_states_it(tmp_path: Path) -> None:
    assert not load_scenario(str(scenario_file(tmp_path)))[1].campaign
    assert load_scenario(str(scenario_file(tmp_path, campaign=True)))[1].campaign


def test_the_campaign_changes_no_digest(tmp_path: Path) -> None:
    with_it, without = (
        specification(load_experiment(str(scenario_file(tmp_path, campaign=campaign))))["digests"]
        for campaign in (True, False)
    )
    assert with_it == without


def test_a_counterfactual_joins_the_campaign_of_its_base() -> None:
    assert load_scenario("poster-geo-36mb")[1].campaign


@pytest.mark.parametrize(("trials", "quick"), [(200, 20), (101, 11), (100, 10), (77, 10), (10, 10), (9, 9)])
def test_quick_takes_a_tenth_of_the_trials_and_enough_for_a_claim(tmp_path: Path, trials: int, quick: int) -> None:
    ((one,), errors) = load_campaign([str(scenario_file(tmp_path, trials=trials))], quick=True)
    assert (one.scenario.trials, errors) == (quick, [])


@pytest.mark.parametrize("place", [{"replayed": ["serch2"]}, {"claims": "serch2"}])
def test_a_replayed_version_that_nobody_has_is_refused(tmp_path: Path, place: dict[str, object]) -> None:
    claim = {"source": "a paper, table 1", "row": "one", "cca": "cubic_plain", "values": {"exit_s": 1}}
    given = {"claims": [{**claim, "replayed": place["claims"]}]} if "claims" in place else place
    file = str(scenario_file(tmp_path, **given))
    ((), (error,)) = load_campaign([file], quick=False)
    assert str(error).startswith(f"{file}: replayed=serch2: must be a version of SEARCH: did you mean search2")


def test_the_forms_that_a_scenario_may_replay_are_those_that_can_be() -> None:
    assert sorted(brought("lab.replayed")) == sorted(FORMS)


def test_a_scenario_that_cannot_be_read_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.yml").write_text("question: What is missing?\n")
    monkeypatch.setenv("LAB_SCENARIOS", str(tmp_path))
    assert "broken" in campaign()
    experiments, errors = load_campaign(["broken", "geo"], quick=True)
    assert [experiment.name for experiment in experiments] == ["geo"]
    assert "broken.yml" in str(errors[0])
    assert len(reproduce._faults(Executed([], errors))) == str(errors[0]).count("\n") + 1 > 1


def test_the_papers_experiments_come_before_all_their_counterfactuals() -> None:
    own, counterfactuals = stages()
    assert own + counterfactuals == [*own, *(name for name in campaign() if name not in own)]
    assert {load_scenario(name)[1].counterfactual_of is None for name in own} == {True}
    assert {load_scenario(name)[1].counterfactual_of is None for name in counterfactuals} == {False}
    assert all(load_scenario(name)[1].campaign for name in own)
    assert set(campaign()) < set(scenarios())


def test_an_origin_that_does_not_answer_is_tried_once_and_each_experiment_that_lacks_a_recording_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path))
    monkeypatch.setenv("LAB_TRACES_ORIGIN", "http://127.0.0.1:1")  # nobody listens
    printed = StringIO()
    experiments = [load_experiment(name) for name in ("thesis-leo", "thesis-lte", "thesis-geo")]
    lacking = fetch_for(experiments, None, Console(file=printed))
    lines = printed.getvalue().splitlines()
    assert [line.split()[1] for line in lacking] == ["thesis-leo:", "thesis-lte:"]
    assert sum("must be reachable" in line for line in lines) == 1


def test_a_stand_in_runs_under_a_name_of_its_own_and_no_claim_is_judged_by_it() -> None:
    recorded = load_experiment("thesis-leo")
    found = as_run(recorded)
    assert found
    assert found.name == "thesis-leo-on-leo-starlink-15s"
    assert found.scenario.profile == found.profile.file.stem == "leo-starlink-15s"
    assert (recorded.scenario.claims != [], found.scenario.claims, found.scenario.published) == (True, [], [])
    assert found.ccas == recorded.ccas


def test_nothing_stands_in_for_a_link_without_recordings() -> None:
    assert as_run(load_experiment("thesis-geo")) is None
