# SPDX-License-Identifier: GPL-2.0-or-later
"""The dominant cycle of round trips in slow start, of the average over downloads (thesis, section 4.5.1)."""

from collections.abc import Iterable
from copy import copy

import numpy as np
import polars as pl

from lab.base.errors import UserError
from lab.base.stats import CONFIDENCE, FEWEST_VALUES, RESAMPLING_SEED
from lab.judge.ack_stream import ack_stream
from lab.judge.copies import distinct
from lab.judge.registry import TRUTH
from lab.judge.stored import Stored
from lab.tables.downloads import FLOW
from lab.tables.stored_trial import Trial
from lab.traces.recording import Recording
from lab_papers.evaluation.spectrum import Spectrum, spectrum

SAMPLES_A_RTT = 20.0
LEAST_RTTS = 8  # a shorter slow start does not hold the cycles looked for twice
PREFERRED = ("cubic_plain", "search")  # the thesis transforms slow starts without HyStart
RESAMPLES = 200  # each is transformed
Parts = tuple[list[pl.DataFrame], float]


def of_trials(
    trials: Iterable[Trial], full_s: dict[tuple[str, int], float | None], step_s: float
) -> list[pl.DataFrame]:
    """Return step and rtt_ms of each named trial.

    full_s: until when each (sender, number) had no queue; a trial that is not named is left out.
    """
    named = ((trial, (trial.cca, trial.number)) for trial in trials)
    return [_of_trial(copy(trial), full_s[key], step_s) for trial, key in named if key in full_s]


def mean_of(rows: list[pl.DataFrame], step_s: float) -> pl.DataFrame:
    """t_s, rtt_ms (mean), sd_ms and trials of each step in which at least half of the trials are in slow start.

    rows: as `of_trials` returns them. t_s counts from the first ACK of each trial.
    """
    if not rows:
        return pl.DataFrame(schema={"t_s": pl.Float64, "rtt_ms": pl.Float64, "sd_ms": pl.Float64, "trials": pl.UInt32})
    by_step = (
        pl.concat(rows)
        .group_by("step")
        .agg(rtt_ms=pl.col("rtt_ms").mean(), sd_ms=pl.col("rtt_ms").std(), trials=pl.len())
    )
    common = by_step.filter(pl.col("trials") * 2 >= len(rows)).sort("step")
    return common.select(t_s=pl.col("step") * step_s, rtt_ms="rtt_ms", sd_ms="sd_ms", trials="trials")


def _of_trial(trial: Trial, full_s: float | None, step_s: float) -> pl.DataFrame:
    """Mean RTT sample of each step; a step without a sample takes a value on the line between its neighbours."""
    stream = ack_stream(trial.acks, FLOW)
    if full_s is not None:
        stream = stream.filter(pl.col("t_us") <= full_s * 1e6)
    if stream.height < 2:
        return pl.DataFrame(schema={"step": pl.Int64, "rtt_ms": pl.Float64})
    t_s, rtt_ms = stream["t_us"].to_numpy() / 1e6, stream["rtt_us"].to_numpy() / 1e3
    steps = np.arange(int((t_s[-1] - t_s[0]) / step_s) + 1)
    return pl.DataFrame({"step": steps, "rtt_ms": np.interp(steps * step_s + t_s[0], t_s, rtt_ms)})


def parts(stored: Stored) -> Parts:
    """Return the round trips of one sender's valid trials until the link was full, on one clock, and its step."""
    cca = next((name for name in PREFERRED if name in {stanza["name"] for stanza in stored.ccas}), None)
    true = distinct(stored.judged.outcomes).filter(heuristic=TRUTH, cca=cca)
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
    if found is None or len(rows) < FEWEST_VALUES:
        return found, None, None, len(rows)
    rng = np.random.default_rng(RESAMPLING_SEED)
    picked = (rng.integers(len(rows), size=len(rows)) for _ in range(RESAMPLES))
    drawn = [hz for each in picked if (hz := _dominant_hz([rows[index] for index in each], step_s)) is not None]
    low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return found, float(low), float(high), len(rows)


def _dominant_hz(rows: list[pl.DataFrame], step_s: float) -> float | None:
    found = transformed(mean_of(rows, step_s))
    return float(found.peaks["frequency_hz"][0]) if found and found.peaks.height else None
