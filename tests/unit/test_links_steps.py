# SPDX-License-Identifier: GPL-2.0-or-later
"""Quantities of a link over time: read again as often as needed, added and put together without loss."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from lab.links.models import MODELS, Choice, Cycle, Jitter, Level, Levels, Lognormal, Schedule, Sum, Uniform
from lab.links.quantiles import Quantiles
from lab.links.steps import Steps, added, mean, merged, peak, rows

times = st.lists(st.integers(1, 10_000), unique=True, max_size=30).map(sorted)
series = times.map(lambda found: Steps.of([(0.0, 1.0), *((t / 100, float(t % 7)) for t in found)]))
SEEDS = st.integers(0, 2**32 - 1)
STALLS = [Level(from_s=0.0, value=3.0), Level(from_s=1.0, value=0.0)]
SINE = Cycle(model="cycle", mean=50, amplitude=10, period_s=0.3, source="test")
TENTHS: list[list[float]] = [[0, 1], [10, 2], [50, 4], [90, 9], [100, 20]]
QUANTILES = Quantiles(
    model="quantiles", at_pct=TENTHS, step_s=0.1, correlation_s=0.3, slow_share=0.5, slow_s=2, source="test"
)
MODELLED = [
    Lognormal(model="lognormal", mean=100, sd=96, least=5, source="test"),
    Uniform(model="uniform", least=514, most=594, source="test"),
    Choice(model="choice", values=[1, 1, 8], source="test"),
    Levels(model="levels", period_s=0.7, mean=20, sd=3, source="test"),
    Levels(model="levels", period_s=0.7, mean=20, ln_sd=1, between_ln_sd=0.6, least=5, most=40, source="test"),
    QUANTILES,
    SINE,
    Cycle(model="cycle", mean=50, amplitude=10, period_s=0.3, shape="square", source="test"),
    Cycle(model="cycle", mean=50, amplitude=10, period_s=0.3, shape="sawtooth", source="test"),
    Jitter(model="jitter", mean=5, sd=2, correlation_ms=50, source="test"),
    Schedule(model="schedule", steps=STALLS, period_s=2, source="test"),
]


@given(series, series)
def test_put_together_every_change_of_each_is_there_once(one: Steps, other: Steps) -> None:
    both = list(merged(one, other))
    assert [t_s for t_s, _ in both] == sorted({t_s for source in (one, other) for t_s, _ in rows(source)})
    for t_s, values in both:
        assert values == tuple(max(row for row in rows(q) if row[0] <= t_s)[1] for q in (one, other))


@given(series, series)
def test_the_mean_of_a_sum_is_the_sum_of_the_means(one: Steps, other: Steps) -> None:
    assert mean(added(one, other), 120.0) == pytest.approx(mean(one, 120.0) + mean(other, 120.0))


@pytest.mark.parametrize("model", MODELLED, ids=lambda model: f"{type(model).__name__}-{getattr(model, 'shape', '')}")
@given(seed=SEEDS)
def test_every_model_starts_at_zero_goes_forward_and_reads_the_same_twice(model: Lognormal, seed: int) -> None:
    drawn = model.draw(np.random.default_rng(seed), 5.0)
    shown = list(rows(drawn))
    assert shown[0][0] == 0
    assert all(later[0] > earlier[0] for earlier, later in pairwise(shown))
    assert shown == list(rows(drawn)) == list(rows(model.draw(np.random.default_rng(seed), 5.0)))


def test_every_model_is_tried_above_or_is_made_of_those() -> None:
    assert {type(model) for model in MODELLED} | {Sum} == set(MODELS.values())


def test_drawn_rates_have_the_published_mean_and_spread() -> None:
    rng = np.random.default_rng(1)
    model = Lognormal(model="lognormal", mean=152.9, sd=96.0, source="WiFi paper, table I")
    drawn = np.array([next(rows(model.draw(rng, 3.0)))[1] for _ in range(20_000)])
    assert drawn.mean() == pytest.approx(152.9, rel=0.02)
    assert drawn.std() == pytest.approx(96.0, rel=0.05)


def test_quantiles_are_kept_and_values_last_as_long_as_stated() -> None:
    drawn = [levels(seed, QUANTILES, 60.0) for seed in range(200)]
    found = np.percentile(np.concatenate(drawn), [percent for percent, _ in TENTHS[1:-1]])
    assert found == pytest.approx([value for _, value in TENTHS[1:-1]], rel=0.05)
    assert np.mean(np.concatenate(drawn)) == pytest.approx(QUANTILES.nominal, rel=0.03)
    # the slow half falls in a line to nothing at 2 s, the rest by 1/e every 0.3 s; both are of the Gaussian variable
    for lag_s, correlation in ((0.1, 0.83), (1.0, 0.27), (3.0, 0.0)):
        pairs = np.concatenate([np.stack([each[: -round(lag_s * 10)], each[round(lag_s * 10) :]]) for each in drawn], 1)
        assert np.corrcoef(pairs)[0, 1] == pytest.approx(correlation, abs=0.05)


@pytest.mark.parametrize(
    ("at_pct", "rule"),
    [
        ([[0, 1], [50, 2]], "from 0 to 100 percent"),
        ([[0, 1], [60, 2], [50, 3], [100, 4]], "from 0 to 100 percent"),
        ([[0, 1], [50, 3], [100, 2]], "do not fall"),
    ],
)
def test_quantiles_that_are_none_are_refused(at_pct: list[list[float]], rule: str) -> None:
    with pytest.raises(ValidationError, match=rule):
        Quantiles(model="quantiles", at_pct=at_pct, step_s=1, correlation_s=1, source="test")


def levels(seed: int, model: Levels | Quantiles, duration_s: float) -> np.ndarray:
    return np.array([value for _, value in rows(model.draw(np.random.default_rng(seed), duration_s))])


def test_levels_have_the_stated_mean_the_spread_within_a_trial_and_the_spread_between_trials() -> None:
    model = Levels(model="levels", period_s=1.7, mean=70, ln_sd=1.15, between_ln_sd=0.6, source="test")
    logs = [np.log(levels(seed, model, 600.0)) for seed in range(400)]
    assert np.mean([trial.std() for trial in logs]) == pytest.approx(1.15, rel=0.02)
    assert np.std([trial.mean() for trial in logs]) == pytest.approx(0.6, rel=0.1)
    assert np.mean([trial.mean() for trial in logs]) == pytest.approx(np.log(70) - (1.15**2 + 0.6**2) / 2, abs=0.1)


def test_a_new_level_begins_each_period_and_the_first_one_somewhere_in_its_own() -> None:
    model = Levels(model="levels", period_s=1.7, mean=70, ln_sd=1.0, source="test")
    firsts_s = []
    for seed in range(200):
        times_s = [t_s for t_s, _ in rows(model.draw(np.random.default_rng(seed), 20.0))]
        assert np.diff(times_s[1:]) == pytest.approx(1.7)
        firsts_s.append(times_s[1])
    assert min(firsts_s) == pytest.approx(0.0, abs=0.05)
    assert max(firsts_s) == pytest.approx(1.7, abs=0.05)


def test_levels_outside_the_bounds_take_the_bounds_value_and_the_stated_mean_is_that_of_what_is_left() -> None:
    bounds = {"least": 5.0, "most": 144.0}
    model = Levels(model="levels", period_s=1.7, mean=70, ln_sd=1.15, between_ln_sd=0.6, source="test", **bounds)
    free = Levels(model="levels", period_s=1.7, mean=70, ln_sd=1.15, between_ln_sd=0.6, source="test")
    drawn = [levels(seed, model, 200.0) for seed in range(3000)]
    assert all(np.array_equal(trial, np.clip(levels(n, free, 200.0), 5, 144)) for n, trial in enumerate(drawn[:50]))
    assert model.nominal == pytest.approx(np.mean(np.concatenate(drawn)), rel=0.03)
    assert f"{model.nominal:.3g} after clipping" in model.summary
    assert "after clipping" not in free.summary


def test_levels_that_contradict_themselves_are_refused() -> None:
    for wrong in ({"sd": 3.0, "ln_sd": 1.0}, {}, {"ln_sd": 1.0, "least": 5.0, "most": 5.0}, {"ln_sd": 9.0}):
        with pytest.raises(ValidationError):
            Levels(model="levels", period_s=1.0, mean=20, source="test", **wrong)


def test_a_log_normal_model_whose_bounds_leave_next_to_nothing_is_refused() -> None:
    for wrong in ({"sd": 0.0, "most": 50.0}, {"sd": 20.0, "least": 60.0, "most": 50.0}, {"sd": 1.0, "least": 200.0}):
        with pytest.raises(ValidationError, match=r"at least 0\.1% of its values"):
            Lognormal(model="lognormal", mean=100, source="test", **wrong)


def test_a_cycle_spans_twice_its_amplitude_around_its_mean() -> None:
    shown = [value for _, value in rows(SINE.draw(np.random.default_rng(1), 3.0))]
    assert [min(shown), max(shown)] == pytest.approx([40, 60], abs=0.1)


def test_the_peak_is_the_largest_value() -> None:
    assert peak(Steps.of([(0.0, 1.0), (2.0, 9.0), (3.0, 2.0)])) == 9.0


def test_a_square_wave_is_above_its_mean_for_one_half_and_below_it_for_the_other() -> None:
    square = Cycle(model="cycle", mean=50, amplitude=10, period_s=0.3, shape="square", source="test")
    assert [square.mean + square.amplitude * square._wave(turn) for turn in (0.0, 0.49, 0.5, 0.99)] == [60, 60, 40, 40]
    drawn = square.draw(np.random.default_rng(1), 3.0)
    assert isinstance(drawn, Steps)
    assert {value for _, value in rows(drawn)} == {40.0, 60.0}


def test_a_log_normal_value_without_spread_is_its_mean() -> None:
    for least, most in ((0.0, 20.0), (10.0, 20.0), (5.0, 10.0)):
        model = Lognormal(model="lognormal", mean=10, sd=0, least=least, most=most, source="test")
        value = model.draw(np.random.default_rng(1), 1.0)
        assert value == pytest.approx(10)
        assert isinstance(value, float)
        assert least <= value <= most
