# SPDX-License-Identifier: GPL-2.0-or-later
"""bins and exits: what SEARCH decided in each bin, and when each flow left its first slow start."""

import polars as pl

from lab.tables.acks import Clock, finite
from lab.tables.trace import Events

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

    SEARCH tells its exit itself. Of the others tcp_probe tells it: it shows the socket before each ACK, so that the
    exit belongs to the ACK before the first one that finds a finite ssthresh.
    """
    told = _told(events, clock)
    rows = []
    for (flow,), part in acks.group_by("flow", maintain_order=True):
        first = _first_finite(part)
        own = told.filter(pl.col("flow") == flow).head(1)
        if first is None and own.is_empty():
            continue
        lost = _first_loss_state(states, int(flow))
        rows.append(own if _is_first(own, lost) else _derived(part, int(first or 0), lost, cause))
    return pl.concat(rows) if rows else pl.DataFrame(schema=EXIT_SCHEMA)


def _told(events: Events, clock: Clock) -> pl.DataFrame:
    exits = events.get("search:search_exit")
    if exits is None:
        return pl.DataFrame(schema=EXIT_SCHEMA)
    return pl.DataFrame(
        clock.base(exits)
        | {
            "cwnd_pkts": exits["cwnd"],
            "ssthresh_pkts": exits["ssthresh"],
            "rtt_ms": exits["rtt_us"] / 1e3,
            "cause": ["search"] * len(exits),
        },
        schema_overrides=EXIT_SCHEMA,
    )


def _first_finite(acks: pl.DataFrame) -> int | None:
    found = acks["ssthresh_pkts"].is_not_null().arg_true()
    return int(found[0]) if len(found) else None


def _first_loss_state(states: pl.DataFrame, flow: int) -> float:
    """Return when the flow first repaired a loss, or infinity."""
    lost = states.filter((pl.col("flow") == flow) & pl.col("state").is_in(["recovery", "loss"]))
    return float(lost["t_s"][0]) if len(lost) else float("inf")


def _is_first(own: pl.DataFrame, lost_s: float) -> bool:
    return not own.is_empty() and float(own["t_s"][0]) <= lost_s


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
