# SPDX-License-Identifier: GPL-2.0-or-later
"""What every model of a quantity has, and the numbers that it may hold."""

from typing import Annotated

import numpy as np
from pydantic import Field

from lab.links.steps import Quantity
from lab.schema.load import NO_FLAG, Real, Strict

MOST = 1e12  # of any number: beyond all units of a link, and its square is still a float
LEAST_STEP_S = 0.001  # between two values: finer steps cost a node more than a sender can notice
Number = Annotated[Real, Field(ge=-MOST, le=MOST)]
Positive = Annotated[Real, Field(ge=1 / MOST, le=MOST)]
NotNegative = Annotated[Real, Field(ge=0, le=MOST)]
Period = Annotated[Real, Field(ge=LEAST_STEP_S, le=MOST)]
Bound = Annotated[float, Field(gt=0, strict=False, allow_inf_nan=True), NO_FLAG]  # infinite: none, in run.json too
LnSd = Annotated[Real, Field(ge=0, le=5)]  # of a logarithm: 5 is a spread over eight decades


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
