# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures that compare: throughput against delay, all senders in one panel; and two runs of one link."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from lab.base.errors import UserError
from lab.figures import throughput_delay, two_runs
from lab.judge.stored import Stored
from lab.tables.stored_run import Run
from tests.first_screen import LINKS, change
from tests.stored_run import store_run

SENDERS = ("search", "cubic")


@pytest.fixture(scope="module")
def geo(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return of_link(tmp_path_factory.mktemp("geo"), "geo-viasat")


@pytest.fixture(scope="module")
def leo(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return of_link(tmp_path_factory.mktemp("leo"), "leo-starlink")


def of_link(results: Path, name: str) -> Stored:
    title, link = LINKS[name]
    run = store_run(results, 2, name=name, link=link, senders=SENDERS)
    change(run, scenario={"profile": name}, profile={"title": title})
    return Stored.of(Run(run))


def marks(drawn: Figure, panel: int, face: str | None = None) -> list[tuple[float, float]]:
    lines = [line for line in drawn.axes[panel].lines if face is None or line.get_markerfacecolor() == face]
    return [(float(x), float(y)) for line in lines for x, y in np.asarray(line.get_xydata())]


def test_each_trial_and_the_mean_of_each_sender_are_marked_at_their_values(geo: Stored) -> None:
    drawing = throughput_delay.draw([geo])
    assert drawing
    table = throughput_delay.values(geo)
    shown = marks(drawing.figure, 0)
    assert set(zip(table["wait_ms"], table["throughput_mbps"], strict=True)) <= set(shown)
    means = table.group_by("cca").mean()
    assert set(zip(means["wait_ms"], means["throughput_mbps"], strict=True)) <= set(shown)
    assert len(shown) == table.height + len(SENDERS)


def test_less_delay_is_at_the_right(geo: Stored) -> None:
    drawing = throughput_delay.draw([geo])
    assert drawing
    most_ms, least_ms = drawing.figure.axes[0].get_xlim()
    assert most_ms > least_ms == 0


def test_a_link_has_a_panel_and_a_second_run_of_it_is_hollow_in_the_same_one(geo: Stored, leo: Stored) -> None:
    two_links, two_runs = throughput_delay.draw([geo, leo]), throughput_delay.draw([geo, geo])
    assert two_links
    assert two_runs
    assert [axis.get_title(loc="left") for axis in two_links.figure.axes] == [geo.link, leo.link]
    assert len(two_runs.figure.axes) == 1
    hollow = marks(two_runs.figure, 0, "none")
    assert hollow
    assert len(hollow) == len(marks(two_runs.figure, 0)) / 2
    assert "Hollow" in two_runs.caption
    assert "Hollow" not in two_links.caption


def test_without_a_trial_there_is_nothing_to_draw() -> None:
    assert throughput_delay.draw([]) is None


def test_two_runs_of_a_link_lie_over_each_other_sender_by_sender(geo: Stored) -> None:
    drawing = two_runs.draw([geo, geo])
    assert drawing
    assert [len(axis.lines) for axis in drawing.figure.axes] == [2] * 2 * len(SENDERS)
    solid, dashed = drawing.figure.axes[0].lines
    assert np.array_equal(np.asarray(solid.get_xydata()), np.asarray(dashed.get_xydata()))
    assert solid.get_linestyle() != dashed.get_linestyle()


def test_only_two_runs_of_one_link_are_laid_over_each_other(geo: Stored, leo: Stored) -> None:
    for runs in ([], [geo], [geo, leo], [geo] * 3):
        with pytest.raises(UserError, match="must be two runs of one link"):
            two_runs.draw(runs)
