# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures: what they keep of the data, how they name the moments, and that each is a command."""

from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from lab.figures import cwnd_rtt, delivered_bytes, exit_times, latency_offset, throughput_cdf
from lab.figures.moments import Moments, mark_moments
from lab.figures.save import png, svg
from lab.figures.style import Sender, envelope, panels
from lab.figures.subject import replayed_bins, subjects
from lab.judge.classify import ExitClass
from lab.judge.outcome import outcomes
from lab.judge.rules import truth
from lab.schema.cca import load_ccas
from lab.tables.link_capacity import LinkCapacity
from lab.tables.records import Stanza
from lab.tables.stored_run import Run
from tests import slow_start_model as model
from tests.slow_start_model import BINS, download
from tests.stored_run import store_run

SEARCH = Sender.from_stanza(cast("Stanza", load_ccas()["search"].model_dump()))
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


def test_an_invalid_trial_is_never_the_one_shown(run: Run) -> None:
    shown = [subject.sender.name for subject in subjects(run, outcomes(run.trials))]
    assert shown == ["search", "cubic", "cubic_plain"]


def test_only_search_has_searchs_figure_also_where_a_core_could_replay(run: Run, library: Path) -> None:
    every = {each.sender.name: delivered_bytes.draw(each) for each in subjects(run, outcomes(run.trials), library)}
    drawn = {name: drawing.caption for name, drawing in every.items() if drawing}
    assert len(every) > 1
    assert list(drawn) == ["search"]
    assert "SEARCH's own record" in drawn["search"]


def test_replayed_over_a_slow_start_into_a_full_link_search_leaves_after_the_capacity(library: Path) -> None:
    path = model.Path(rate_mbps=80, base_rtt_ms=200, buffer_bytes=8_000_000, duration_s=4)
    tables = download(path).tables()
    capacity_s = truth.capacity_s(tables["qdisc"], LinkCapacity.constant(path.rate_mbps, path.base_rtt_ms))
    bins = replayed_bins(tables["acks"], library)
    assert capacity_s is not None
    # 2 to 3 RTTs, each of them longer than the base RTT by then.
    assert capacity_s < bins.filter("exit")["t_s"][0] < capacity_s + 6 * path.base_rtt_ms / 1000
    assert bins.filter(pl.col("t_s") < capacity_s)["norm_pct"].drop_nulls().len() > 0


@pytest.mark.parametrize(
    ("loss_s", "mark_s", "late_from_s"), [(4.0, None, 4.0), (None, 3.0, 3.0), (4.0, 3.0, 3.0), (None, None, 10.0)]
)
def test_an_exit_is_late_from_a_loss_or_mark_on(loss_s: float | None, mark_s: float | None, late_from_s: float) -> None:
    row = {"cca": "search", "trial": 1, "valid": True, "exit_s": 2.5, "exit_class": "chokepoint", "capacity_s": 2.0}
    signals = pl.DataFrame(
        {"loss_s": [loss_s], "mark_s": [mark_s]}, schema={"loss_s": pl.Float64, "mark_s": pl.Float64}
    )
    (axis,) = exit_times.figure(pl.DataFrame([row]).hstack(signals), [SEARCH], 10.0).axes
    zones = [child for child in axis.get_children() if isinstance(child, Rectangle) and child.get_height() == 1.0]
    assert [zone.get_x() for zone in zones][:3] == [0.0, 2.0, late_from_s]


def test_neighbouring_zones_differ_in_grey_and_the_late_one_is_hatched() -> None:
    greys = [255 * float(np.dot(to_rgb(exit_times.ZONES[zone]), [0.299, 0.587, 0.114])) for zone in ExitClass]  # BT.601
    assert all(abs(left - right) >= 25 for left, right in pairwise(greys))
    assert exit_times.HATCHES[ExitClass.LATE]
