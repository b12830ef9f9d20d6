# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording is shown as it is: in words, in the terminal and as a figure."""

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lab_formats.figures import recording as drawing
from lab_formats.named import described
from lab_formats.shown.panels import Panel, binned_mbps, panels
from lab_formats.shown.terminal import LEAST_WIDTH, drawn

from lab.base.errors import UserError
from lab.figures.save import png, svg
from lab.traces.columns import DTYPES
from lab.traces.recording import Recording
from tests.command import lab
from tests.examples import examples


def opportunities(t_s: list[float], packets: list[int]) -> Recording:
    frame = pl.DataFrame({"t_s": t_s, "opportunities": pl.Series(packets, dtype=pl.UInt32)})
    return Recording(frame, "opportunities", "capacity", "made", "made.down", ())


def test_a_packet_a_millisecond_is_12_mbps_and_a_last_step_cut_short_counts_for_its_own_length() -> None:
    bins = binned_mbps(opportunities([t / 1000 for t in range(1, 1001)], [1] * 1000), 100)
    assert bins["t_s"].to_list() == pytest.approx([k / 10 for k in range(10)])
    assert bins["rate_mbps"][1:-1].to_list() == [12.0] * 8
    bins = binned_mbps(opportunities([0.1, 0.15], [10, 5]), 100)
    assert bins["t_s"].to_list() == [0.0, 0.1]
    assert bins["rate_mbps"].to_list() == pytest.approx([0.0, 15 * 12_000 / 0.05 / 1e6])


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.integers(1, 20), min_size=1, max_size=200), st.integers(1, 500))
def test_binning_keeps_every_packet(gaps_ms: list[int], step_ms: int) -> None:
    times = np.cumsum(gaps_ms)
    written = opportunities([float(t) / 1000 for t in times], [1] * len(times))
    bins = binned_mbps(written, step_ms)
    widths = np.diff([*bins["t_s"], times[-1] / 1000])
    assert (bins["rate_mbps"].to_numpy() * widths).sum() * 1e6 / 12_000 == pytest.approx(len(times))


@pytest.mark.parametrize(("t_s", "length"), [([0.0], "0"), ([0.0, 31e6], "31,000,000")])
def test_a_recording_of_no_time_or_of_too_much_is_refused(t_s: list[float], length: str) -> None:
    rule = "must be above 0 and at most 5,000,000 s, to be shown over time"
    with pytest.raises(UserError, match=f"length={length} s: {rule}"):
        binned_mbps(opportunities(t_s, [1] * len(t_s)), 100)


WIDTH = 80


def levelled(rows: int = 200, **columns: list[float | None]) -> Recording:
    values: dict[str, object] = {"t_s": [0.1 * row for row in range(rows)]}
    values |= columns or {"rtt_ms": [30.0 + row % 7 for row in range(rows)]}
    return Recording(pl.DataFrame(values), "series", None, "test", "made", ("A note.",))


def panel_of(values: Sequence[float | None]) -> Panel:
    return Panel(
        "round trip",
        "ms",
        pl.DataFrame({"t_s": [1.0 * n for n in range(len(values))], "value": values}).with_columns(lasts_s=1.0),
    )


def test_every_quantity_has_a_panel_that_keeps_the_extremes_of_each_stretch() -> None:
    rates = {"rate_down_mbps": [1.0, 2.0], "rate_up_mbps": pl.Series([None, None], dtype=pl.Float64)}
    frame = pl.DataFrame({"t_s": [0.0, 1.0], **rates, "rtt_ms": [None, 5.0], "lost": [True, False]})
    shown = panels(Recording(frame, "series", "goodput", "test", "made", ()))
    assert [panel.name for panel in shown] == ["rate down, goodput", "round trip", "probes lost in 0.01 s"]
    assert panel_of([1.0, None, None, 4.0]).spans(3)["low"].to_list() == [1.0, None, 4.0]
    spans = panel_of([5.0, 1.0, 9.0, 5.0, 5.0]).spans(2)
    assert spans.select("low", "high").rows() == [(1.0, 5.0), (5.0, 9.0)]
    assert panel_of([1.0, 2.0, None, 3.0]).in_words().endswith("ms, 25.0 % missing")


