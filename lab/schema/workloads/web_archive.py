# SPDX-License-Identifier: GPL-2.0-or-later
"""Web pages as heavy as those of 2022: the Web Almanac's percentiles of weight and requests of mobile pages.

HTTP Archive, Web Almanac 2022, chapter Page Weight: weight 445, 990, 2,019, 4,042 and 8,082 KB and 23, 41, 70, 102 and
168 requests at the 10th, 25th, 50th, 75th and 90th percentile. Between them both are log-linear; below the first and
above the last they stay there. Assumed: a page has weight and requests of the same percentile; its main object and the
shares of the others are log-normal with the spread of the NGMN model (see web.py); all come over one connection,
although a browser opens several: this is the upper bound of what one connection carries.
"""

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from lab.schema.workload import Exchange, Number, WaitS, Workload

KB = 1024
PERCENTILES = (0.10, 0.25, 0.50, 0.75, 0.90)
WEIGHT_KB = (445, 990, 2019, 4042, 8082)
REQUESTS = (23, 41, 70, 102, 168)
SHARE_SD = 1.37  # of the logarithm of an object's share: that of NGMN's main objects


class WebArchive(Workload):
    """A reader of pages of today's weight."""

    unit: ClassVar[str] = "page"
    kind: Literal["web_archive"] = "web_archive"
    pages: Annotated[int, Field(ge=1, le=29)] = 5
    reading_s: WaitS = 30.0  # mean, as in the NGMN model
    parsing_s: Annotated[Number, Field(ge=0, le=60)] = 0.13  # mean, as there

    def sample(self, rng: np.random.Generator) -> list[Exchange]:
        """Return two exchanges per page: the main object, then all others together."""
        found: list[Exchange] = []
        for page in range(1, self.pages + 1):
            reading_s = float(rng.exponential(self.reading_s)) if page > 1 else 0.0
            main, *others = page_bytes(rng)
            found.append(Exchange(page, reading_s, (main,)))
            found.append(Exchange(page, float(rng.exponential(self.parsing_s)), tuple(others)))
        return found


def page_bytes(rng: np.random.Generator) -> list[int]:
    """Sample the sizes of a page's objects, the main one first; their sum is the page's weight."""
    place = rng.uniform()
    weight, requests = (float(np.exp(np.interp(place, PERCENTILES, np.log(each)))) for each in (WEIGHT_KB, REQUESTS))
    shares = rng.lognormal(0.0, SHARE_SD, round(requests))
    return [max(round(size), 1) for size in (weight * KB * shares / shares.sum()).tolist()]


WORKLOAD = WebArchive
