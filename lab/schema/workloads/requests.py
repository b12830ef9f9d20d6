# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests: calls of one size with pauses between them, as a program that calls a service over one connection."""

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from lab.schema.workload import MOST_OBJECTS, Exchange, ObjectBytes, WaitS, Workload


class Requests(Workload):
    """A call, its response, a pause, and so on."""

    unit: ClassVar[str] = "call"
    kind: Literal["requests"] = "requests"
    count: Annotated[int, Field(ge=1, le=MOST_OBJECTS)] = 10
    response_bytes: ObjectBytes = 1_000_000
    gap_s: WaitS = 1.0  # from a whole response to the next request; the mean where `gaps` is exponential
    gaps: Literal["fixed", "exponential"] = "exponential"

    def sample(self, rng: np.random.Generator) -> list[Exchange]:
        """Return one exchange per call; the first has no pause."""
        fixed = np.full(self.count, self.gap_s)
        waits_s = rng.exponential(self.gap_s, self.count) if self.gaps == "exponential" else fixed
        waits_s[0] = 0.0
        return [Exchange(n, float(wait_s), (self.response_bytes,)) for n, wait_s in enumerate(waits_s, start=1)]


WORKLOAD = Requests
