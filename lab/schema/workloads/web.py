# SPDX-License-Identifier: GPL-2.0-or-later
"""Web pages by the model that radio networks are evaluated with: a main object, then embedded ones, then reading.

NGMN Alliance, "Radio Access Performance Evaluation Methodology", version 1.0, January 2008, web browsing; the same in
IEEE 802.16m-08/004. Sizes are log-normal, given by mean and standard deviation, and sampled again until they lie within
their bounds. Embedded objects are Pareto (shape 1.1, scale 2), cut at 55, less 2: a mean of 5.64, at most 53. Reading
takes an exponential time of mean 30 s, parsing the main object one of 0.13 s.

A browser requests embedded objects together once it has parsed the main object, on one connection (HTTP/2).
"""

import math
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from lab.schema.workload import Exchange, Number, WaitS, Workload

MAIN, EMBEDDED = (10_710, 25_032, 100, 2_000_000), (7_758, 126_168, 50, 2_000_000)  # mean, sd, least, most: bytes
PARETO_SHAPE, PARETO_SCALE, PARETO_MOST = 1.1, 2, 55


class Web(Workload):
    """A reader of pages."""

    unit: ClassVar[str] = "page"
    kind: Literal["web"] = "web"
    pages: Annotated[int, Field(ge=1, le=90)] = 5
    reading_s: WaitS = 30.0  # mean
    parsing_s: Annotated[Number, Field(ge=0, le=60)] = 0.13  # mean

    def sample(self, rng: np.random.Generator) -> list[Exchange]:
        """Return the exchanges of all pages: of each the main object, then the embedded ones if it has any."""
        found: list[Exchange] = []
        for page in range(1, self.pages + 1):
            reading_s = float(rng.exponential(self.reading_s)) if page > 1 else 0.0
            found.append(Exchange(page, reading_s, (size_bytes(rng, *MAIN),)))
            parsing_s = float(rng.exponential(self.parsing_s))
            if embedded := tuple(size_bytes(rng, *EMBEDDED) for _ in range(embedded_objects(rng))):
                found.append(Exchange(page, parsing_s, embedded))
        return found


def size_bytes(rng: np.random.Generator, mean: float, sd: float, least: int, most: int) -> int:
    """Sample a log-normal size, given by the mean and standard deviation that it has without its bounds."""
    variance = math.log(1 + (sd / mean) ** 2)
    while True:
        size = round(rng.lognormal(math.log(mean) - variance / 2, math.sqrt(variance)))
        if least <= size <= most:
            return size


def embedded_objects(rng: np.random.Generator) -> int:
    """Sample how many objects a page has beside its main one."""
    return round(min(PARETO_SCALE * (1 + rng.pareto(PARETO_SHAPE)), PARETO_MOST)) - PARETO_SCALE


WORKLOAD = Web
