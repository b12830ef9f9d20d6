# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures: a file declares its page, has a dark palette, and compares senders and runs."""

import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from lab.base.errors import UserError
from lab.base.paths import LAB, REPO
from lab.figures import throughput_delay, two_runs
from lab.figures.page_figure import Place
from lab.figures.registry import figures
from lab.judge.stored import Stored
from lab.report.dark import PALETTE, PAPER, SURFACES, css
from lab.schema.cca import load_ccas
from lab.tables.stored_run import Run
from tests.first_screen import LINKS, change
from tests.stored_run import store_run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user's for figures."""
    added = tmp_path / "figures"
    added.mkdir()
    monkeypatch.setenv("LAB_FIGURES", str(added))
    return added


def test_every_file_that_draws_declares_its_place() -> None:
    folders = (LAB / "figures", *REPO.glob("packages/*/lab_*/figures"))
    files = [file for folder in folders for file in folder.glob("*.py")]
    drawing = {file.stem for file in files if "\ndef draw(" in file.read_text()}
    declared = {figure.draw.__module__.split(".")[-1] for place in Place for figure in figures(place)}
    assert declared == drawing


def test_senders_stand_in_the_order_of_the_lab_whatever_the_scenarios(tmp_path: Path) -> None:
    run = Run(store_run(tmp_path, trials=1, senders=("bbr", "cubic_plain", "search")))
    assert [stanza["name"] for stanza in run.ccas] == ["search", "cubic_plain", "bbr"]


def test_a_file_without_a_figure_is_one_line_that_names_it(folder: Path) -> None:
    (folder / "empty.py").write_text("FIGURE = None\n")
    with pytest.raises(UserError, match=r"empty\.py: FIGURE=None: must be a lab\.figures\.page_figure\.PageFigure"):
        figures(Place.RUN)


LEAST_CONTRAST = 3.0  # of graphical objects (WCAG 2.2, 1.4.11)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", PALETTE.values())
def test_what_is_drawn_stands_out_from_the_dark_paper(dark: str) -> None:
    assert contrast(dark, PAPER) >= LEAST_CONTRAST


@pytest.mark.parametrize("dark", SURFACES.values())
def test_a_surface_is_darker_than_whatever_is_drawn_on_it(dark: str) -> None:
    assert luminance(dark) < min(map(luminance, PALETTE.values()))


def test_each_colour_has_its_dark_one_and_paper_stays_light() -> None:
    figures = (LAB / "figures").glob("*.py")
    drawn = {colour for file in figures for colour in re.findall(r'"(#[0-9a-f]{6})"', file.read_text())}
    senders = {stanza.colour.lower() for stanza in load_ccas().values() if stanza.colour}
    assert (drawn | senders) - PALETTE.keys() - SURFACES.keys() == set()
    assert css().startswith("@media screen and (prefers-color-scheme: dark) {")
    assert '.plate [style*="fill: #0072b2"]' in css()


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