def test_values_count_by_how_long_they_hold_and_missing_ones_too() -> None:
    frame = pl.DataFrame({"t_s": [0.0, 1.0, 2.0, 3.0, 43.0], "rate_down_mbps": [5.0, 6.0, 7.0, None, 8.0]})
    recording = Recording(frame, "series", "goodput", "test", "made", (), 100.0)
    (panel,) = panels(recording)
    assert panel.in_words() == "rate down, goodput: p5/50/95/max 7/8/8/8 Mb/s, 40.0 % missing"
    assert panel.cumulative(11)["value"].to_list() == [5.0, *[8.0] * 10]
    assert "  rate_down_mbps    p5/50/95/max 7/8/8/8, 1 missing" in list(described(recording))


def test_a_delay_beside_packets_is_not_missing_where_a_packet_passes() -> None:
    table = {"t_s": [0.001, 0.002, 0.003], "delay_ms": [8.0, None, 9.0]}
    frame = pl.DataFrame({**table, "opportunities": pl.Series([None, 4, 1], dtype=pl.UInt32)})
    delay = panels(Recording(frame, "opportunities", "capacity", "test", "made", ()))[-1]
    assert delay.in_words() == "one-way delay: p5/50/95/max 8/8/9/9 ms"


@pytest.mark.parametrize("column", ["rtt_ms", "lost", "retransmits_pkts"])
def test_a_recording_without_a_value_to_show_is_refused(column: str) -> None:
    values = pl.Series(column, [1, 1] if column == "retransmits_pkts" else [None, None], dtype=DTYPES[column])
    frame = pl.DataFrame([pl.Series("t_s", [0.0, 1.0]), values])
    with pytest.raises(UserError, match=r"^made: content: must have a value to show: of rate_down_mbps, .* or lost$"):
        panels(Recording(frame, "series", None, "test", "made", ()))


def test_a_recording_is_shown_with_the_same_bytes_and_without_a_clock_as_distributions() -> None:
    frame = pl.DataFrame({"t_s": [0.05, 0.15, 1.0], "opportunities": pl.Series([10, 20, 1], dtype=pl.UInt32)})
    (panel,) = panels(Recording(frame, "opportunities", "capacity", "test", "made", ()))
    assert panel.table["value"].to_list()[:3] == [pytest.approx(1.2), pytest.approx(2.4), 0.0]
    recording = Recording(pl.DataFrame({"rtt_ms": [1.0, 2.0, 3.0]}), "samples", None, "test", "made", ())
    assert "round trip (ms)" in " ".join(drawn(panels(recording)[0], WIDTH))
    assert len(drawing.draw(recording, "samples").figure.axes) == 1
    twice = [drawing.draw(levelled(), "made").figure for _ in range(2)]
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
    recording = levelled(len(values), rtt_ms=values)
    assert all(max(map(len, drawn(panel, WIDTH))) <= WIDTH for panel in panels(recording))
    assert svg(drawing.draw(recording, "any").figure)


@pytest.mark.parametrize("width", [10, 60, 80, 100, 500])
def test_a_drawing_fits_the_terminal_down_to_what_can_be_read(width: int) -> None:
    lines = drawn(panels(levelled())[0], width)
    assert max(map(len, lines)) <= max(width, LEAST_WIDTH)


@pytest.mark.parametrize("name", [r"$\frac{1}$.log", "$5 to $6.log", "a\x1b[2J\x00.log", "<b>&.log"])
def test_any_name_is_drawn_as_it_is(name: str) -> None:
    figure = drawing.draw(levelled(), name).figure
    assert png(figure)
    assert ElementTree.fromstring(svg(figure)).tag.endswith("svg")  # noqa: S314 (our own)


def test_what_is_neither_a_name_nor_a_file_is_refused(tmp_path: Path) -> None:
    done = lab(tmp_path, "traces", "show", "nothing/here")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "nothing/here: must be a file, or a recording that 'lab traces list' names" in done.stderr
