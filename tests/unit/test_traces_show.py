# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording is drawn as it is: nothing bridged, nothing wider than the terminal, and the figure with it."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from lab.commands.terminal import LEAST_WIDTH, drawn
from lab.figures import recording as drawing
from lab.figures.save import png, svg
from lab.traces.datasets import datasets
from lab.traces.panels import Panel, panels
from lab.traces.recording import Recording
from tests.command import lab

WIDTH = 80


def series(rows: int = 200, **columns: list[float | None]) -> Recording:
    values: dict[str, object] = {"t_s": [0.1 * row for row in range(rows)]}
    values |= columns or {"rtt_ms": [30.0 + row % 7 for row in range(rows)]}
    return Recording(pl.DataFrame(values), "series", None, "test", "made", ("A note.",))


def panel_of(values: Sequence[float | None]) -> Panel:
    return Panel("round trip", "ms", pl.DataFrame({"t_s": [1.0 * n for n in range(len(values))], "value": values}))


def test_every_quantity_has_a_panel_that_keeps_the_extremes_of_each_stretch() -> None:
    rates = {"rate_down_mbps": [1.0, 2.0], "rate_up_mbps": pl.Series([None, None], dtype=pl.Float64)}
    frame = pl.DataFrame({"t_s": [0.0, 1.0], **rates, "rtt_ms": [None, 5.0], "lost": [True, False]})
    shown = panels(Recording(frame, "series", "goodput", "test", "made", ()))
    assert [panel.name for panel in shown] == ["rate down, goodput", "round trip", "probes lost in 0.01 s"]
    assert panel_of([1.0, None, None, 4.0]).spans(3)["low"].to_list() == [1.0, None, 4.0]
    spans = panel_of([5.0, 1.0, 9.0, 5.0, 5.0]).spans(2)
    assert spans.select("low", "high").rows() == [(1.0, 5.0), (5.0, 9.0)]
    assert panel_of([1.0, 2.0, None, 3.0]).in_words().endswith("ms, 25.0 % missing")


def test_a_recording_is_shown_with_the_same_bytes_and_without_a_clock_as_distributions() -> None:
    frame = pl.DataFrame({"t_s": [0.05, 0.15, 1.0], "opportunities": pl.Series([10, 20, 1], dtype=pl.UInt32)})
    (panel,) = panels(Recording(frame, "opportunities", "capacity", "test", "made", ()))
    assert panel.table["value"].to_list()[:3] == [pytest.approx(1.2), pytest.approx(2.4), 0.0]
    recording = Recording(pl.DataFrame({"rtt_ms": [1.0, 2.0, 3.0]}), "samples", None, "test", "made", ())
    assert "round trip (ms)" in drawn(panels(recording)[0], WIDTH)
    assert len(drawing.draw(recording, "samples").figure.axes) == 1
    twice = [drawing.draw(series(), "made").figure for _ in range(2)]
    assert svg(twice[0]) == svg(twice[1])
    assert png(twice[0]) == png(twice[1])


def test_a_long_tail_is_cut_from_the_distribution_and_a_few_high_values_do_not_press_the_others_flat() -> None:
    tailed = panel_of([10.0] * 500 + [1000.0])
    assert tailed.cumulative()["value"].max() == 10
    assert (tailed.range_label, tailed.cut_at) == ("ms, up to p99", 20)
    assert panel_of([10.0, 11.0, 12.0]).range_label == "ms"
    assert panel_of([10.0] * 500 + [50.0]).cut_at is None  # a spike of five times is seen, and so are the others
    assert panel_of([0.0] * 500 + [5.0]).cut_at is None


@pytest.mark.parametrize("values", [[1.0], [0.0, 0.0], [None, 3.0, None], [1e-6, 1e6], [5.0] * 5000])
def test_any_values_are_drawn(values: list[float | None]) -> None:
    recording = series(len(values), rtt_ms=values)
    assert all(max(map(len, drawn(panel, WIDTH).splitlines())) <= WIDTH for panel in panels(recording))
    assert svg(drawing.draw(recording, "any").figure)


@pytest.mark.parametrize("width", [10, 60, 80, 100, 500])
def test_a_drawing_fits_the_terminal_down_to_what_can_be_read(width: int) -> None:
    lines = drawn(panels(series())[0], width).splitlines()
    assert max(map(len, lines)) <= max(width, LEAST_WIDTH)


def test_what_is_neither_a_name_nor_a_file_is_refused(tmp_path: Path) -> None:
    done = lab(tmp_path, "traces", "show", "nothing/here")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "nothing/here: must be a file, or a recording that 'lab traces list' names" in done.stderr


def test_the_list_shows_what_is_recorded_how_long_and_what_is_fetched(tmp_path: Path) -> None:
    done = lab(tmp_path, "traces", "list", LAB_CACHE=str(tmp_path), COLUMNS="80")
    assert done.returncode == 0, done.stderr
    assert f"{len(datasets())} recordings, 0 of them fetched" in done.stdout
    line = next(line for line in done.stdout.splitlines() if "TMobile-LTE-short.down" in line)
    assert line.split() == ["TMobile-LTE-short.down", "capacity", "140", "s"]
    assert max(map(len, done.stdout.splitlines())) <= WIDTH
