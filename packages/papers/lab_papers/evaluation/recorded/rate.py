# SPDX-License-Identifier: GPL-2.0-or-later
"""What sums a download up: when so much was acknowledged, its round trips, their cycle, and how its rate changes."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from lab.base.errors import UserError
from lab.traces.recording import Recording
from lab_papers.evaluation.recorded.download import Download, Floats
from lab_papers.evaluation.spectrum import spectrum

MARKS_PKTS = (50, 200, 500, 1000, 2000)
FIRST_S = 9.0  # of the download, for the median round trip and its cycle: about the time until capacity on GEO
EVEN_S = 0.02  # half a frame of the return link
FROM_S, BIN_S = 11.0, 0.5  # of the rate: from the time of capacity on
LAGS_S = (0.5, 1.0, 2.0)


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
