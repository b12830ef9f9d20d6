# SPDX-License-Identifier: GPL-2.0-or-later
"""The dominant cycle of round trips in slow start, of the average over downloads (thesis, section 4.5.1)."""

from copy import copy

import numpy as np
import polars as pl

from lab.base.errors import UserError
from lab.base.stats import CONFIDENCE, RESAMPLING_SEED
from lab.judge.registry import TRUTH
from lab.judge.stored import Stored
from lab.traces.recording import Recording
from lab_papers.evaluation.slow_start_rtt import SAMPLES_A_RTT, mean_of, of_trials
from lab_papers.evaluation.spectrum import Spectrum, spectrum

LEAST_RTTS = 8  # a shorter slow start does not hold the cycles looked for twice
PREFERRED = ("cubic_plain", "search")  # the thesis transforms slow starts without HyStart
RESAMPLES = 200  # each is transformed
Parts = tuple[list[pl.DataFrame], float]


def parts(stored: Stored) -> Parts:
    """Return the round trips of one sender's valid trials until the link was full, on one clock, and its step."""
    cca = next((name for name in PREFERRED if name in {stanza["name"] for stanza in stored.ccas}), None)
    true = stored.judged.outcomes.filter("valid", heuristic=TRUTH, cca=cca)
    full_s = {(row["cca"], row["trial"]): row["capacity_s"] or row["exit_s"] for row in true.iter_rows(named=True)}
    trials = [copy(trial) for trial in stored.run.trials if (trial.cca, trial.number) in full_s]
    step_s = min((trial.meta["base_rtt_ms"] for trial in trials), default=1000.0) / 1e3 / SAMPLES_A_RTT
    return of_trials(trials, full_s, step_s), step_s


def average(stored: Stored) -> pl.DataFrame:
    """Return the mean round trip of one sender's valid trials until the link was full, on one clock."""
    return mean_of(*parts(stored))


def transformed(table: pl.DataFrame) -> Spectrum | None:
    """Return the spectrum of the whole average; none where it is too short."""
    try:
        if table["t_s"][-1] < LEAST_RTTS * float(table["rtt_ms"].to_numpy().min()) / 1e3:
            return None
        recording = Recording(table.select("t_s", "rtt_ms"), "series", None, "trials", "slow start", ())
        return spectrum(recording, float(table["t_s"][-1] + table["t_s"][1]))
    except (UserError, IndexError, pl.exceptions.PolarsError):
        return None


def cycle_hz(stored: Stored) -> tuple[float | None, float | None, float | None, int]:
    """Return the dominant frequency, its 95 % interval by resampling downloads, and their number; null without one."""
    rows, step_s = parts(stored)
    found = _dominant_hz(rows, step_s)
    if found is None:
        return None, None, None, len(rows)
    rng = np.random.default_rng(RESAMPLING_SEED)
    picked = (rng.integers(len(rows), size=len(rows)) for _ in range(RESAMPLES))
    drawn = [hz for each in picked if (hz := _dominant_hz([rows[index] for index in each], step_s)) is not None]
    low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return found, float(low), float(high), len(rows)


def _dominant_hz(rows: list[pl.DataFrame], step_s: float) -> float | None:
    found = transformed(mean_of(rows, step_s))
    return float(found.peaks["frequency_hz"][0]) if found and found.peaks.height else None
