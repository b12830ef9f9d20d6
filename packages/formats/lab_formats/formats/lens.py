# SPDX-License-Identifier: GPL-2.0-or-later
"""LENS's raw pings: `epoch TAB number TAB RTT`, one line per probe."""

from pathlib import Path

from lab.traces.importer import Head, Importer
from lab.traces.recording import Recording
from lab_formats.reading.clock import counted
from lab_formats.reading.probes import probes
from lab_formats.reading.table import Table, read_table

LOST = "-1"
EPOCH_2001_S = 1e9


def fits(head: Head) -> bool:
    """Recognise three columns of an epoch, a running number and an RTT."""
    rows = [line.split("\t") for line in head.lines[:50]]
    if not rows or any(len(row) != 3 or not row[1].isdigit() for row in rows):
        return False
    try:
        return all(float(row[0]) > EPOCH_2001_S and float(row[2]) >= -1 for row in rows)
    except ValueError:
        return False


def read(path: Path) -> Recording:
    """Read every probe; -1 marks a lost one."""
    table = read_table(path, "\t", ("epoch_s", "seq", "rtt_ms"))
    _require_every_probe(table)
    rtt = table.column("rtt_ms", "rtt_ms", missing=(LOST,))
    return probes("lens", table, "epoch_s", counted(table, "epoch_s"), rtt, rtt.is_null())


def _require_every_probe(table: Table) -> None:
    seq = table.numbers("seq", 0)
    gaps = (seq.diff(null_behavior="drop") != 1).arg_true()
    if len(gaps):
        row = gaps[0] + 1
        raise table.error(row, "seq", table.text("seq")[row], f"{seq[row - 1] + 1:.0f}: each probe has a row")


IMPORTERS = (Importer("lens", "epoch, number and RTT, TAB between them", "RTT, lost", fits, read),)
