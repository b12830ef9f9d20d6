# SPDX-License-Identifier: GPL-2.0-or-later
"""Video: chunks of one bitrate, fetched one after the other until the player's buffer is full, then one per period.

The form is that of a player of HTTP adaptive streaming (Rao and others, "Network characteristics of video streaming
traffic", CoNEXT 2011): a start-up phase that fills the buffer, then ON-OFF periods as the player makes room. The
bitrate stays what it is: how a player adapts it is another question. Chunks differ in size as encoders' do.
"""

import math
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from lab.schema.workload import MOST_OBJECT_BYTES, MOST_OBJECTS, Exchange, Number, WaitS, Workload


class Video(Workload):
    """A player of chunks."""

    unit: ClassVar[str] = "chunk"
    kind: Literal["video"] = "video"
    chunks: Annotated[int, Field(ge=1, le=MOST_OBJECTS)] = 15
    rate_mbps: Annotated[Number, Field(gt=0, le=1000)] = 8.0
    chunk_s: Annotated[Number, Field(gt=0, le=60)] = 4.0  # play in a chunk
    buffer_s: WaitS = 12.0
    spread: Annotated[Number, Field(ge=0, le=1)] = 0.2  # standard deviation of a chunk's size over its mean

    @model_validator(mode="after")
    def _buffer_holds_a_chunk(self) -> "Video":
        if self.buffer_s < self.chunk_s:
            raise ValueError(f"a video whose buffer_s={self.buffer_s:g} holds a chunk of chunk_s={self.chunk_s:g}")
        return self

    def sample(self, rng: np.random.Generator) -> list[Exchange]:
        """Return one exchange per chunk; its size is log-normal around rate times length."""
        variance = math.log(1 + self.spread**2)
        mean_bytes = self.rate_mbps * 1e6 / 8 * self.chunk_s
        sizes = rng.lognormal(math.log(mean_bytes) - variance / 2, math.sqrt(variance), self.chunks)
        bounded = np.clip(np.rint(sizes), 1, MOST_OBJECT_BYTES)
        return [Exchange(n, 0.0, (int(size),), self.chunk_s) for n, size in enumerate(bounded, start=1)]


WORKLOAD = Video
