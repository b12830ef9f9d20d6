# SPDX-License-Identifier: GPL-2.0-or-later
"""The value of a quantity in a profile: a number, a recorded series, or a named model."""

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from lab.links.models import MODELS, Choice, Cycle, Jitter, Levels, Lognormal, Schedule, Sum, Uniform
from lab.links.quantiles import Quantiles
from lab.links.recorded import Series
from lab.schema.load import Real, like

RATE_LEAST_MBPS = 0.001  # tc counts whole bytes a second; a link that stalls is a series
RATE_LIMIT_MBPS = 10_000  # netem keeps the order at this rate; a bottleneck above it would not be one
DELAY_LIMIT_MS = 60_000


def kind(value: Any) -> str:
    """Distinguish the forms by what only one of them has; the tags' `~` keeps them out of error messages."""
    if isinstance(value, dict) and (model := value.get("model")) is not None:
        return f"~{model if isinstance(model, str) and model in MODELS else 'unknown'}"
    if hasattr(value, "model"):
        return f"~{value.model}"
    return "~series" if isinstance(value, Series | dict) else "~number"


class Unknown(Lognormal):
    """Stands for a model that does not exist, so that the error names those that do."""

    model: Annotated[str, like("|".join(MODELS), f"one of these models: {', '.join(MODELS)}")]  # type: ignore[assignment]


Varying = (
    Annotated[Series, Tag("~series")]
    | Annotated[Lognormal, Tag("~lognormal")]
    | Annotated[Uniform, Tag("~uniform")]
    | Annotated[Choice, Tag("~choice")]
    | Annotated[Levels, Tag("~levels")]
    | Annotated[Quantiles, Tag("~quantiles")]
    | Annotated[Cycle, Tag("~cycle")]
    | Annotated[Jitter, Tag("~jitter")]
    | Annotated[Schedule, Tag("~schedule")]
    | Annotated[Sum, Tag("~sum")]
    | Annotated[Unknown, Tag("~unknown")]
)
RateNumber = Annotated[Real, Field(ge=RATE_LEAST_MBPS, le=RATE_LIMIT_MBPS)]
DelayNumber = Annotated[Real, Field(ge=0, le=DELAY_LIMIT_MS)]
PercentNumber = Annotated[Real, Field(ge=0, le=100)]
Once = Annotated[Lognormal, Tag("~lognormal")] | Annotated[Uniform, Tag("~uniform")] | Annotated[Choice, Tag("~choice")]
Rate = Annotated[Varying | Annotated[RateNumber, Tag("~number")], Discriminator(kind)]
Delay = Annotated[Varying | Annotated[DelayNumber, Tag("~number")], Discriminator(kind)]
Percent = Annotated[Varying | Annotated[PercentNumber, Tag("~number")], Discriminator(kind)]
DelayOnce = Annotated[Once | Annotated[DelayNumber, Tag("~number")], Discriminator(kind)]  # one value a trial
BytesNumber = Annotated[int, Field(ge=1, lt=2**31)]
PacketsNumber = Annotated[int, Field(ge=0, lt=2**31)]
PacketsOnce = Annotated[Once | Annotated[PacketsNumber, Tag("~number")], Discriminator(kind)]
BytesOnce = Annotated[Once | Annotated[BytesNumber, Tag("~number")], Discriminator(kind)]
