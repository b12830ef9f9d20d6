# SPDX-License-Identifier: GPL-2.0-or-later
"""The columns that a recording may have, and the rule of each."""

import polars as pl

from lab.base.errors import UserError, field_error

LONGEST_S = 366 * 86_400.0  # no recording of a link is longer than a year; a longer clock is broken
FASTEST_MBPS = 1e6
MOST_BYTES = 1e15
SLOWEST_MS = 3_600_000.0  # an answer after an hour is no answer

RANGES: dict[str, tuple[float, float]] = {
    "t_s": (0.0, LONGEST_S),
    "rate_down_mbps": (0.0, FASTEST_MBPS),
    "rate_up_mbps": (0.0, FASTEST_MBPS),
    "rtt_ms": (0.0, SLOWEST_MS),
    "delay_ms": (0.0, SLOWEST_MS),  # one-way, direction not known
    "loss_pct": (0.0, 100.0),  # share lost over the row's interval
    "retransmits_pkts": (0.0, 1e9),
    "acked_bytes": (0.0, MOST_BYTES),  # acknowledged in order since the beginning
    "delivered_bytes": (0.0, MOST_BYTES),  # known to have arrived, in order or not
    "inflight_bytes": (0.0, MOST_BYTES),  # sent and not acknowledged in order
    "lost_pkts": (0.0, 1e9),  # taken for lost by the sender, as its counter stood
    "cwnd_pkts": (0.0, 1e10),
    "mss_bytes": (1.0, 65_535.0),
}
DTYPES: dict[str, pl.DataType] = {name: pl.Float64() for name in RANGES} | {
    "lost": pl.Boolean(),  # of a probe; its rtt_ms is null
    "opportunities": pl.UInt32(),  # how many 1500-byte packets may pass at t_s
    "retransmits_pkts": pl.UInt32(),
    **dict.fromkeys(("acked_bytes", "delivered_bytes", "inflight_bytes", "lost_pkts", "cwnd_pkts"), pl.Int64()),
    "mss_bytes": pl.UInt32(),
}
RATES = ("rate_down_mbps", "rate_up_mbps")


def check_columns(frame: pl.DataFrame, kind: str, source: str) -> None:
    """Refuse a table that breaks a column's rule."""
    _check_names(frame, kind, source)
    for name in frame.columns:
        dtype = DTYPES.get(name, pl.String())
        if frame[name].dtype != dtype:
            raise field_error(source, name, frame[name].dtype, f"a column of type {dtype}")
        if name in RANGES:
            _check_range(frame[name], *RANGES[name], source)
    if "opportunities" in frame and frame["opportunities"].min() == 0:
        raise field_error(source, "opportunities", 0, "at least 1: a time without any has no row")
    if {"lost", "rtt_ms"} <= set(frame.columns) and frame.filter(
        pl.col("lost") & pl.col("rtt_ms").is_not_null()
    ).height:
        raise field_error(source, "rtt_ms", "a number", "missing where the probe was lost")


def check_clock(t_s: pl.Series, source: str, starts_at_0: bool, after_s: float | None = None) -> None:
    """Refuse times that are missing, do not start at 0 where they must, or do not increase."""
    if t_s.null_count():
        raise field_error(source, "t_s", "null", f"given in each row (row {t_s.is_null().arg_true()[0] + 1})")
    if starts_at_0 and t_s[0] != 0.0:
        raise field_error(source, "t_s", t_s[0], "0 in the first row")
    back = (t_s.diff(null_behavior="drop") <= 0.0).arg_true()
    if len(back) or (after_s is not None and t_s[0] <= after_s):
        row = back[0] + 1 if len(back) else 0
        raise field_error(source, "t_s", t_s[row], f"later than in the row before (row {row + 1})")


def _check_names(frame: pl.DataFrame, kind: str, source: str) -> None:
    names = set(frame.columns)
    if frame.height == 0 or not names - {"t_s"}:
        raise UserError(f"{source}: content: must be a table with rows and a column beside t_s")
    if kind == "samples":
        if "t_s" in names:
            raise field_error(source, "t_s", "a column", "left out: samples have no clock")
        return
    if frame.columns[0] != "t_s":
        raise field_error(source, "columns", ",".join(frame.columns), "t_s first")
    if ("opportunities" in names) != (kind == "opportunities"):
        raise field_error(source, "kind", kind, "opportunities exactly where there is a column of that name")
    if unknown := names - DTYPES.keys():
        raise field_error(source, "column", min(unknown), f"one of {', '.join(DTYPES)}")


def _check_range(values: pl.Series, low: float, high: float, source: str) -> None:
    rows = (~values.is_between(low, high)).arg_true()  # NaN is above each number
    if len(rows):
        raise field_error(source, values.name, values[rows[0]], f"from {low:g} to {high:g} (row {rows[0] + 1})")
