# SPDX-License-Identifier: GPL-2.0-or-later
"""A series is cleaned piece by piece; a mahimahi trace repeats; and when a link could have sent so much."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lab.base.errors import UserError
from lab.commands.inventory import check_all
from lab.links import faults
from lab.links.draw import Link, draw_link
from lab.links.profile import Profile, read_profile
from lab.links.recorded import Series, load_opportunities, load_series
from lab.links.shapes import write_steps
from lab.links.steps import Steps
from lab.tables.link_capacity import LinkCapacity
from lab.traces import batches
from lab.traces.batches import Batches
from tests.brief import put

VALUES = st.one_of(st.just(np.nan), st.integers(0, 9).map(float))
STEPS = {
    "held": partial(batches.held, zero_is_missing=False, scale=2.0),
    "held, zero missing": partial(batches.held, zero_is_missing=True, scale=1.0),
    "binned": lambda rows: batches.binned(batches.present(rows), 0.03, 2.0),
    "least of 50 ms": lambda rows: batches.least_of(batches.held(rows, False, 1.0), 0.05),
}


def cut(t_s: np.ndarray, value: np.ndarray, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Hand a series out in pieces."""
    for at in range(0, len(t_s), size):
        yield t_s[at : at + size], value[at : at + size]


def whole(pieces: Batches) -> list[list[float]]:
    return [np.concatenate(columns).round(9).tolist() for columns in zip(*pieces, strict=True)]


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
@given(values=st.lists(VALUES, min_size=1, max_size=60), first=st.integers(1, 9), size=st.integers(1, 20))
def test_where_a_series_is_cut_changes_nothing(
    step: Callable[[Batches], Batches], values: list[float], first: int, size: int
) -> None:
    t_s, value = np.arange(len(values)) / 100, np.array([float(first), *values[1:]])
    assert whole(step(cut(t_s, value, size))) == whole(step(cut(t_s, value, len(value))))


def test_a_value_is_held_where_one_is_missing_and_bins_hold_what_fell_into_them() -> None:
    t_s, value = np.arange(6) / 10, np.array([np.nan, 0, 3, np.nan, 0, 5])
    assert whole(batches.held(iter([(t_s, value)]), True, 10)) == [[0, 0.1, 0.2, 0.3], [30, 30, 30, 50]]
    assert whole(batches.held(iter([(t_s, value)]), False, 10)) == [[0, 0.1, 0.2, 0.3, 0.4], [0, 30, 30, 0, 50]]
    t_s, value = np.array([0.0, 0.009, 0.01, 0.035]), np.array([1.0, 2, 3, 4])
    assert whole(batches.binned(iter([(t_s, value)]), 0.01, 1.0)) == [[0, 0.01, 0.02, 0.03], [3, 3, 0, 4]]
    t_s, value = np.arange(7) / 100, np.array([5.0, 1, 5, 4, 5, 6, 7])
    assert whole(batches.least_of(iter([(t_s, value)]), 0.03)) == [t_s.tolist(), [5, 1, 1, 1, 4, 4, 5]]


DOWN: dict[str, Any] = {"rate_mbps": 10, "delay_ms": 10, "buffer_bytes": 50_000}
CLOSE = [(0.0, 1.0), (4e-7, 2.0), (0.01, 3.0), (0.01 + 3e-7, 4.0), (0.01 + 4e-7, 5.0), (0.02, 6.0)]


def profile(folder: Path, up: dict[str, Any]) -> Profile:
    file = put(folder / "a.yml", yaml.safe_dump({"title": "t", "down": DOWN, "up": up, "recorded": [], "assumed": []}))
    return read_profile(file)


def written(stated: Profile, link: Link, part: str, folder: Path) -> list[list[str]]:
    write_steps(stated, link, folder / "link")
    return [line.split("\t") for line in (folder / "link" / f"{part}.tsv").read_text().splitlines()[:-1]]


def of_trial(stated: Profile) -> Link:
    return draw_link(stated, 10.0, np.random.default_rng(1))


