# SPDX-License-Identifier: GPL-2.0-or-later
"""bins and exits: what SEARCH decided in each bin, and when each flow left its first slow start."""

import polars as pl

from lab.tables.acks import Clock, finite
from lab.tables.trace import Events

EXIT_EVENT = "slow_start:slow_start_exit"
CAUSES = ("search", "hystartpp", "loss", "timeout", "other")  # enum slow_start_cause, lab/kernel/search/slow_start.h
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


def exit_table(events: Events, clock: Clock, acks: pl.DataFrame, states: pl.DataFrame, cause: str) -> pl.DataFrame:
    """One row a flow that left slow start; `cause` is what ends this sender's slow start when no loss does.

    The lab's own senders tell their exits, whatever the cause. Of the others tcp_probe tells it: it shows the socket
    before each ACK, so that the exit belongs to the ACK before the first one that finds a finite ssthresh.
    """
    if EXIT_EVENT in events:
        return told_exits(events, clock).unique("flow", keep="first", maintain_order=True)
    return derived_exits(acks, states, cause)


def told_exits(events: Events, clock: Clock) -> pl.DataFrame:
    """slow_start:slow_start_exit, one row an exit: a flow may leave slow start more than once."""
    exits = events[EXIT_EVENT]
    return pl.DataFrame(
        clock.base(exits)
        | {
            "cwnd_pkts": exits["cwnd_pkts"],
            "ssthresh_pkts": exits["ssthresh_pkts"],
            "rtt_ms": pl.Series(exits["rtt_us"], dtype=pl.Float64).replace(0, None) / 1e3,
            "cause": [CAUSES[number] for number in exits["cause"]],
        },
        schema_overrides=EXIT_SCHEMA,
    ).filter(pl.col("flow") > 0)


def derived_exits(acks: pl.DataFrame, states: pl.DataFrame, cause: str) -> pl.DataFrame:
    """The first exit of each flow, from what its socket held at each ACK."""
    rows = []
    for (flow,), part in acks.group_by("flow", maintain_order=True):
        first = _first_finite(part)
        if first is not None:
            rows.append(_derived(part, first, _first_loss_state(states, int(flow)), cause))
    return pl.concat(rows) if rows else pl.DataFrame(schema=EXIT_SCHEMA)


def _first_finite(acks: pl.DataFrame) -> int | None:
    found = acks["ssthresh_pkts"].is_not_null().arg_true()
    return int(found[0]) if len(found) else None


def _first_loss_state(states: pl.DataFrame, flow: int) -> float:
    """Return when the flow first repaired a loss, or infinity."""
    lost = states.filter((pl.col("flow") == flow) & pl.col("state").is_in(["recovery", "loss"]))
    return float(lost["t_s"][0]) if len(lost) else float("inf")


def _derived(acks: pl.DataFrame, first: int, lost_s: float, cause: str) -> pl.DataFrame:
    before, after = acks.row(max(first - 1, 0), named=True), acks.row(first, named=True)
    by_loss = lost_s <= after["t_s"]
    return pl.DataFrame(
        {
            "t_s": [before["t_s"]],
            "flow": [before["flow"]],
            "cwnd_pkts": [before["cwnd_pkts"]],
            "ssthresh_pkts": [after["ssthresh_pkts"]],
            "rtt_ms": [before["srtt_ms"]],
            "cause": ["loss" if by_loss else cause],
        },
        schema=EXIT_SCHEMA,
    )
