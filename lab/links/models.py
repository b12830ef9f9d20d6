# SPDX-License-Identifier: GPL-2.0-or-later
"""Named models of a quantity. To add one: a class here, which Term and MODELS list.

`draw` takes all its randomness from the generator that it is given. Every model names the source of its parameters.
"""

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import Annotated, Literal, get_args

import numpy as np
from pydantic import Field, model_validator

from lab.links import lognormal
from lab.links.model import LEAST_STEP_S, MOST, Bound, LnSd, Model, NotNegative, Number, Period, Positive
from lab.links.quantiles import Quantiles
from lab.links.steps import Quantity, Row, Steps, added
from lab.schema.load import Real, Strict

LEAST_SHARE = 0.001  # of a log-normal model's values within its bounds: what lies outside is drawn again
MOST_DRAWS = 100_000  # of a value within its bounds: with LEAST_SHARE, e^-100 of all trials need more
STEPS_A_CYCLE, MOST_TERMS, MOST_CHOICES = 40, 16, 1000


class Lognormal(Model):
    """One value a trial, of a log-normal distribution: positive, and as wide as published spreads are."""

    model: Literal["lognormal"]
    mean: Positive
    sd: NotNegative
    least: NotNegative = 0.0
    most: Bound = math.inf

    @model_validator(mode="after")
    def _likely_enough(self) -> "Lognormal":
        if lognormal.share_within(self.mean, self._ln_sd, self.least, self.most) < LEAST_SHARE:
            raise ValueError(f"a log-normal model with at least {LEAST_SHARE:.1%} of its values from least to most")
        return self

    @property
    def _ln_sd(self) -> float:
        return lognormal.ln_sd_of(self.mean, self.sd)

    def draw(self, rng: np.random.Generator, duration_s: float) -> Quantity:  # noqa: ARG002
        """Draw again what lies outside the bounds."""
        for _ in range(MOST_DRAWS):
            value = lognormal.sample(rng, self.mean, self._ln_sd)
            if self.least <= value <= self.most:
                return value
        return min(max(value, self.least), self.most)  # no spread: rounding alone leads out of the bounds

    @property
    def nominal(self) -> float:
        return self.mean


class Uniform(Model):
    """One value a trial, anywhere between two bounds: where physics gives a range and nothing more."""

    model: Literal["uniform"]
    least: NotNegative
    most: Positive

    @model_validator(mode="after")
    def _in_order(self) -> "Uniform":
        if self.most <= self.least:
            raise ValueError("a range with least below most")
        return self

    def draw(self, rng: np.random.Generator, duration_s: float) -> Quantity:  # noqa: ARG002
        """Draw one value."""
        return float(rng.uniform(self.least, self.most))

    @property
    def nominal(self) -> float:
        return (self.least + self.most) / 2


class Choice(Model):
    """One of some values a trial, each as likely as often as it is listed: what each of some recordings showed."""

    model: Literal["choice"]
    values: Annotated[list[Positive], Field(min_length=1, max_length=MOST_CHOICES)]

    def draw(self, rng: np.random.Generator, duration_s: float) -> Quantity:  # noqa: ARG002
        """Draw one of the values."""
        return self.values[int(rng.integers(len(self.values)))]

    @property
    def nominal(self) -> float:
        return sum(self.values) / len(self.values)


class Levels(Model):
    """A new log-normal value every period, as where a scheduler shares capacity out again; the phase is the trial's.

    Three numbers are stated apart: the mean, the spread of the levels of one trial (`sd` in the unit of the mean, or
    `ln_sd` of the logarithm), and the spread of the trials' own means (`between_ln_sd`). What lies outside `least` and
    `most` takes the bound's value, which changes the mean: `nominal` is the mean after clipping.
    """

    model: Literal["levels"]
    period_s: Period
    mean: Positive
    sd: NotNegative | None = None
    ln_sd: LnSd | None = None
    between_ln_sd: LnSd = 0.0
    least: NotNegative = 0.0
    most: Bound = math.inf

    @model_validator(mode="after")
    def _whole(self) -> "Levels":
        if (self.sd is None) == (self.ln_sd is None):
            raise ValueError("levels with either sd or ln_sd")
        if self.most <= self.least:
            raise ValueError(f"levels with least below most ({self.least:g} is not below {self.most:g})")
        return self

    @property
    def within_ln_sd(self) -> float:
        """Return the standard deviation of the logarithm of one trial's levels."""
        return lognormal.ln_sd_of(self.mean, self.sd) if self.sd is not None else float(self.ln_sd or 0)

    def draw(self, rng: np.random.Generator, duration_s: float) -> Quantity:
        """Draw the phase, the trial's mean where trials differ, then a level a period."""
        begins = np.arange(-rng.uniform(0, self.period_s), duration_s, self.period_s)
        mean = lognormal.sample(rng, self.mean, self.between_ln_sd) if self.between_ln_sd else self.mean
        levels = [lognormal.sample(rng, mean, self.within_ln_sd) for _ in begins]
        clipped = np.clip(levels, self.least, self.most).tolist()
        return Steps.of([(max(float(t_s), 0.0), level) for t_s, level in zip(begins, clipped, strict=True)])

    @property
    def nominal(self) -> float:
        """Return the mean over all trials, after clipping."""
        ln_sd = math.hypot(self.within_ln_sd, self.between_ln_sd)
        return lognormal.clipped_mean(self.mean, ln_sd, self.least, self.most)

    @property
    def summary(self) -> str:
        """Return the three numbers, and what clipping makes of the mean."""
        clipped = f" ({self.nominal:.3g} after clipping)" if self.least or math.isfinite(self.most) else ""
        spreads = f"ln-sd {self.within_ln_sd:.3g} within a trial and {self.between_ln_sd:.3g} between trials"
        return f"a level every {self.period_s:g} s, mean {self.mean:g}{clipped}, {spreads}"


