# SPDX-License-Identifier: GPL-2.0-or-later
"""The round trips of slow starts on one clock, averaged over trials: what the thesis transforms (section 4.5.1)."""

from collections.abc import Iterable
from copy import copy

import numpy as np
import polars as pl

from lab.judge.ack_stream import ack_stream
from lab.tables.downloads import FLOW
from lab.tables.stored_trial import Trial

SAMPLES_A_RTT = 20.0


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
