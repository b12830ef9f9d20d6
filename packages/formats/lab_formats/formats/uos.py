# SPDX-License-Identifier: GPL-2.0-or-later
"""Starlink-on-the-Road's iperf.csv (UDP both ways at once, bursts of 15 s) and ping.csv (batches of 250 probes)."""

from pathlib import Path

import numpy as np
import polars as pl

from lab.traces.importer import Importer
from lab.traces.recording import Recording
from lab_formats.preset import has_columns
from lab_formats.reading.clock import Seconds, dated, ordered, with_holes
from lab_formats.reading.table import Table, read_table

START, END = "timestamp_start", "timestamp_end"
EMPTY = ("",)
PROTOCOL = "transport_protocol"
INTERVAL_S = 1.0
BATCH_S = 25.0


def ends_of(table: Table, t_s: Seconds, usual_s: float) -> tuple[Seconds, pl.Series]:
    """Return the end of each row, and which rows have an unusual length; those end after the usual one."""
    lengths = lengths_s(table)
    wrong = np.flatnonzero(lengths <= 0)
    if len(wrong):
        raise table.error(int(wrong[0]), END, table.text(END)[int(wrong[0])], f"later than {START}")
    odd = np.abs(lengths - usual_s) > 0.2 * usual_s
    ends_s = t_s + np.where(odd, usual_s, lengths)
    ends_s[:-1] = np.minimum(ends_s[:-1], t_s[1:])  # an interval ends where the next one begins
    return ends_s, pl.Series(odd)


def lengths_s(table: Table) -> Seconds:
    """Return the length of each row; each clock counts from its own first row, whose length is added."""
    first = Table(table.file, table.frame[:1], table.first_line, table.place)
    pair = pl.DataFrame({"clock": [first.text(START)[0], first.text(END)[0]]})
    first_s = float(dated(Table(table.file, pair, table.first_line, table.place), "clock")[1])
    return dated(table, END) - dated(table, START) + first_s


fits = has_columns(START, END, "download", "upload", PROTOCOL, "average_speed")


def read(path: Path) -> Recording:
    """Read capacity both ways, one row per second; a 0 is a stall of the link, because UDP sends all the time."""
    table = read_table(path)
    if len(other := (table.text(PROTOCOL) != "UDP").arg_true()):
        raise table.error(other[0], PROTOCOL, table.text(PROTOCOL)[other[0]], "UDP")
    t_s = dated(table, START)
    ends_s, odd = ends_of(table, t_s, INTERVAL_S)
    down = table.column("download", "rate_down_mbps", scale=1e-6, missing=EMPTY)
    up = table.column("upload", "rate_up_mbps", scale=1e-6, missing=EMPTY)
    columns = [pl.select(pl.when(~odd).then(rate).alias(rate.name)).to_series() for rate in (down, up)]
    frame, notes = ordered(table, START, t_s, columns)
    frame, holes = with_holes(frame, ends_s)
    if odd.any():
        longest_s = lengths_s(table).max()
        notes.append(f"{odd.sum()} rows have an interval other than 1 s (up to {longest_s:.0f} s): rates missing.")
    for rate in columns:
        notes.append(f"{rate.name}: {(rate == 0).sum()} rows of 0 (stalls), {rate.null_count()} missing.")
    return Recording(frame, "series", "capacity", "uos-iperf", path.name, (*notes, *holes))


fits_ping = has_columns(START, END, "packet_loss", "packets_send", "ping_avg", "average_speed")


def read_ping(path: Path) -> Recording:
    """Read batches of probes: each row is the mean RTT and the loss of 25 s."""
    table = read_table(path)
    t_s = dated(table, START)
    columns = [
        table.column("ping_avg", "rtt_ms", missing=EMPTY),
        table.column("packet_loss", "loss_pct", missing=EMPTY),
    ]
    frame, notes = ordered(table, START, t_s, columns)
    frame, holes = with_holes(frame, ends_of(table, t_s, BATCH_S)[0])
    notes.append("Each row is a batch: the mean RTT and the loss of some 25 s, no single round trips.")
    return Recording(frame, "series", None, "uos-ping", path.name, (*notes, *holes))


IMPORTERS = (
    Importer("uos-iperf", "Starlink-on-the-Road's iperf.csv", "capacity both ways", fits, read),
    Importer("uos-ping", "Starlink-on-the-Road's ping.csv", "RTT and loss of batches", fits_ping, read_ping),
)
