# SPDX-License-Identifier: GPL-2.0-or-later
"""Quantities of a link over time, put together without loss; and a buffer that is drawn for each trial."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from lab.base.errors import UserError
from lab.links import lognormal
from lab.links.models import MODELS, Choice, Cycle, Jitter, Level, Levels, Lognormal, Schedule, Sum, Uniform
from lab.links.quantiles import Quantiles
from lab.links.queue import MODELS as QUEUES
from lab.links.queue import queue
from lab.links.recorded import Recorded, Series, _cleaned
from lab.links.steps import Steps, added, mean, merged, peak, rows
from lab.node.qdiscs import kinds
from lab.traces.batches import Batches
from tests.unit.test_links_draw import SIMPLE, drawn, profile, refusal

TIMES_S, VALUES = np.array([0.0, 1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0, 70.0])
RECORDED = Recorded(Series(file="rate.csv"), lambda: iter([(TIMES_S, VALUES)]), length_s=4.0, meaning=None)


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
def test_merged_steps_have_every_change_and_a_sum_has_the_sum_of_the_means(one: Steps, other: Steps) -> None:
    both = list(merged(one, other))
    assert [t_s for t_s, _ in both] == sorted({t_s for source in (one, other) for t_s, _ in rows(source)})
    for t_s, values in both:
        assert values == tuple(max(row for row in rows(q) if row[0] <= t_s)[1] for q in (one, other))
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


def test_drawn_rates_have_the_published_mean_and_spread_or_none() -> None:
    rng = np.random.default_rng(1)
    model = Lognormal(model="lognormal", mean=152.9, sd=96.0, source="WiFi paper, table I")
    drawn = np.array([next(rows(model.draw(rng, 3.0)))[1] for _ in range(20_000)])
    assert drawn.mean() == pytest.approx(152.9, rel=0.02)
    assert drawn.std() == pytest.approx(96.0, rel=0.05)
    assert [lognormal.clipped_mean(mean_, 0.0, 8.0, 20.0) for mean_ in (5.0, 10.0, 30.0)] == [8.0, 10.0, 20.0]
    assert [lognormal.share_within(mean_, 0.0, 8.0, 20.0) for mean_ in (5.0, 8.0, 20.0, 30.0)] == [0.0, 1.0, 1.0, 0.0]
    for least, most in ((0.0, 20.0), (10.0, 20.0), (5.0, 10.0)):
        model = Lognormal(model="lognormal", mean=10, sd=0, least=least, most=most, source="test")
        value = model.draw(np.random.default_rng(1), 1.0)
        assert value == pytest.approx(10)
        assert isinstance(value, float)
        assert least <= value <= most


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


def test_levels_have_the_stated_mean_and_spreads_and_a_new_one_begins_each_period() -> None:
    model = Levels(model="levels", period_s=1.7, mean=70, ln_sd=1.15, between_ln_sd=0.6, source="test")
    logs = [np.log(levels(seed, model, 600.0)) for seed in range(400)]
    assert np.mean([trial.std() for trial in logs]) == pytest.approx(1.15, rel=0.02)
    assert np.std([trial.mean() for trial in logs]) == pytest.approx(0.6, rel=0.1)
    assert np.mean([trial.mean() for trial in logs]) == pytest.approx(np.log(70) - (1.15**2 + 0.6**2) / 2, abs=0.1)
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


def test_models_that_contradict_themselves_are_refused() -> None:
    for wrong in ({"sd": 3.0, "ln_sd": 1.0}, {}, {"ln_sd": 1.0, "least": 5.0, "most": 5.0}, {"ln_sd": 9.0}):
        with pytest.raises(ValidationError):
            Levels(model="levels", period_s=1.0, mean=20, source="test", **wrong)
    for wrong in ({"sd": 0.0, "most": 50.0}, {"sd": 20.0, "least": 60.0, "most": 50.0}, {"sd": 1.0, "least": 200.0}):
        with pytest.raises(ValidationError, match=r"at least 0\.1% of its values"):
            Lognormal(model="lognormal", mean=100, source="test", **wrong)


def test_a_cycle_spans_twice_its_amplitude_around_its_mean_and_a_square_wave_has_but_two_values() -> None:
    shown = [value for _, value in rows(SINE.draw(np.random.default_rng(1), 3.0))]
    assert [min(shown), max(shown)] == pytest.approx([40, 60], abs=0.1)
    square = Cycle(model="cycle", mean=50, amplitude=10, period_s=0.3, shape="square", source="test")
    assert [square.mean + square.amplitude * square._wave(turn) for turn in (0.0, 0.49, 0.5, 0.99)] == [60, 60, 40, 40]
    drawn = square.draw(np.random.default_rng(1), 3.0)
    assert isinstance(drawn, Steps)
    assert {value for _, value in rows(drawn)} == {40.0, 60.0}


def test_the_mean_and_the_peak_of_steps_and_of_a_recording_that_begins_again() -> None:
    rate = Steps.of([(0.0, 10.0), (2.0, 30.0), (4.0, 1000.0), (5.0, 9000.0)])
    assert mean(rate, 4.0) == pytest.approx(20.0)
    assert mean(rate, 3.0) == pytest.approx(50 / 3)
    assert mean(Steps.of([(0.0, 10.0), (1.0, 50.0)]), 4.0) == pytest.approx(40.0)
    assert peak(Steps.of([(0.0, 1.0), (2.0, 9.0), (3.0, 2.0)])) == 9.0
    assert RECORDED.nominal() == pytest.approx(32.5)
    assert list(rows(RECORDED.window(0.0, 4.0))) == [(0.0, 10.0), (1.0, 20.0), (2.0, 30.0), (3.0, 70.0)]
    assert list(rows(RECORDED.window(2.5, 3.0))) == [(0.0, 30.0), (0.5, 70.0), (1.5, 10.0), (2.5, 20.0)]
    assert list(rows(RECORDED.window(3.5, 0.25))) == [(0.0, 70.0)]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_recordings_mean_is_the_same_however_it_is_read(size: int) -> None:
    def pieces() -> Batches:
        return ((TIMES_S[at : at + size], VALUES[at : at + size]) for at in range(0, len(TIMES_S), size))

    assert replace(RECORDED, batches=pieces).nominal() == pytest.approx(32.5)
    assert replace(RECORDED, batches=pieces).least() == 10.0
    whole = list(rows(RECORDED.window(1.5, 7.0)))
    assert list(rows(replace(RECORDED, batches=pieces).window(1.5, 7.0))) == whole


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


@pytest.mark.parametrize(("mean_ms", "least_ms"), [(25.0, 0.0), (5.0, 5.0), (0.0, 0.0), (-10.0, 0.0), (5.0, 40.0)])
def test_what_stands_for_jitter_is_the_mean_of_its_values_of_which_none_is_below_the_least(
    mean_ms: float, least_ms: float
) -> None:
    for sd in (20.0, 3.0, 0.0):
        model = Jitter(model="jitter", mean=mean_ms, sd=sd, correlation_ms=1, least=least_ms, source="test")
        drawn = [value for _, value in rows(model.draw(np.random.default_rng(1), 2000.0))]
        assert model.nominal == pytest.approx(np.mean(drawn), abs=0.02 * sd + 1e-9)


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
    assert lognormal.clipped_mean(mean_, ln_sd, least, most) == pytest.approx(values.clip(least, most).mean(), rel=0.01)
    within = ((values >= least) & (values <= most)).mean()
    assert lognormal.share_within(mean_, ln_sd, least, most) == pytest.approx(within, abs=0.005)


@pytest.mark.parametrize("name", QUEUES)
def test_a_queue_has_the_defaults_of_its_table_and_requires_what_has_none(name: str) -> None:
    fields = [setting.field for setting in kinds.find(name).settings if setting.field]
    required = {field.name for field in fields if field.default is None and not field.optional}
    model = QUEUES[name]
    assert {each for each, info in model.model_fields.items() if info.is_required()} == {"kind"} | required
    defaults = {field.name: field.default for field in fields if field.name not in required}
    assert {each: model.model_fields[each].default for each in defaults} == defaults
    with pytest.raises(ValidationError, match="no_such_field"):
        queue(name, no_such_field=1)


BUFFERS = {"model": "lognormal", "mean": 100_000, "sd": 80_000, "least": 1514, "source": "test"}


def test_a_buffer_drawn_for_each_trial_differs_between_seeds_and_follows_its_model(tmp_path: Path) -> None:
    requested = profile(tmp_path, {**SIMPLE, "buffer_bytes": BUFFERS})
    sizes = [drawn(requested, seed).down.buffer_bytes or 0 for seed in range(300)]
    assert sizes[0] == drawn(requested, 0).down.buffer_bytes
    assert len(set(sizes)) > 290  # of 300: two may round to the same byte
    assert min(sizes) >= 1514
    assert np.mean(sizes) == pytest.approx(100_000, rel=0.15)


def test_a_drawn_buffer_leaves_the_rate_and_the_delays_of_its_trial_as_they_were(tmp_path: Path) -> None:
    uniform = {"model": "uniform", "least": 5, "most": 50, "source": "test"}
    down = {"rate_mbps": uniform, "delay_ms": uniform, "buffer_bytes": 50_000}
    fixed, varied = (drawn(profile(tmp_path, {**down, "buffer_bytes": size}), seed=7) for size in (50_000, BUFFERS))
    assert (fixed.down.rate_mbps, fixed.base_rtt_ms) == (varied.down.rate_mbps, varied.base_rtt_ms)


def test_a_drawn_buffer_smaller_than_a_frame_is_refused(tmp_path: Path) -> None:
    tiny = {"model": "uniform", "least": 100, "most": 1000, "source": "test"}
    assert "down.buffer_bytes=" in (reported := refusal(profile(tmp_path, {**SIMPLE, "buffer_bytes": tiny})))
    assert "must be at least one frame of 1514 bytes" in reported


def test_a_buffer_of_an_unknown_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="buffer_bytes"):
        profile(tmp_path, {**SIMPLE, "buffer_bytes": {"model": "levels", "mean": 1e5, "sd": 1, "period_s": 1}})