def test_of_the_rates_and_delays_within_a_microsecond_the_last_holds(tmp_path: Path) -> None:
    stated = profile(tmp_path, {"delay_ms": 10})
    link = of_trial(stated)
    changing = replace(link, down=replace(link.down, rate_mbps=Steps.of(CLOSE), delay_ms=Steps.of(CLOSE)))
    rates = written(stated, changing, "bottleneck", tmp_path)
    assert rates == [["0", "2000000"], ["10000", "5000000"], ["20000", "6000000"]]
    delays = written(stated, changing, "delay-down", tmp_path)
    assert delays == [["0", "2000", "0"], ["10000", "5000", "0"], ["20000", "6000", "0"]]


def test_of_the_opportunities_within_a_microsecond_none_is_lost(tmp_path: Path) -> None:
    stated = profile(tmp_path, {"delay_ms": 10})
    link = of_trial(stated)
    opportunities = Steps.of((t_s, 1514.0) for t_s, _ in CLOSE[2:])
    changing = replace(link, down=replace(link.down, opportunity_bytes=opportunities))
    assert written(stated, changing, "bottleneck", tmp_path) == [["0", "0"], ["10000", "4542"], ["20000", "1514"]]


def link(quantity: str, times: list[float], values: list[float]) -> LinkCapacity:
    return LinkCapacity(pl.DataFrame({"quantity": [quantity] * len(times), "t_s": times, "value": values}))


@given(st.lists(st.floats(0.1, 100), min_size=1, max_size=5), st.floats(0, 6))
def test_a_link_has_sent_by_that_time_what_it_could_send(rates_mbps: list[float], t_s: float) -> None:
    steps = link("down.rate_mbps", [float(n) for n in range(len(rates_mbps))], rates_mbps)
    assert steps.time_of_bytes(steps.sent_bytes(np.array([t_s])))[0] == pytest.approx(t_s, abs=1e-6)


def test_bytes_leave_at_an_opportunity_wait_through_an_outage_and_for_ever_after_the_last() -> None:
    outage = link("down.rate_mbps", [0.0, 1.0, 3.0], [8.0, 0.0, 8.0])
    assert list(outage.time_of_bytes(np.array([0.5e6, 1.0e6, 1.5e6]))) == pytest.approx([0.5, 1.0, 3.5])
    ended = link("down.rate_mbps", [0.0, 1.0], [8.0, 0.0])
    assert list(ended.time_of_bytes(np.array([1.0e6, 1.1e6]))) == [1.0, np.inf]
    opportunities = link("down.opportunity_bytes", [0.1, 0.2, 0.4], [1500.0, 1500.0, 1500.0])
    found = opportunities.time_of_bytes(np.array([1.0, 1500.0, 1501.0, 4500.0, 4501.0]))
    assert list(found) == [0.1, 0.1, 0.2, 0.4, np.inf]


FIELD = Path(__file__).parents[1] / "data/field/profiles"


def series(folder: Path, lines: str, loop: bool = True, **more: Any) -> Series:
    (folder / "link.trace").write_text(lines)
    return Series(file="link.trace", format="mahimahi", loop=loop, **more)


def instants(folder: Path, lines: str, until_ms: float, phase_ms: float = 0.0, loop: bool = True) -> list[float]:
    """Return each opportunity of a window in ms, as often as packets may pass."""
    found = load_opportunities(series(folder, lines, loop), folder / "mine.yml", "down.opportunities")
    window = found.window(phase_ms / 1e3, until_ms / 1e3).rows()
    return [round(t_s * 1e3, 6) for t_s, size_bytes in window for _ in range(round(size_bytes / 1514))]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("1\n", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),  # 12 Mb/s, the usual constant trace
        ("5\n", [5, 10]),
        ("2\n3\n7\n", [2, 3, 7, 9, 10]),  # the last line is both a packet and the period
        ("0\n4\n", [4, 4, 8, 8, 12, 12]),  # a packet at 0 leaves as the loop before ends
        ("4\n4\n6\n", [4, 4, 6, 10, 10, 12]),
    ],
)
def test_the_last_line_is_a_packet_and_the_period(tmp_path: Path, lines: str, expected: list[float]) -> None:
    assert instants(tmp_path, lines, until_ms=12) == expected


