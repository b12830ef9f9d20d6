# SPDX-License-Identifier: GPL-2.0-or-later
"""Edges of a link's quantities: the trial's end, a recording's last row, the spread of correlated jitter."""

from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError

from lab.links import lognormal
from lab.links.batches import Batches
from lab.links.models import Jitter, Levels, Lognormal
from lab.links.queue import MODELS, queue
from lab.links.recorded import Recorded, Series, _cleaned
from lab.links.steps import Steps, mean, rows
from lab.node.qdiscs import kinds

TIMES_S, VALUES = np.array([0.0, 1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0, 70.0])
RECORDED = Recorded(Series(file="rate.csv"), lambda: iter([(TIMES_S, VALUES)]), length_s=4.0, meaning=None)


def test_steps_behind_the_end_of_the_trial_are_in_no_mean() -> None:
    rate = Steps.of([(0.0, 10.0), (2.0, 30.0), (4.0, 1000.0), (5.0, 9000.0)])
    assert mean(rate, 4.0) == pytest.approx(20.0)
    assert mean(rate, 3.0) == pytest.approx(50 / 3)


def test_the_last_step_counts_until_the_trial_ends() -> None:
    assert mean(Steps.of([(0.0, 10.0), (1.0, 50.0)]), 4.0) == pytest.approx(40.0)


def test_the_last_row_of_a_recording_is_in_its_mean_and_in_its_window() -> None:
    assert RECORDED.nominal() == pytest.approx(32.5)
    assert list(rows(RECORDED.window(0.0, 4.0))) == [(0.0, 10.0), (1.0, 20.0), (2.0, 30.0), (3.0, 70.0)]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_recordings_mean_is_the_same_however_it_is_read(size: int) -> None:
    def pieces() -> Batches:
        return ((TIMES_S[at : at + size], VALUES[at : at + size]) for at in range(0, len(TIMES_S), size))

    assert replace(RECORDED, batches=pieces).nominal() == pytest.approx(32.5)
    assert replace(RECORDED, batches=pieces).least() == 10.0
    whole = list(rows(RECORDED.window(1.5, 7.0)))
    assert list(rows(replace(RECORDED, batches=pieces).window(1.5, 7.0))) == whole


def test_the_last_row_holds_for_its_time_before_a_recording_begins_again() -> None:
    assert list(rows(RECORDED.window(2.5, 3.0))) == [(0.0, 30.0), (0.5, 70.0), (1.5, 10.0), (2.5, 20.0)]


def test_a_window_behind_the_last_row_holds_that_rows_value() -> None:
    assert list(rows(RECORDED.window(3.5, 0.25))) == [(0.0, 70.0)]


@pytest.mark.parametrize(("window_s", "least"), [(0.0, [30.0, 10.0, 20.0, 40.0]), (1.5, [30.0, 10.0, 10.0, 20.0])])
def test_a_loaded_path_is_the_least_of_the_stated_time_alone(window_s: float, least: list[float]) -> None:
    loaded = Series(file="rtt.csv", under_load_s=window_s)
    ((_, found),) = _cleaned(iter([(TIMES_S, np.array([30.0, 10.0, 20.0, 40.0]))]), loaded)
    assert found.tolist() == least


@pytest.mark.parametrize("mean", [0.0, 1e-13, -1.0])
def test_a_positive_number_is_not_so_small_that_a_links_arithmetic_ends(mean: float) -> None:
    with pytest.raises(ValidationError, match=r"greater than or equal to 0\.000000000001 "):
        Lognormal(model="lognormal", mean=mean, sd=0, source="test")


@pytest.mark.parametrize("correlation_ms", [1.0, 20.0, 100.0])
def test_jitter_has_the_stated_spread_however_it_is_correlated(correlation_ms: float) -> None:
    model = Jitter(model="jitter", mean=500, sd=2, correlation_ms=correlation_ms, source="test")
    drawn = np.array([value for _, value in rows(model.draw(np.random.default_rng(1), 300.0))])
    assert drawn.std() == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("ln_sd", [-0.1, 5.1])
def test_a_spread_is_neither_below_zero_nor_over_eight_decades(ln_sd: float) -> None:
    levels = {"model": "levels", "period_s": 1.7, "mean": 70, "most": 144, "source": "test"}
    assert Levels.model_validate({**levels, "ln_sd": 0.0}).ln_sd == 0.0
    with pytest.raises(ValidationError, match="ln_sd"):
        Levels.model_validate({**levels, "ln_sd": ln_sd})


@pytest.mark.parametrize(("least", "most"), [(0.0, 20.0), (8.0, 20.0), (8.0, float("inf")), (0.0, float("inf"))])
def test_the_mean_of_clipped_values_is_that_of_many_samples(least: float, most: float) -> None:
    mean_, ln_sd = 10.0, 0.9
    rng = np.random.default_rng(1)
    values = np.exp(rng.normal(np.log(mean_) - ln_sd**2 / 2, ln_sd, 400_000))
    assert lognormal.clipped_mean(mean_, ln_sd, least, most) == pytest.approx(
        np.clip(values, least, most).mean(), rel=0.01
    )
    within = ((values >= least) & (values <= most)).mean()
    assert lognormal.share_within(mean_, ln_sd, least, most) == pytest.approx(within, abs=0.005)


def test_a_value_without_a_spread_takes_the_bound_that_it_lies_beyond() -> None:
    assert [lognormal.clipped_mean(mean_, 0.0, 8.0, 20.0) for mean_ in (5.0, 10.0, 30.0)] == [8.0, 10.0, 20.0]
    assert [lognormal.share_within(mean_, 0.0, 8.0, 20.0) for mean_ in (5.0, 8.0, 20.0, 30.0)] == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("name", MODELS)
def test_a_queue_has_the_defaults_of_its_table_and_requires_what_has_none(name: str) -> None:
    fields = [setting.field for setting in kinds.find(name).settings if setting.field]
    required = {field.name for field in fields if field.default is None}
    model = MODELS[name]
    assert {each for each, info in model.model_fields.items() if info.is_required()} == {"kind"} | required
    defaults = {field.name: field.default for field in fields if field.default is not None}
    assert {each: model.model_fields[each].default for each in defaults} == defaults
    with pytest.raises(ValidationError, match="no_such_field"):
        queue(name, no_such_field=1)
