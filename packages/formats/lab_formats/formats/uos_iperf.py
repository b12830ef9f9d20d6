# SPDX-License-Identifier: GPL-2.0-or-later
"""Starlink-on-the-Road's iperf.csv: UDP both ways at once, bursts of 15 s."""

from pathlib import Path

import polars as pl

from lab.traces.importer import Importer
from lab.traces.recording import Recording
from lab_formats.preset import has_columns
from lab_formats.reading.clock import dated, ordered, with_holes
from lab_formats.reading.intervals import EMPTY, END, START, ends_of, lengths_s
from lab_formats.reading.table import read_table

PROTOCOL = "transport_protocol"
INTERVAL_S = 1.0

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


IMPORTERS = (Importer("uos-iperf", "Starlink-on-the-Road's iperf.csv", "capacity both ways", fits, read),)