def test_a_loop_is_read_as_often_as_needed_and_a_window_may_begin_anywhere(tmp_path: Path) -> None:
    assert instants(tmp_path, "2\n3\n7\n", until_ms=10, phase_ms=2.5) == [0.5, 4.5, 6.5, 7.5]
    found = instants(tmp_path, "400\n1500\n", until_ms=6000)
    assert found == [400, 1500, 1900, 3000, 3400, 4500, 4900, 6000]


@pytest.mark.parametrize("lines", ["1\n", "1\n2\n3\n4\n", "0\n1\n2\n10\n", "3\n6\n9\n12\n25\n"])
def test_a_trace_as_a_rate_carries_what_its_packets_do(tmp_path: Path, lines: str) -> None:
    found = load_series(series(tmp_path, lines), ("rate_mbps",), tmp_path / "mine.yml", "down.rate_mbps")
    count, period_ms = len(lines.split()), int(lines.split()[-1])
    assert found.length_s == period_ms / 1e3
    assert found.nominal() == pytest.approx(count * 1514 * 8 / period_ms / 1e3)


@pytest.mark.parametrize("lines", ["0\n", "0\n0\n"])
def test_a_trace_that_does_not_last_is_refused(tmp_path: Path, lines: str) -> None:
    with pytest.raises(
        UserError, match=r"link\.trace: must be a recording whose last delivery opportunity is after 0 ms"
    ):
        instants(tmp_path, lines, until_ms=12)


def traced(folder: Path, name: str = "mine", **opportunities: Any) -> Profile:
    down = {"opportunities": opportunities, "delay_ms": 30, "buffer_bytes": 90_000}
    file = put(
        folder / f"{name}.yml",
        yaml.safe_dump({"title": "t", "down": down, "up": {"delay_ms": 30}, "recorded": [], "assumed": []}),
    )
    return read_profile(file)


UNUSABLE: list[tuple[str | None, dict[str, Any], str]] = [
    (None, {"loop": True}, "down.opportunities.file=0.trace: must be a file in the folder of the profile"),
    ("1\n", {"loop": True}, "down.opportunities.format=: must be given, because the content of 1.trace does not"),
    ("words\n", {"loop": True}, "down.opportunities.file=2.trace: must be a file of a known format"),
    ("1\n", {"format": "mahimahi"}, "series=3.trace: must be as long as the trial until all is closed"),
    ("3\n1\n", {"format": "mahimahi", "loop": True}, "4.trace: line 2: t_ms=1: must be no less than 3"),
]


def test_check_names_every_file_that_no_trial_can_use_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, (lines, series, words) in enumerate(UNUSABLE):
        if lines is not None:
            (tmp_path / f"{number}.trace").write_text(lines)
        (fault,) = faults.faults(traced(tmp_path, f"mine-{number}", file=f"{number}.trace", **series))
        assert words in str(fault)
        assert "--" not in str(fault).replace("import FILE --out", "")
    monkeypatch.setenv("LAB_PROFILES", str(tmp_path))
    with pytest.raises(UserError) as refused:
        list(check_all())
    named = str(refused.value).split("\n")
    assert len(named) == len(UNUSABLE)
    assert all(words in line for line, (_, _, words) in zip(named, UNUSABLE, strict=True))


def test_a_recording_short_for_the_usual_trial_is_a_caution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link.trace").write_text("".join(f"{t_ms}\n" for t_ms in range(1, 20_000)))
    traced(tmp_path, file="link.trace", format="mahimahi")
    monkeypatch.setenv("LAB_PROFILES", str(tmp_path))
    lines = [line for line in check_all() if "link.trace" in line]
    assert len(lines) == 1
    assert "must be as long as the trial" in lines[0]
    assert lines[0].endswith("that is a trial of 'lab run --profile mine' without --duration")


def test_the_usual_constant_trace_is_a_link_of_12_mbps() -> None:
    link = draw_link(read_profile(FIELD / "mahimahi-one-line.yml"), 10.0, np.random.default_rng(1))
    assert link.mean_rate_mbps == pytest.approx(12 * 1514 / 1500, rel=1e-4)
