# SPDX-License-Identifier: GPL-2.0-or-later
"""Decode bins and exits: SEARCH's decision in each bin, and when each flow left its first slow start."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from lab.tables.acks import UNSAID, Clock, finite
from lab.tables.columns import FLOW, SYN_S, Column, Columns, schema
from lab.tables.trace import Events

EXIT_EVENT = "slow_start:slow_start_exit"
NUMBERED = ("search", "hystartpp", "loss", "timeout", "other", "own")  # raw records from before 2026-11-22 have numbers
EXITS: Columns = {
    "t_s": SYN_S,
    "flow": FLOW,
    "cwnd_pkts": Column(pl.UInt32, f"congestion window at the exit; {UNSAID}"),
    "ssthresh_pkts": Column(pl.UInt32, f"slow start threshold after the exit; {UNSAID}, and of an estimated exit"),
    "rtt_ms": Column(pl.Float64, "round trip at the exit; null where the kernel had none"),
    "cause": Column(pl.String, "loss, timeout, other, or the sender's own rule (slow_start_exit of its stanza)"),
}
NOT_ENOUGH = "null until the flow has enough bins"
BINS: Columns = {
    "t_s": SYN_S,
    "flow": FLOW,
    "bin": Column(pl.Int32, "number of the bin, from 0 on"),
    "cwnd_pkts": Column(pl.UInt32, "congestion window"),
    "ssthresh_pkts": Column(pl.UInt32, "slow start threshold; null while there is none"),
    "rtt_ms": Column(pl.Float64, "round trip of the ACK that ended the bin"),
    "bin_ms": Column(pl.Float64, "length of a bin"),
    "curr_delv_bytes": Column(pl.Int64, f"bytes delivered in the window that ends now; {NOT_ENOUGH}"),
    "prev_delv_bytes": Column(pl.Int64, f"bytes delivered in the window one round trip before; {NOT_ENOUGH}"),
    "norm_pct": Column(pl.Float64, f"normalised difference, SEARCH's measure; {NOT_ENOUGH}"),
    "exit": Column(pl.Boolean, "whether SEARCH left slow start at this bin"),
}


def bin_table(events: Events, clock: Clock) -> pl.DataFrame:
    """Decode search:search_bin, one row per bin; empty for every other sender."""
    bins = events.get("search:search_bin")
    if bins is None:
        return pl.DataFrame(schema=schema(BINS))
    enough = pl.Series(bins["enough"]) > 0
    known = pl.DataFrame(
        {
            "curr_delv_bytes": bins["curr_delv"],
            "prev_delv_bytes": bins["prev_delv"],
            "norm_pct": bins["norm_permille"] / 10,
        }
    ).select(pl.when(enough).then(pl.all()))
    table = pl.DataFrame(
        clock.base(bins)
        | {
            "bin": bins["bin"],
            "cwnd_pkts": bins["cwnd"],
            "ssthresh_pkts": bins["ssthresh"],
            "rtt_ms": bins["rtt_us"] / 1e3,
            "bin_ms": bins["bin_us"] / 1e3,
            **{column.name: column for column in known},
            "exit": bins["exit"] > 0,
        }
    )
    return table.with_columns(finite("ssthresh_pkts")).cast(schema(BINS))


def exit_table(events: Events, clock: Clock, causes: Mapping[str, str]) -> pl.DataFrame:
    """Decode slow_start:slow_start_exit, the first of each flow.

    `causes` renames what the watching module reports, which does not know a sender's rule (Cca.exit_causes). Any other
    cause stays as it is.
    """
    exits = events[EXIT_EVENT]
    reported = pl.DataFrame(
        clock.base(exits)
        | {
            "cwnd_pkts": exits["cwnd_pkts"],
            "ssthresh_pkts": exits["ssthresh_pkts"],
            "rtt_ms": pl.Series(exits["rtt_us"], dtype=pl.Float64).replace(0, None) / 1e3,
            "cause": [causes.get(name, name) for name in _names(exits["cause"])],
        },
        schema_overrides=schema(EXITS),
    )
    late_s = pl.Series(exits["late_ns"] / 1e9, dtype=pl.Float64)
    timed = reported.with_columns(pl.col("t_s") - late_s).filter(pl.col("flow") > 0)
    return timed.sort("t_s", maintain_order=True).unique("flow", keep="first", maintain_order=True)


def _names(causes: np.ndarray) -> list[str]:
    return [NUMBERED[cause] if isinstance(cause, int) else cause.decode() for cause in causes.tolist()]
