# SPDX-License-Identifier: GPL-2.0-or-later
"""Rounds of a trial, as its ACKs show them."""

import polars as pl

from lab.tables.stored_trial import Trial


def windows_of_rounds(trial: Trial) -> list[int]:
    """The window at the end of each round, before the exit."""
    acks = trial.acks.filter((pl.col("flow") == 1) & (pl.col("t_s") < trial.exits["t_s"][0]))
    ends, window_end = [], acks["snd_nxt_bytes"][0]
    for una, nxt, cwnd in acks.select("snd_una_bytes", "snd_nxt_bytes", "cwnd_pkts").iter_rows():
        if una >= window_end:
            ends.append(cwnd)
            window_end = nxt
    return ends
