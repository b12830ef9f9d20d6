# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison over values of a field: its links, before anything runs; and which comparisons have shards."""

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from lab.base.errors import UserError
from lab.commands.compare import Chosen, Course, compare_known
from lab.commands.part import Part
from lab.evaluation.compare.comparison import Comparison
from lab.runs.options import RunOptions
from lab.runs.stand_ins import as_link, stand_in_of

SENDERS = "search,cubic"


def compared(*vary: str, links: str = "wired", **more: object) -> Comparison:
    return Chosen(SENDERS, links, vary=vary, **more).comparison()  # type: ignore[arg-type]


def test_each_link_stands_once_for_each_value_and_runs_with_it_in_a_folder_of_its_own() -> None:
    comparison = compared("down.delay_ms=10,40", links="wired,leo")
    assert [link.name for link in comparison.links] == [
        "wired-down.delay_ms-10",
        "wired-down.delay_ms-40",
        "leo-down.delay_ms-10",
        "leo-down.delay_ms-40",
    ]
    comparison = compared("down.delay_ms=10,40")
    found = [comparison.experiment(link, 2) for link in comparison.links]
    assert [each.profile.down.delay_ms for each in found] == [10, 40]
    assert [each.name for each in found] == ["compare-wired-down.delay_ms-10", "compare-wired-down.delay_ms-40"]


def test_a_parameter_of_a_sender_varies_for_it_alone_and_too_many_points_are_refused() -> None:
    comparison = compared("search.threshold_pct=20,35")
    experiment = comparison.experiment(comparison.links[0], 1)
    assert experiment.ccas["search"].params == {"threshold_pct": 20}
    assert experiment.ccas["cubic"].params == {}
    values = ",".join(map(str, range(1, 102)))
    with pytest.raises(UserError, match="--vary: points=202: must be at most 200: these are 4848 trials"):
        compared(f"down.delay_ms={values}", links="wired,wired-shared")


def test_a_stand_in_keeps_the_points_apart() -> None:
    comparison = compared("down.loss_pct=0,1", links="lte")
    names = []
    for link in comparison.links:
        profile = stand_in_of(comparison.experiment(replace(link, varied=()), 1).profile)
        assert profile
        names.append(as_link(link, profile).name)
    assert names == ["lte-verizon-model-down.loss_pct-0", "lte-verizon-model-down.loss_pct-1"]


@pytest.mark.parametrize(
    ("chosen", "course", "line"),
    [
        ({}, {}, "shard=1/2: must be used with --fixed or --quick: else results decide which trials come next"),
        ({"fixed": True}, {"resume": True}, "resume=True: must be left out with --shard"),
        ({"quick": True}, {"budget_minutes": 3.0}, "budget-minutes=3.0: must be left out with --shard"),
    ],
)
def test_a_comparison_has_shards_only_where_its_trials_are_known(
    tmp_path: Path, chosen: dict[str, bool], course: dict[str, object], line: str
) -> None:
    part = Part.of("1/2", tmp_path / "out")
    with pytest.raises(UserError, match=line):
        compare_known(
            Chosen(SENDERS, "wired", part=part, **chosen),  # type: ignore[arg-type]
            Course(**course),  # type: ignore[arg-type]
            RunOptions(1),
            Console(quiet=True),
        )
    assert not (tmp_path / "out").exists()
