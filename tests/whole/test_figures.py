# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures: what they keep of the data, how they name moments, their pages, their dark palette, and how they compare."""

import re
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from lab.base.paths import LAB, REPO
from lab.figures import cwnd_rtt, delivered_bytes, exit_times, latency_offset, throughput_cdf, throughput_delay
from lab.figures.moments import Moments, mark_moments
from lab.figures.page_figure import Place
from lab.figures.registry import figures
from lab.figures.save import png, svg
from lab.figures.style import Sender, cumulative, envelope, panels
from lab.figures.subject import subjects
from lab.judge.classify import ExitClass
from lab.judge.outcome import outcomes
from lab.judge.stored import Stored
from lab.report.browser.series import series
from lab.report.dark import PALETTE, PAPER, SURFACES, css
from lab.schema.cca import load_ccas
from lab.tables.records import Stanza
from lab.tables.stored_run import Run
from tests import slow_start_model as model
from tests.brief import error_of
from tests.first_screen import TWO, of_link
from tests.slow_start_model import BINS, download
from tests.stored_run import store_run

SEARCH = Sender.from_stanza(cast("Stanza", load_ccas()["search"].model_dump()))
FOLDERS = (LAB / "figures", *REPO.glob("packages/*/lab_*/figures"))
ALL_MOMENTS = Moments(capacity_s=10.5, true_capacity_s=9.8, exit_s=12.1, loss_s=17.2)
values = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=300)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, library: Path) -> Run:
    return Run(store_run(tmp_path_factory.mktemp("results"), trials=1, library=library))


@given(values)
def test_thinning_keeps_the_extremes_and_the_order_of_time(given_values: list[float]) -> None:
    table = pl.DataFrame({"t_s": [0.1 * n for n in range(len(given_values))], "v": given_values})
    thinned = envelope(table, "v", buckets=10)
    assert thinned["v"].min() == min(given_values)
    assert thinned["v"].max() == max(given_values)
    assert thinned["t_s"].is_sorted()
    assert thinned.height <= 2 * 11


def test_what_is_missing_or_not_known_is_left_out() -> None:
    table = pl.DataFrame({"t_s": [0.0, 1.0, 2.0], "v": [1.0, None, 3.0]})
    assert envelope(table, "v")["v"].to_list() == [1.0, 3.0]
    intervals = pl.DataFrame({"begin_s": [0.0, 0.015, 0.03], "throughput_mbps": [1.0, 2.0, 3.0]})
    rates = {"exit bitrate": 5.0, "median after slow start": None}
    known = throughput_cdf.figure(intervals, rates, None, SEARCH)
    assert [text.get_text().strip() for text in known.axes[0].texts] == ["exit bitrate 5.0 Mb/s"]


def test_moments_are_in_order_of_time_and_no_two_look_alike_to_who_sees_no_colour() -> None:
    words = "capacity by latency offset at 1.00 s, exit at 2.00 s, no first loss"
    assert Moments(exit_s=2.0, capacity_s=1.0).in_words() == words
    assert Moments().in_words() == "no exit, no first loss"
    assert Moments(loss_hidden=True).in_words() == "no exit, first loss not visible"
    dashes = [str(look["linestyle"]) for _, _, look in ALL_MOMENTS.lines()]
    assert len(set(dashes)) == len(dashes)
    for _, _, look in ALL_MOMENTS.lines():
        red, green, blue = (look["color"][start : start + 2] for start in (1, 3, 5))
        assert red == green == blue


@pytest.mark.parametrize("until_s", [20, 11])
def test_each_moment_within_the_axis_is_drawn_through_every_panel_and_named_with_its_time(until_s: float) -> None:
    _, axes = panels(2, 4.0)
    axes[-1].set_xlim(0, until_s)
    mark_moments(axes, ALL_MOMENTS)
    named = ["true capacity 9.80 s", "capacity by latency offset 10.50 s", "exit 12.10 s", "first loss 17.20 s"]
    within = named if until_s == 20 else named[:2]
    assert {text.get_text().strip() for text in axes[0].texts} == set(within)
    assert [len(axis.lines) for axis in axes] == [len(within)] * 2


def test_the_same_figure_gives_the_same_bytes_and_axes_also_without_data() -> None:
    download_ = download(model.Path(duration_s=2)).tables()
    limits = cwnd_rtt.Limits(bdp_pkts=138, buffer_bytes=400_000)
    twice = [cwnd_rtt.figure(download_["acks"], download_["qdisc"], limits, ALL_MOMENTS, SEARCH) for _ in range(2)]
    assert svg(twice[0]) == svg(twice[1])
    assert png(twice[0]) == png(twice[1])
    assert svg(delivered_bytes.figure(pl.DataFrame(schema=BINS), Moments(exit_s=1.0)))
    nothing = pl.DataFrame(schema={"t_s": pl.Float64, "offset_ms": pl.Float64})
    assert svg(latency_offset.figure(nothing, 600.0, Moments(), SEARCH))


@pytest.mark.parametrize(("values", "shares_pct"), [([], []), ([3.0], [0, 100]), ([2.0, 1.0], [0, 50, 100])])
def test_a_distribution_rises_from_0_to_100_or_is_empty(values: list[float], shares_pct: list[float]) -> None:
    _, (axis,) = panels(1, 3.0)
    cumulative(axis, pl.Series(values, dtype=pl.Float64))
    assert np.asarray(axis.lines[0].get_ydata()).tolist() == shares_pct


