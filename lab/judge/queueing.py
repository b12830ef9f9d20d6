# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a byte that arrives at the bottleneck waits there: the mean over a download, from the queue itself."""

import numpy as np

from lab.tables.downloads import FLOW
from lab.tables.stored_trial import Trial

AHEAD_S = 10.0  # how far beyond the download a recording goes on; where a link changes, a longer wait counts as this


def mean_wait_ms(trial: Trial) -> float | None:
    """Return the mean over the samples of the time that the link, as it changes, then needs for what is queued."""
    flow = next(flow for flow in trial.meta["flows"] if flow["flow"] == FLOW)
    table = trial.qdisc
    shown = table.filter((table["t_s"] >= flow["data_s"]) & (table["t_s"] <= flow["end_s"]))
    if shown.is_empty():
        return None
    at_s, backlog_bytes = shown["t_s"].to_numpy(), shown["backlog_bytes"].to_numpy()
    empty_s = trial.link.time_of_bytes(trial.link.sent_bytes(at_s) + backlog_bytes)
    known_until_s = at_s[-1] + AHEAD_S if trial.link.changes else np.inf
    waits_s = np.clip(np.minimum(empty_s, known_until_s) - at_s, 0, None)
    return float(1000 * np.mean(np.where(backlog_bytes > 0, waits_s, 0)))
