# SPDX-License-Identifier: GPL-2.0-or-later
"""A quantity known by quantiles and by how long its values last: what a summary of a recording gives."""

import math
from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, field_validator

from lab.links.model import Model, NotNegative, Period, Positive
from lab.links.steps import Quantity, Row, Steps
from lab.schema.load import Real

Pair = Annotated[list[NotNegative], Field(min_length=2, max_length=2)]


class Quantiles(Model):
    """A new value every step, with these quantiles, correlated in time; values between two quantiles are evenly likely.

    A Gaussian variable is mapped to the quantiles. A share of its variance is drawn again every `slow_s` and the rest
    is an autoregression of first order; the phases of both are the trial's.
    """

    model: Literal["quantiles"]
    at_pct: Annotated[list[Pair], Field(min_length=2)]  # [percent, value]
    step_s: Period
    correlation_s: Positive
    slow_share: Annotated[Real, Field(ge=0, le=1)] = 0.0
    slow_s: Period = 1.0

    @field_validator("at_pct")
    @classmethod
    def _in_order(cls, at_pct: list[Pair]) -> list[Pair]:
        percents, values = zip(*at_pct, strict=True)
        if percents[0] != 0 or percents[-1] != 100 or sorted(set(percents)) != list(percents):
            raise ValueError("quantiles from 0 to 100 percent, each once and in order")
        if sorted(values) != list(values):
            raise ValueError("quantiles whose values do not fall")
        return at_pct

    def draw(self, rng: np.random.Generator, duration_s: float) -> Quantity:
        """Draw the phases, and a seed of its own, so that the series can be read again."""
        phase_s, slow_phase_s = float(rng.uniform(0, self.step_s)), float(rng.uniform(0, self.slow_s))
        seed = int(rng.integers(2**63))
        return Steps(lambda: self._rows(np.random.default_rng(seed), phase_s, slow_phase_s, duration_s))

    def _rows(self, rng: np.random.Generator, phase_s: float, slow_until_s: float, duration_s: float) -> Iterator[Row]:
        kept = math.exp(-self.step_s / self.correlation_s)
        slow, fast = rng.normal(), rng.normal()
        for n in range(math.ceil((duration_s + phase_s) / self.step_s)):
            t_s = max(n * self.step_s - phase_s, 0.0)
            while t_s >= slow_until_s:
                slow, slow_until_s = rng.normal(), slow_until_s + self.slow_s
            yield t_s, self._value(math.sqrt(self.slow_share) * slow + math.sqrt(1 - self.slow_share) * fast)
            fast = kept * fast + math.sqrt(1 - kept**2) * rng.normal()

    def _value(self, deviations: float) -> float:
        """Return the value at the quantile that a Gaussian value has."""
        percents, values = zip(*self.at_pct, strict=True)
        return float(np.interp(50 * (1 + math.erf(deviations / math.sqrt(2))), percents, values))

    @property
    def nominal(self) -> float:
        """Return the mean."""
        percents, values = zip(*self.at_pct, strict=True)
        return float(np.trapezoid(values, percents)) / 100
