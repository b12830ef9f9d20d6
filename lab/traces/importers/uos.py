# SPDX-License-Identifier: GPL-2.0-or-later
"""Starlink-on-the-Road's iperf.csv (UDP both ways at once, bursts of 15 s) and ping.csv (batches of 250)."""

from pathlib import Path

import numpy as np
import polars as pl

from lab.traces.importers.clock import Seconds, dated, ordered, with_holes
from lab.traces.importers.importer import Head, Importer
from lab.traces.importers.table import Table, read_table
from lab.traces.recording import Recording

START, END = "timestamp_start", "timestamp_end"
RATES = frozenset({START, END, "download", "upload", "transport_protocol", "average_speed"})
PINGS = frozenset({START, END, "packet_loss", "packets_send", "ping_avg", "average_speed"})
EMPTY = ("",)
INTERVAL_S = 1.0
BATCH_S = 25.0


def fits_rates(head: Head) -> bool:
    """Recognise iperf.csv's column names."""
    return head.header >= RATES


def fits_pings(head: Head) -> bool:
    """Recognise ping.csv's column names."""
    return head.header >= PINGS


def read_rates(path: Path) -> Recording:
    """Read capacity both ways, a row a second; a 0 is a stall of the link, for UDP asked all the time."""
    table = read_table(path)
    if len(other := (table.text("transport_protocol") != "UDP").arg_true()):
        raise table.error(other[0], "transport_protocol", table.text("transport_protocol")[other[0]], "UDP")
    t_s = dated(table, START)
    ends_s, odd = _ends(table, t_s, INTERVAL_S)
    down = table.column("download", "rate_down_mbps", scale=1e-6, missing=EMPTY)
    up = table.column("upload", "rate_up_mbps", scale=1e-6, missing=EMPTY)
    columns = [pl.select(pl.when(~odd).then(rate).alias(rate.name)).to_series() for rate in (down, up)]
    frame, notes = ordered(table, START, t_s, columns)
    frame, holes = with_holes(frame, ends_s)
    if odd.any():
        longest_s = (dated(table, END) - dated(table, START) + _apart_s(table)).max()
        notes.append(f"{odd.sum()} rows tell of an interval other than 1 s (up to {longest_s:.0f} s): rates missing.")
    for rate in columns:
        notes.append(f"{rate.name}: {(rate == 0).sum()} rows of 0 (stalls), {rate.null_count()} missing.")
    return Recording(frame, "series", "capacity", "uos-iperf", path.name, (*notes, *holes))


def read_pings(path: Path) -> Recording:
    """Read batches of pings: each row is the mean RTT and the loss of 25 s."""
    table = read_table(path)
    t_s = dated(table, START)
    columns = [
        table.column("ping_avg", "rtt_ms", missing=EMPTY),
        table.column("packet_loss", "loss_pct", missing=EMPTY),
    ]
    frame, notes = ordered(table, START, t_s, columns)
    frame, holes = with_holes(frame, _ends(table, t_s, BATCH_S)[0])
    notes.append("Each row is a batch: the mean RTT and the loss of some 25 s, no single round trips.")
    return Recording(frame, "series", None, "uos-ping", path.name, (*notes, *holes))


def _ends(table: Table, t_s: Seconds, usual_s: float) -> tuple[Seconds, pl.Series]:
    """Return the rows' own ends; and which rows tell of another interval than the usual one, which end with it."""
    lengths_s = dated(table, END) - dated(table, START) + _apart_s(table)
    wrong = np.flatnonzero(lengths_s <= 0)
    if len(wrong):
        raise table.error(int(wrong[0]), END, table.text(END)[int(wrong[0])], f"later than {START}")
    odd = np.abs(lengths_s - usual_s) > 0.2 * usual_s
    ends_s = t_s + np.where(odd, usual_s, lengths_s)
    ends_s[:-1] = np.minimum(ends_s[:-1], t_s[1:])  # a row's interval ends where the next one's begins
    return ends_s, pl.Series(odd)


def _apart_s(table: Table) -> float:
    """Return the first row's own length, for each clock counts from its own first row."""
    first = Table(table.file, table.frame[:1], table.first_line, table.place)
    pair = pl.DataFrame({"clock": [first.text(START)[0], first.text(END)[0]]})
    return float(dated(Table(table.file, pair, table.first_line, table.place), "clock")[1])


IMPORTERS = (
    Importer("uos-iperf", "Starlink-on-the-Road's iperf.csv", fits_rates, read_rates),
    Importer("uos-ping", "Starlink-on-the-Road's ping.csv", fits_pings, read_pings),
)
