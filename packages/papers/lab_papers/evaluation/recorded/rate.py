# SPDX-License-Identifier: GPL-2.0-or-later
"""What sums a download up: when so much was acknowledged, its round trips, their cycle, and how its rate changes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab.base.errors import UserError
from lab.traces.recording import Recording
from lab_papers.evaluation.recorded.download import Download, Floats
from lab_papers.evaluation.spectrum import spectrum

MARKS_PKTS = (50, 200, 500, 1000, 2000)
FIRST_S = 9.0  # of the download, for the median round trip and its cycle: about the time until capacity on GEO
EVEN_S = 0.02  # half a frame of the return link
FROM_S, BIN_S = 11.0, 0.5  # of the rate: from the time of capacity on
LAGS_S = (0.5, 1.0, 2.0)
# Slow spells. Where a queue stands the rate is the link's, and not the window's. The rates of the recorded downloads
# have two modes there, about 1 and 10 Mb/s, and few bins between: SLOW_MBPS lies where their histogram is lowest.
SLOW_MBPS = 2.5
QUEUE_RTTS = 3  # a queue stands where round trips take so many times the least: what waits for the return link is below
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Rate:
    """How the rate of a download changes, in bins of BIN_S from FROM_S until its sender left slow start, or lost.

    So long a queue stands, and the rate is the link's. Afterwards the window may be the limit.
    """

    mean_mbps: float
    ln_sd: float  # of the bins in which anything arrived
    correlation: tuple[float, ...]  # of ln(rate), at LAGS_S
    bins: int
    idle: int  # bins without an arrival


def acked_after_s(download: Download, segments: int) -> float | None:
    """Return when so many segments were acknowledged; null where fewer were."""
    row = int(np.searchsorted(download.acked_pkts, segments))
    return float(download.t_s[row]) if row < len(download.t_s) else None


def median_rtt_ms(download: Download) -> float | None:
    """Return the median round trip over the first seconds; each time counts alike, however many ACKs it had."""
    even_ms = _even_rtt_ms(download)
    return float(np.median(even_ms)) if even_ms.size else None


def cycle_hz(download: Download) -> float | None:
    """Return the frequency at which the round trips of the first seconds swing most; null where none stands out."""
    even_ms = _even_rtt_ms(download)
    frame = pl.DataFrame({"t_s": EVEN_S * np.arange(even_ms.size), "rtt_ms": even_ms})
    if not even_ms.size:
        return None
    try:
        one = spectrum(Recording(frame, "series", None, "ack-log", download.name, ()), EVEN_S * even_ms.size)
    except UserError:  # too short
        return None
    return float(one.peaks["frequency_hz"][0]) if one.peaks.height else None


def rate(download: Download, from_s: float = FROM_S) -> Rate | None:
    """Return how the rate changes, in IP bits; null where there are fewer than four bins."""
    edges_s = np.arange(from_s, download.slow_start_end_s + 1e-9, BIN_S)
    if edges_s.size < 5:
        return None
    grown = np.diff(download.at(download.delivered_bytes, edges_s)) * download.ip_share
    mbps = grown * 8e-6 / BIN_S
    logs = np.log(mbps[mbps > 0])
    lags = tuple(_correlation(logs, round(lag_s / BIN_S)) for lag_s in LAGS_S)
    return Rate(float(mbps.mean()), float(logs.std(ddof=1)), lags, mbps.size, int((mbps == 0).sum()))


def _even_rtt_ms(download: Download) -> Floats:
    times_s = np.arange(download.t_s[0], min(FIRST_S, float(download.t_s[-1])), EVEN_S)
    known = ~np.isnan(download.rtt_ms)
    return np.interp(times_s, download.t_s[known], download.rtt_ms[known]) if known.any() else np.empty(0)


def _correlation(values: Floats, lag: int) -> float:
    if values.size <= lag + 1 or values.std() == 0:
        return float("nan")
    about = values - values.mean()
    return float((about[lag:] * about[:-lag]).sum() / (about**2).sum())


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
