# SPDX-License-Identifier: GPL-2.0-or-later
"""A series is cleaned piece by piece; steps are a microsecond apart; and when a link could have sent so much."""

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

from lab.links import batches
from lab.links.batches import Batches
from lab.links.draw import Link, draw_link
from lab.links.profile import Profile, read_profile
from lab.links.shapes import write_steps
from lab.links.steps import Steps
from lab.tables.link_capacity import LinkCapacity

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
    """Put pieces together."""
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
    file = folder / "mine.yml"
    file.write_text(yaml.safe_dump({"title": "t", "down": DOWN, "up": up, "recorded": [], "assumed": []}))
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
