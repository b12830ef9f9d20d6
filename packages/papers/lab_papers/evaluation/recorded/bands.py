# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded downloads against the band of emulated ones: the share of time inside it, and figures that sum each up.

The band runs from the 10th to the 90th percentile of the trials at each time. A recorded download is compared from
its first ACK on, for as long as the band lasts; once more only until it left slow start, for a sender other than the
emulated one goes on in another way from there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from lab.base.errors import UserError
from lab_papers.evaluation.recorded.download import Download, Floats
from lab_papers.evaluation.recorded.rate import MARKS_PKTS, acked_after_s, cycle_hz, median_rtt_ms

LOW_PCT, HIGH_PCT = 10, 90
STEP_S = 0.05  # of the band: a frame of the return link is 0.04 s
LEAST_TRIALS_SHARE = 0.5  # of the trials must still go on for a band

QUANTITIES = {"acked_pkts": "N(t)", "rtt_ms": "RTT", "inflight_bytes": "in flight"}


@dataclass(frozen=True)
class Band:
    """Percentiles of one quantity over the trials; NaN where too few trials know it."""

    t_s: Floats
    low: Floats
    middle: Floats
    high: Floats

    @property
    def end_s(self) -> float:
        """The last time at which there is a band."""
        known = np.flatnonzero(~np.isnan(self.low))
        return float(self.t_s[known[-1]]) if known.size else 0.0

    def inside_share(self, t_s: Floats, values: Floats, until_s: float = float("inf")) -> float | None:
        """Share of the times up to `until_s`, where both are known, at which values lie within the band."""
        low, high = (np.interp(t_s, self.t_s, edge) for edge in (self.low, self.high))
        known = ~np.isnan(values) & ~np.isnan(low) & ~np.isnan(high) & (t_s <= min(until_s, float(self.t_s[-1])))
        if not known.any():
            return None
        return float(((low <= values) & (values <= high))[known].mean())


def values_of(download: Download, quantity: str) -> Floats:
    """Return one of QUANTITIES, a value per ACK."""
    values: Floats = getattr(download, quantity)
    return values


def band(trials: Sequence[Download], quantity: str, until_s: float) -> Band:
    """Lay the trials of a run over one another; UserError where there are none."""
    if not trials:
        raise UserError("compare: must be given a run with a valid trial of its sender")
    t_s = np.arange(0.0, until_s + STEP_S / 2, STEP_S)
    table = np.array([trial.at(values_of(trial, quantity), t_s) for trial in trials])
    enough = (~np.isnan(table)).sum(axis=0) >= LEAST_TRIALS_SHARE * len(trials)
    edges = np.full((3, t_s.size), np.nan)
    if enough.any():
        edges[:, enough] = np.nanpercentile(table[:, enough], (LOW_PCT, 50, HIGH_PCT), axis=0)
    return Band(t_s, *edges)


def bands(trials: Sequence[Download]) -> dict[str, Band]:
    """Return the band of each quantity, as long as the longest trial."""
    until_s = max((float(trial.t_s[-1]) for trial in trials), default=0.0)
    return {quantity: band(trials, quantity, until_s) for quantity in QUANTITIES}


def inside(download: Download, among: dict[str, Band]) -> dict[str, tuple[float | None, float | None]]:
    """Return, of each quantity, the share of time inside the band: in slow start, and as long as both last."""
    found = {}
    for quantity, one in among.items():
        t_s = one.t_s[one.t_s >= download.t_s[0]]
        values = download.at(values_of(download, quantity), t_s)
        found[quantity] = (one.inside_share(t_s, values, download.slow_start_end_s), one.inside_share(t_s, values))
    return found


def left_out(trials: Sequence[Download]) -> list[dict[str, tuple[float | None, float | None]]]:
    """Return of each trial the share of time inside the band of the others; nothing of one trial alone."""
    if len(trials) < 2:
        return []
    return [inside(trial, bands([*trials[:n], *trials[n + 1 :]])) for n, trial in enumerate(trials)]


def marks(downloads: Sequence[Download]) -> pl.DataFrame:
    """One row per download: seconds until so many segments were acknowledged, median RTT, cycle of the RTT."""
    rows = [
        {"name": each.name}
        | {f"acked_{count}_s": acked_after_s(each, count) for count in MARKS_PKTS}
        | {"median_rtt_ms": median_rtt_ms(each), "min_rtt_ms": each.min_rtt_ms, "cycle_hz": cycle_hz(each)}
        for each in downloads
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def rms_s(ours: pl.DataFrame, recorded: pl.DataFrame) -> float | None:
    """Root mean square of the differences of the medians, over the marks that both reached; in s."""
    apart = []
    for count in MARKS_PKTS:
        mine, theirs = (table[f"acked_{count}_s"].cast(pl.Float64).median() for table in (ours, recorded))
        if isinstance(mine, float) and isinstance(theirs, float):
            apart.append(mine - theirs)
    return float(np.sqrt(np.mean(np.square(apart)))) if apart else None