def test_an_invalid_trial_is_never_the_one_shown(run: Run) -> None:
    shown = [subject.sender.name for subject in subjects(run, outcomes(run.trials))]
    assert shown == ["search", "cubic", "cubic_plain"]


def test_only_search_has_searchs_figure(run: Run) -> None:
    every = {each.sender.name: delivered_bytes.draw(each) for each in subjects(run, outcomes(run.trials))}
    drawn = {name: drawing.caption for name, drawing in every.items() if drawing}
    assert len(every) > 1
    assert list(drawn) == ["search"]
    assert "SEARCH's own record" in drawn["search"]


@pytest.mark.parametrize(
    ("loss_s", "mark_s", "exit_class", "late_from_s"),
    [
        (4.0, None, "chokepoint", 4.0),
        (None, 3.0, "chokepoint", 3.0),
        (4.0, 3.0, "chokepoint", 3.0),
        (None, None, "chokepoint", 10.0),
        (2.25, None, "late", 2.25),
        (None, None, "late", 2.5),  # a timeout, or a loss of a stack without a qlog
    ],
)
def test_an_exit_is_late_from_a_loss_or_mark_on(
    loss_s: float | None, mark_s: float | None, exit_class: str, late_from_s: float
) -> None:
    row = {"cca": "search", "trial": 1, "valid": True, "exit_s": 2.5, "exit_class": exit_class, "capacity_s": 2.0}
    signals = pl.DataFrame(
        {"loss_s": [loss_s], "mark_s": [mark_s]}, schema={"loss_s": pl.Float64, "mark_s": pl.Float64}
    )
    (axis,) = exit_times.figure(pl.DataFrame([row]).hstack(signals), [SEARCH], 10.0).axes
    drawn = [each for each in axis.collections if each.get_label() in exit_times.MEANINGS.values()]
    zones = [each.get_paths()[0].get_extents() for each in drawn]
    assert drawn[-1].get_hatch()
    hatched = np.ravel(drawn[-1].get_edgecolor())[:3]  # the hatch has the colour of the edge
    assert hatched == pytest.approx(to_rgb(exit_times.HATCH_INK))
    assert [zone.x0 for zone in zones] == [0.0, 2.0, late_from_s]
    assert [zone.x1 for zone in zones] == [2.0, late_from_s, 10.0]
    assert {(zone.y0, zone.y1) for zone in zones} == {(-0.5, 0.5)}


def test_figures_and_browser_show_a_download_to_its_end_whatever_it_waited_for_before_its_first_data() -> None:
    """Of 9 s on a path of 600 ms the last packets come 10.2 s after the SYN."""
    run = Run(next((REPO / "analysis/sample/sample").glob("[0-9]*")))
    (stored,) = Stored.each_of([run], keep=False)
    last_s = {trial.path: float(trial.packets["t_s"][-1]) for trial in run.trials}
    assert min(last_s.values()) > 10
    axis = exit_times.draw(stored).figure.axes[-1]
    assert axis.get_xlim()[1] == pytest.approx(max(last_s.values()), abs=0.1)
    for trial in run.trials:
        assert series(trial, 1.0)["edges"][-1] == pytest.approx(1e3 * last_s[trial.path], abs=100)


def test_neighbouring_zones_differ_in_grey_and_the_late_one_is_hatched() -> None:
    greys = [255 * float(np.dot(to_rgb(exit_times.ZONES[zone]), [0.299, 0.587, 0.114])) for zone in ExitClass]  # BT.601
    assert all(abs(left - right) >= 25 for left, right in pairwise(greys))
    assert exit_times.HATCHES[ExitClass.LATE]


def test_every_file_that_draws_declares_its_place() -> None:
    files = [file for folder in FOLDERS for file in folder.glob("*.py")]
    drawing = {file.stem for file in files if "\ndef draw(" in file.read_text()}
    declared = {figure.draw.__module__.split(".")[-1] for place in Place for figure in figures(place)}
    assert declared == drawing


def test_senders_stand_in_the_order_of_the_lab_whatever_the_scenarios(tmp_path: Path) -> None:
    run = Run(store_run(tmp_path, trials=1, senders=("bbr", "cubic_plain", "search")))
    assert [stanza["name"] for stanza in run.ccas] == ["search", "cubic_plain", "bbr"]


def test_a_file_without_a_figure_is_one_line_that_names_it(figures_folder: Path) -> None:
    (figures_folder / "empty.py").write_text("FIGURE = None\n")
    assert "empty.py: FIGURE=None: must be a lab.figures.page_figure.PageFigure" in error_of(figures, Place.RUN)


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
    figures = [file for folder in FOLDERS for file in folder.glob("*.py")]
    drawn = {colour for file in figures for colour in re.findall(r'"(#[0-9a-f]{6})"', file.read_text())}
    senders = {stanza.colour.lower() for stanza in load_ccas().values() if stanza.colour}
    assert (drawn | senders) - PALETTE.keys() - SURFACES.keys() == set()
    assert css().startswith("@media screen and (prefers-color-scheme: dark) {")
    assert '.plate [style*="fill: #0072b2"]' in css()


@pytest.fixture(scope="module")
def geo(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return of_link(tmp_path_factory.mktemp("geo"), "geo-viasat")


@pytest.fixture(scope="module")
def leo(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return of_link(tmp_path_factory.mktemp("leo"), "leo-starlink")


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
    assert len(shown) == table.height + len(TWO)


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
