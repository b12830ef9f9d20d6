# SPDX-License-Identifier: GPL-2.0-or-later
"""Slow spells of a download: how long they last, how far they are apart, and the rates in them and between them.

Where a queue stands the rate is the link's, and not the window's. The rates of the recorded downloads have two modes
there, about 1 and 10 Mb/s, and few bins between: SLOW_MBPS lies where the histogram of the logs is lowest.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab_papers.evaluation.recorded.download import Download, Floats
from lab_papers.evaluation.recorded.rate import BIN_S

SLOW_MBPS = 2.5
QUEUE_RTTS = 3  # a queue stands where round trips take so many times the least: what waits for the return link is below
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Rates:
    """The rates of one state."""

    median_mbps: float
    ln_sd: float
    correlation: float  # of ln(rate), from a bin to the next


@dataclass(frozen=True)
class Spells:
    """The spells of one download; a mean length is the time in a state by the number of its ends that were seen."""

    queue_s: float  # time with a queue
    share: float  # of it in spells
    first_s: float  # when the first one is seen
    lasts_s: float
    apart_s: float
    slow: Rates
    usual: Rates


def spells(download: Download, until_s: float = float("inf")) -> Spells | None:
    """Return a download's spells up to a time; null where no queue stands in two bins of each state."""
    edges_s = np.arange(float(download.t_s[0]), min(float(download.t_s[-1]), until_s), BIN_S)
    grown = np.diff(download.at(download.delivered_bytes, edges_s)) * download.ip_share
    mbps = grown * 8e-6 / BIN_S
    queue = _binned(download.t_s, download.rtt_ms, edges_s, np.nanmedian) >= QUEUE_RTTS * download.min_rtt_ms
    slow = mbps < SLOW_MBPS
    if min((queue & slow).sum(), (queue & ~slow).sum()) < 2:
        return None
    return Spells(
        queue_s=float(queue.sum() * BIN_S),
        share=float(slow[queue].mean()),
        first_s=float(edges_s[np.flatnonzero(queue & slow)[0]]),
        lasts_s=_length_s(queue, slow),
        apart_s=_length_s(queue, ~slow),
        slow=_rates(mbps, _inner(queue & slow)),
        usual=_rates(mbps, _inner(queue & ~slow)),
    )


def _binned(t_s: Floats, values: Floats, edges_s: Floats, function: Callable[[Floats], Any]) -> Floats:
    """Return a function of each bin's values; infinite where no ACK came: what waits does not move."""
    rows = np.searchsorted(t_s, edges_s)
    within = [part[~np.isnan(part)] for part in np.split(values, rows)[1:-1]]
    return np.array([function(part) if part.size else np.inf for part in within])


def _length_s(queue: Flags, state: Flags) -> float:
    """Return the mean length of a state, as of one without memory: stretches whose end was not seen count as well."""
    ends = queue[:-1] & queue[1:] & state[:-1] & ~state[1:]
    return float((queue & state).sum() * BIN_S / ends.sum()) if ends.any() else float("nan")


def _inner(state: Flags) -> Flags:
    """Leave out the first and the last bin of each stretch: the state may have changed within them."""
    padded = np.concatenate([[False], state, [False]])
    inner: Flags = state & padded[:-2] & padded[2:]
    return inner


def _rates(mbps: Floats, among: Flags) -> Rates:
    known = among & (mbps > 0)
    if not known.any():
        return Rates(*[float("nan")] * 3)
    logs = np.log(mbps[known])
    apart = np.where(known, np.log(np.where(known, mbps, 1.0)) - logs.mean(), np.nan)
    products = apart[1:] * apart[:-1]
    both = products[~np.isnan(products)]
    correlation = both.mean() / logs.var() if both.size and logs.var() else float("nan")
    ln_sd = logs.std(ddof=1) if logs.size > 1 else float("nan")
    return Rates(float(np.exp(np.median(logs))), float(ln_sd), float(correlation))
