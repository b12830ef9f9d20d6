# SPDX-License-Identifier: GPL-2.0-or-later
"""One download of a trial in numbers, by what was acknowledged to its sender: both downloads alike.

Times count from the flow's own first data segment at its client, so that a late beginning costs nothing by itself.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from lab.judge.slow_start import first_exit
from lab.tables.stored_trial import Trial
from lab.tables.trial_json import FlowJson

SIZES_MB = (1, 5, 20)


@dataclass(frozen=True)
class Flow:
    """What became of a download; null: it did not come to that within the trial."""

    sender: str
    exit_s: float | None  # from slow start
    exit_cause: str | None
    retransmits_pkts: int | None
    seconds: float  # how long it lasted
    whole_s: dict[int, float | None]  # by size in MB: when so much was acknowledged
    at_s: np.ndarray  # of each ACK
    acked_bytes: np.ndarray

    def rate_mbps(self, seconds: float) -> float | None:
        """Return its goodput over its first seconds; null of no time, as where its data came behind the end."""
        if not seconds:
            return None
        place = int(np.searchsorted(self.at_s, seconds, side="right"))
        return float(self.acked_bytes[place - 1]) * 8e-6 / seconds if place else 0.0


def flows(trial: Trial) -> list[Flow]:
    """Return the downloads of a trial: the sender's, then the rival's if there is one."""
    return [_flow(trial, meta) for meta in trial.meta["flows"]]


def _flow(trial: Trial, meta: FlowJson) -> Flow:
    number, begin_s = meta["flow"], meta["data_s"]
    own = trial.acks.filter(pl.col("flow") == number)
    at_s = own["t_s"].to_numpy() - begin_s
    acked_bytes = np.maximum.accumulate(own["snd_una_bytes"].to_numpy()) - 1  # the first number is the SYN's
    left = first_exit(trial.exits, number)
    return Flow(
        meta["cca"],
        None if left is None else left.t_s - begin_s,
        None if left is None else left.cause,
        meta["retransmits_pkts"],
        meta["seconds"],
        {size: _first_s(at_s, acked_bytes, size * 1_000_000) for size in SIZES_MB},
        at_s,
        acked_bytes,
    )


def _first_s(at_s: np.ndarray, acked_bytes: np.ndarray, size_bytes: int) -> float | None:
    place = int(np.searchsorted(acked_bytes, size_bytes))
    return float(at_s[place]) if place < len(at_s) else None
