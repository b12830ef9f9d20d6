# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a byte that arrives at the bottleneck waits there: the mean over a download, from the queue itself."""

from pathlib import Path

import numpy as np

from lab.base.errors import UserError
from lab.tables.downloads import FLOW
from lab.tables.stored_trial import Trial

GRID_S = 0.001
AHEAD_S = 10.0  # how far beyond the download a queue may drain; a longer wait counts as this


def mean_wait_ms(folder: Path) -> float | None:
    """Return the mean wait of a stored trial; null where it cannot be read, or was not sampled."""
    try:
        return wait_ms(Trial(folder))
    except UserError:  # the report of faults names it
        return None


def wait_ms(trial: Trial) -> float | None:
    """Return the mean over the samples of the time that the link then needs for what is queued.

    The link that changes is followed: a queue is empty once the link could have sent as many bytes.
    """
    flow = next(flow for flow in trial.meta["flows"] if flow["flow"] == FLOW)
    begin_s, end_s = flow.get("data_s", 0.0), flow.get("end_s", float("inf"))
    table = trial.qdisc
    shown = table.filter((table["t_s"] >= begin_s) & (table["t_s"] <= end_s))
    if shown.is_empty():
        return None
    at_s, backlog_bytes = shown["t_s"].to_numpy(), shown["backlog_bytes"].to_numpy()
    grid_s = np.arange(at_s[0], at_s[-1] + AHEAD_S, GRID_S)
    sent_bytes = np.maximum.accumulate(trial.link.sent_bytes(grid_s))
    drained_bytes = trial.link.sent_bytes(at_s) + backlog_bytes
    empty = np.searchsorted(sent_bytes, drained_bytes, side="left")
    empty_s = grid_s[np.minimum(empty, len(grid_s) - 1)]
    return float(1000 * np.mean(np.where(backlog_bytes > 0, np.maximum(empty_s - at_s, 0), 0)))
