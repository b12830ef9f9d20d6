# SPDX-License-Identifier: GPL-2.0-or-later
"""What a scenario's file may state of a counterfactual, and of the explanation of a row that differs."""

from pathlib import Path
from typing import Any

import pytest
from counterfactuals import BASE, BECAUSE, FASTER, TRIALS, explained, own_scenarios, write

from lab.base.errors import UserError
from lab.commands.inventory import require_named
from lab.runs.experiment import digest, load_experiment, specification, trial_part
from lab.schema.scenario import load_scenario, scenarios
from tests.brief import error_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return own_scenarios(tmp_path, monkeypatch)


def test_a_counterfactual_takes_from_its_base_what_it_does_not_change(folder: Path) -> None:
    write(folder, "mine", BASE | {"claims": [explained()], "tolerance": {"relative_pct": 5}})
    write(folder, "faster", FASTER | {"ccas": ["cubic_plain"]})
    _, found = load_scenario("faster")
    assert (found.question, found.trials, found.seed) == (BASE["question"], TRIALS, 1)
    assert (found.profile, found.ccas, found.counterfactual_of) == ("wired-clean", ["cubic_plain"], "mine")
    assert found.claims == []


def test_a_counterfactual_by_its_path_finds_its_base_beside_it(tmp_path: Path) -> None:
    write(tmp_path, "own", BASE)
    assert load_scenario(str(write(tmp_path, "other", {"counterfactual_of": "own", "seed": 3})))[1].seed == 3


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ({"counterfactual_of": "nobody", "seed": 3}, "counterfactual_of=nobody: must be a known scenario: "),
        ({"counterfactual_of": "mine"}, "counterfactual_of=mine: must be followed by what differs from it"),
        ({"counterfactual_of": "mine", "seed": 1}, "counterfactual_of=mine: must be followed by what differs from it"),
        ({"counterfactual_of": "mine", "trials": 5}, "counterfactual_of=mine: must be followed by what differs from"),
        (FASTER | {"claims": []}, "claims=...: must be left out: a counterfactual is held to those of mine"),
        (FASTER | {"tolerance": {}}, "tolerance=...: must be left out: a counterfactual is held to those of mine"),
        ({"counterfactual_of": "faster", "seed": 3}, "counterfactual_of=faster: must be a scenario that is no counter"),
        (FASTER | {"colour": "red"}, "colour=red: must be left out: it is not a field"),
    ],
)
def test_a_counterfactual_that_is_none_is_one_line(folder: Path, content: dict[str, Any], line: str) -> None:
    write(folder, "mine", BASE)
    write(folder, "faster", FASTER)
    file = write(folder, "wrong", content)
    assert error_of(load_scenario, "wrong").startswith(f"{file}: {line}")


def test_an_explanation_names_a_counterfactual_of_its_own_scenario(folder: Path) -> None:
    write(folder, "mine", BASE | {"claims": [explained("other")]})
    write(folder, "other", BASE)
    with pytest.raises(UserError, match="scenario=other: must be a scenario with counterfactual_of: mine"):
        require_named("mine", load_scenario("mine")[1])


@pytest.mark.parametrize("pooled", ["othr", "mine"])
def test_claims_are_pooled_with_other_scenarios_that_exist(folder: Path, pooled: str) -> None:
    file = write(folder, "mine", BASE | {"claims": [explained(pooled=["other", pooled])]})
    write(folder, "other", BASE)
    with pytest.raises(UserError, match=f"claims.pooled={pooled}: must be a known scenario: .*other") as refused:
        require_named("mine", load_scenario("mine")[1])
    assert str(refused.value).startswith(str(file))


def test_claims_are_pooled_with_a_scenario_once(folder: Path) -> None:
    file = write(folder, "mine", BASE | {"claims": [explained(pooled=["other", "other"])]})
    with pytest.raises(UserError, match=r"claims.0.pooled=.*: must be a list that names each scenario once$"):
        load_scenario(str(file))


def test_an_explanation_moves_a_value_of_its_row(folder: Path) -> None:
    tests = [{"scenario": "faster", "because": BECAUSE, "moves": ["exit_s"]}]
    file = write(folder, "mine", BASE | {"claims": [explained(counterfactuals=tests)]})
    assert "must be a counterfactual that moves one of the row's values: loss_s" in error_of(load_scenario, str(file))


def test_a_text_alone_is_no_field_of_a_claim(folder: Path) -> None:
    file = write(folder, "mine", BASE | {"claims": [explained(known="the link is slow")]})
    assert "claims.0.known=the link is slow: must be left out" in error_of(load_scenario, str(file))


def test_an_explanation_may_be_written_after_the_run_and_leaves_its_digest(folder: Path) -> None:
    write(folder, "mine", BASE | {"claims": [explained()]})
    before = specification(load_experiment("mine"))
    write(folder, "mine", BASE | {"claims": [explained("faster", open="a wider link was tried")]})
    after = specification(load_experiment("mine"))
    assert before["digests"] == after["digests"]
    assert after["scenario"]["claims"][0]["open"]
    assert digest(trial_part(after["scenario"])) == after["digests"]["scenario"]
    write(folder, "mine", BASE | {"claims": [explained(values={"loss_s": 8.0})]})
    assert specification(load_experiment("mine"))["digests"] != before["digests"]


def test_counterfactuals_run_after_what_they_explain(folder: Path) -> None:
    write(folder, "mine", BASE)
    write(folder, "another", {"counterfactual_of": "mine", "seed": 3})
    assert scenarios() == ["mine", "another"]


def test_a_run_of_fewer_trials_is_a_run_of_the_same_scenario(folder: Path) -> None:
    write(folder, "mine", BASE | {"claims": [explained()]})
    write(folder, "faster", FASTER)
    for name in ("mine", "faster"):
        whole, few = (trial_part(load_scenario(name, changes)[1].model_dump()) for changes in ({}, {"trials": 2}))
        assert (few["trials"], whole["trials"]) == (2, TRIALS)
        assert digest(few | {"trials": TRIALS}) == digest(whole)
