# SPDX-License-Identifier: GPL-2.0-or-later
"""Named models of a quantity. To add one: a class here, and its name in MODELS.

`draw` takes all its randomness from the generator that it is given. Every model names the source of its parameters.
"""

import math
from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from lab.links.steps import Quantity, Row, Steps, added
from lab.schema.load import Strict

Number = Annotated[float, Field(strict=False)]
Positive = Annotated[float, Field(gt=0, strict=False)]
NotNegative = Annotated[float, Field(ge=0, strict=False)]
STEPS_A_CYCLE, LEAST_STEP_S = 40, 0.001  # finer steps cost a node more than they tell a sender


class Model(Strict):
    """A model with the source of its parameters."""

    source: Annotated[str, Field(min_length=1)]

    def draw(self, rng: np.random.Generator, duration_s: float) -> Quantity:
        """Draw the quantity over one trial."""
        raise NotImplementedError

    @property
    def nominal(self) -> float:
        """Return the value that stands for the model where one number must (a buffer in BDPs)."""
        raise NotImplementedError


class Lognormal(Model):
    """One value a trial, of a log-normal distribution: positive, and as wide as published spreads are."""

    model: Literal["lognormal"]
    mean: Positive
    sd: NotNegative
    least: NotNegative = 0.0
    most: Positive = math.inf

    def draw(self, rng: np.random.Generator, duration_s: float) -> Quantity:  # noqa: ARG002
        """Draw again what lies outside the bounds."""
        while True:
            value = lognormal(rng, self.mean, self.sd)
            if self.least <= value <= self.most:
                return value

    @property
    def nominal(self) -> float:
        """Return the mean."""
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
        """Return the middle."""
        return (self.least + self.most) / 2


class Levels(Model):
    """A new log-normal value every period, as where a scheduler assigns capacity anew; the phase is the trial's."""

    model: Literal["levels"]
    period_s: Positive
    mean: Positive
    sd: NotNegative

    def draw(self, rng: np.random.Generator, duration_s: float) -> Quantity:
        """Draw the phase, then a level a period."""
        begins = np.arange(-rng.uniform(0, self.period_s), duration_s, self.period_s)
        return Steps.of([(max(float(t_s), 0.0), lognormal(rng, self.mean, self.sd)) for t_s in begins])

    @property
    def nominal(self) -> float:
        """Return the mean."""
        return self.mean


class Cycle(Model):
    """A periodic variation around a mean, from mean - amplitude to mean + amplitude; the phase is the trial's."""

    model: Literal["cycle"]
    mean: Number
    amplitude: NotNegative
    period_s: Positive
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
        """Return the mean."""
        return self.mean


class Jitter(Model):
    """Correlated random variation: a Gaussian autoregression of first order, never below `least`."""

    model: Literal["jitter"]
    mean: Number
    sd: NotNegative
    correlation_ms: Positive
    step_ms: Positive = 10.0
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
        """Return the mean."""
        return self.mean


class Level(Strict):
    """From a time on, a value."""

    from_s: NotNegative
    value: Number


class Schedule(Model):
    """Known values at known times; repeated where a period is given."""

    model: Literal["schedule"]
    steps: Annotated[list[Level], Field(min_length=1)]
    period_s: Positive | None = None

    @model_validator(mode="after")
    def _in_order(self) -> "Schedule":
        times = [step.from_s for step in self.steps]
        if times[0] != 0 or sorted(set(times)) != times or (self.period_s and times[-1] >= self.period_s):
            raise ValueError("steps that start at 0 s, follow each other and lie within the period")
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
        """Return the first value."""
        return self.steps[0].value


class Sum(Model):
    """Several models together: a level, a cycle and jitter, say."""

    model: Literal["sum"]
    of: Annotated[list["Term"], Field(min_length=2)]

    def draw(self, rng: np.random.Generator, duration_s: float) -> Quantity:
        """Draw the terms in their order."""
        return added(*(term.draw(rng, duration_s) for term in self.of))

    @property
    def nominal(self) -> float:
        """Return the sum of the terms' nominal values."""
        return sum(term.nominal for term in self.of)


Term = Annotated[Lognormal | Uniform | Levels | Cycle | Jitter | Schedule, Field(discriminator="model")]
MODELS: dict[str, type[Model]] = {
    "lognormal": Lognormal,
    "uniform": Uniform,
    "levels": Levels,
    "cycle": Cycle,
    "jitter": Jitter,
    "schedule": Schedule,
    "sum": Sum,
}
Sum.model_rebuild()


def lognormal(rng: np.random.Generator, mean: float, sd: float) -> float:
    """Draw a log-normal value of this mean and standard deviation."""
    sigma2 = math.log1p((sd / mean) ** 2)
    return float(math.exp(rng.normal(math.log(mean) - sigma2 / 2, math.sqrt(sigma2))))
