# SPDX-License-Identifier: GPL-2.0-or-later
"""Which scenarios are the papers' campaign, and how many trials its quick form takes."""

from pathlib import Path

import pytest
from lab_papers.campaign import campaign, load_campaign
from lab_papers.evaluation.search.forms import FORMS

from lab.base.entry_points import brought
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


@pytest.mark.parametrize(("trials", "quick"), [(200, 20), (101, 11), (77, 10), (20, 10), (10, 10), (3, 3)])
def test_quick_takes_a_tenth_of_the_trials_and_as_many_as_a_claim_needs(
    tmp_path: Path, trials: int, quick: int
) -> None:
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
