# SPDX-License-Identifier: GPL-2.0-or-later
"""Starlink-on-the-Road's ping.csv: batches of 250 probes."""

from pathlib import Path

from lab.traces.importer import Importer
from lab.traces.recording import Recording
from lab_formats.preset import has_columns
from lab_formats.reading.clock import dated, ordered, with_holes
from lab_formats.reading.intervals import EMPTY, END, START, ends_of
from lab_formats.reading.table import read_table

BATCH_S = 25.0

fits = has_columns(START, END, "packet_loss", "packets_send", "ping_avg", "average_speed")


def read(path: Path) -> Recording:
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


IMPORTERS = (Importer("uos-ping", "Starlink-on-the-Road's ping.csv", "RTT and loss of batches", fits, read),)