class Cycle(Model):
    """A periodic variation around a mean, from mean - amplitude to mean + amplitude; the phase is the trial's."""

    model: Literal["cycle"]
    mean: Number
    amplitude: NotNegative
    period_s: Period
    shape: Literal["sine", "square", "sawtooth"] = "sine"

    def draw(self, rng: np.random.Generator, duration_s: float) -> Quantity:
        """Draw the phase."""
        phase = float(rng.uniform(0, 1))
        smooth = min(STEPS_A_CYCLE, max(math.floor(self.period_s / LEAST_STEP_S), 4))
        steps_a_cycle = 2 if self.shape == "square" else smooth
        turn = [self.mean + self.amplitude * self._wave(n / steps_a_cycle) for n in range(steps_a_cycle)]

        def rows() -> Iterator[Row]:
            first = math.floor(phase * steps_a_cycle)
            for n in range(first, first + math.ceil(duration_s / self.period_s * steps_a_cycle) + 1):
                yield max((n / steps_a_cycle - phase) * self.period_s, 0.0), turn[n % steps_a_cycle]

        return Steps(rows)

    def _wave(self, turn: float) -> float:
        if self.shape == "sine":
            return math.sin(2 * math.pi * turn)
        return (1.0 if turn < 0.5 else -1.0) if self.shape == "square" else 2 * turn - 1

    @property
    def nominal(self) -> float:
        return self.mean


class Jitter(Model):
    """Correlated random variation: a Gaussian autoregression of first order, never below `least`."""

    model: Literal["jitter"]
    mean: Number
    sd: NotNegative
    correlation_ms: Positive
    step_ms: Annotated[Real, Field(ge=LEAST_STEP_S * 1e3, le=MOST)] = 10.0
    least: Number = 0.0

    def draw(self, rng: np.random.Generator, duration_s: float) -> Quantity:
        """Draw a seed of its own, so that the series can be read again."""
        seed = int(rng.integers(2**63))
        kept = math.exp(-self.step_ms / self.correlation_ms)

        def rows() -> Iterator[Row]:
            own = np.random.default_rng(seed)
            state = own.normal()
            for n in range(math.ceil(duration_s * 1e3 / self.step_ms)):
                yield n * self.step_ms / 1e3, max(self.mean + self.sd * state, self.least)
                state = kept * state + math.sqrt(1 - kept**2) * own.normal()

        return Steps(rows)

    @property
    def nominal(self) -> float:
        """Return the mean of the values, of which none is below `least`."""
        if not self.sd:
            return max(self.mean, self.least)
        above, gaussian = (self.mean - self.least) / self.sd, NormalDist()
        return self.least + (self.mean - self.least) * gaussian.cdf(above) + self.sd * gaussian.pdf(above)


class Level(Strict):
    """From a time on, a value."""

    from_s: NotNegative
    value: Number


class Schedule(Model):
    """Known values at known times; repeated where a period is given."""

    model: Literal["schedule"]
    steps: Annotated[list[Level], Field(min_length=1)]
    period_s: Period | None = None

    @model_validator(mode="after")
    def _in_order(self) -> "Schedule":
        times = [step.from_s for step in self.steps]
        if times[0] != 0 or sorted(set(times)) != times or (self.period_s and times[-1] >= self.period_s):
            raise ValueError("steps that start at 0 s, follow each other and lie within the period")
        if self.period_s and self.period_s < LEAST_STEP_S * len(times):
            raise ValueError(f"a schedule with a period of at least {LEAST_STEP_S:g} s per step")
        return self

    def draw(self, rng: np.random.Generator, duration_s: float) -> Quantity:  # noqa: ARG002
        """Draw nothing."""
        turns = math.ceil(duration_s / self.period_s) if self.period_s else 1

        def rows() -> Iterator[Row]:
            for turn in range(turns):
                for step in self.steps:
                    yield turn * (self.period_s or 0.0) + step.from_s, step.value

        return Steps(rows)

    @property
    def nominal(self) -> float:
        return self.steps[0].value


class Sum(Model):
    """Several models together, such as a level, a cycle and jitter."""

    model: Literal["sum"]
    of: Annotated[list["Term"], Field(min_length=2, max_length=MOST_TERMS)]

    def draw(self, rng: np.random.Generator, duration_s: float) -> Quantity:
        """Draw the terms in their order."""
        return added(*(term.draw(rng, duration_s) for term in self.of))

    @property
    def nominal(self) -> float:
        return sum(term.nominal for term in self.of)


Term = Annotated[
    Lognormal | Uniform | Choice | Levels | Quantiles | Cycle | Jitter | Schedule, Field(discriminator="model")
]
MODELS = {
    get_args(each.model_fields["model"].annotation)[0]: each
    for each in (Lognormal, Uniform, Choice, Levels, Quantiles, Cycle, Jitter, Schedule, Sum)
}
Sum.model_rebuild()
