# SPDX-License-Identifier: GPL-2.0-or-later
"""bins and exits: what SEARCH decided in each bin, and when each flow left its first slow start."""

import polars as pl

from lab.tables.acks import Clock, finite
from lab.tables.trace import Events

EXIT_EVENT = "slow_start:slow_start_exit"
CAUSES = ("search", "hystartpp", "loss", "timeout", "other", "own")  # enum slow_start_cause, kernel/search/slow_start.h
CWR_RULES = ("cdg", "ecn")  # rules that end slow start by entering CWR
EXIT_SCHEMA = {
    "t_s": pl.Float64,
    "flow": pl.UInt8,
    "cwnd_pkts": pl.UInt32,
    "ssthresh_pkts": pl.UInt32,
    "rtt_ms": pl.Float64,
    "cause": pl.String,
}
BIN_SCHEMA = {
    "t_s": pl.Float64,
    "flow": pl.UInt8,
    "bin": pl.Int32,
    "cwnd_pkts": pl.UInt32,
    "ssthresh_pkts": pl.UInt32,
    "rtt_ms": pl.Float64,
    "bin_ms": pl.Float64,
    "curr_delv_bytes": pl.Int64,
    "prev_delv_bytes": pl.Int64,
    "norm_pct": pl.Float64,
    "exit": pl.Boolean,
}


def bin_table(events: Events, clock: Clock) -> pl.DataFrame:
    """search:search_bin, one row a bin; empty for every other sender."""
    bins = events.get("search:search_bin")
    if bins is None:
        return pl.DataFrame(schema=BIN_SCHEMA)
    enough = pl.Series(bins["enough"]) > 0
    known = pl.DataFrame(
        {
            "curr_delv_bytes": bins["curr_delv"].astype("i8"),
            "prev_delv_bytes": bins["prev_delv"].astype("i8"),
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
    return table.with_columns(finite("ssthresh_pkts")).cast(BIN_SCHEMA)  # type: ignore[arg-type]


def exit_table(events: Events, clock: Clock, rule: str) -> pl.DataFrame:
    """slow_start:slow_start_exit, the first of each flow; `rule` ends this sender's slow start when no loss does."""
    exits = events[EXIT_EVENT]
    told = pl.DataFrame(
        clock.base(exits)
        | {
            "cwnd_pkts": exits["cwnd_pkts"],
            "ssthresh_pkts": exits["ssthresh_pkts"],
            "rtt_ms": pl.Series(exits["rtt_us"], dtype=pl.Float64).replace(0, None) / 1e3,
            "cause": [_named(CAUSES[number], rule) for number in exits["cause"]],
        },
        schema_overrides=EXIT_SCHEMA,
    )
    late_s = pl.Series(exits["late_ns"] / 1e9, dtype=pl.Float64)
    timed = told.with_columns(pl.col("t_s") - late_s).filter(pl.col("flow") > 0)
    return timed.sort("t_s", maintain_order=True).unique("flow", keep="first", maintain_order=True)


def _named(cause: str, rule: str) -> str:
    """Word a cause: what a watched sender did of its own accord, or by entering CWR, is its rule."""
    return rule if cause == "own" or (cause == "other" and rule in CWR_RULES) else cause
