# SPDX-License-Identifier: GPL-2.0-or-later
"""The open questions about SEARCH: every file has its experiment, and its rows are those of the stored trials."""

from pathlib import Path

import pytest

from bench.questions.answers import Exit, _of_exits, _separated
from bench.questions.experiments import places
from bench.questions.schema import Form, Question, names, question
from lab.base.errors import UserError
from lab.schema.load import parse

TWO = {name: {"sender": "search9"} for name in ("mine", "base")}
ASKED = {"question": "Which?", "asked": "here", "way": "replayed", "links": ["wired"], "base": "base", "forms": TWO}


@pytest.mark.parametrize("name", names())
def test_every_question_has_runs_of_its_own_or_those_of_its_links(name: str) -> None:
    asked = question(name)
    found = list(places(name, asked))
    assert len({place.name for place in found}) == len(found) > 0
    assert all(place.experiment.scenario.trials == asked.trials for place in found)
    points = [value for values in asked.vary.values() for value in values]
    assert len(found) == len(asked.scenarios) + len(asked.links) * max(len(points), 1)


def test_questions_that_replay_share_the_downloads_of_a_link() -> None:
    threshold, window = (
        {place.name: place.experiment for place in places(name, question(name))}
        for name in ("4-threshold", "3-drain-target")
    )
    assert {name: each.name for name, each in threshold.items()} == {name: each.name for name, each in window.items()}
    assert {name: each.scenario for name, each in threshold.items()} == {n: each.scenario for n, each in window.items()}


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"base": "third"}, "a question whose base, third, is one of its forms"),
        ({"way": "workload"}, "a question with scenarios where its way is a workload, else with links"),
        ({"vary": {"a": [1.0], "b": [1.0]}}, "a question that varies one field"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(change: dict[str, object], rule: str) -> None:
    with pytest.raises(UserError, match=rule):
        parse(Question, ASKED | change, Path("mine.yml"))


def test_forms_are_compared_on_the_draws_that_both_have_and_separate_by_the_exact_test() -> None:
    asked = parse(Question, ASKED, Path("mine.yml"))
    assert asked.forms["mine"] == Form(sender="search9")
    early, right = Exit("early", 5.0), Exit("chokepoint", 7.0)
    exits = {"mine": dict.fromkeys(range(1, 13), right), "base": dict.fromkeys(range(2, 14), early)}
    mine, base = _separated([_of_exits(asked, "wired", form, exits) for form in ("mine", "base")])
    assert (mine["trials"], mine["chokepoint"], mine["early"], mine["pairs"]) == (12, 12, 0, 11)
    assert (mine["only_form"], mine["only_base"], mine["later_rtts"]) == (11, 0, 2.0)
    assert (mine["separated"], base["separated"], base["level"]) == (True, None, None)
    few = {form: {trial: each for trial, each in of.items() if trial < 7} for form, of in exits.items()}
    assert _separated([_of_exits(asked, "wired", "mine", few)])[0]["separated"] is False  # five pairs prove nothing
