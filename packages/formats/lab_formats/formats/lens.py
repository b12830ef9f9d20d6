# SPDX-License-Identifier: GPL-2.0-or-later
"""LENS's raw pings (`epoch TAB number TAB RTT`, one line per probe), and the CSV that it publishes, of ping or irtt."""

from pathlib import Path

import polars as pl

from lab.traces.columns import SLOWEST_MS
from lab.traces.importer import Head, Importer
from lab.traces.recording import Recording
from lab_formats.reading.clock import Seconds, counted, named_step, ordered
from lab_formats.reading.table import Table, read_table

LOST = "-1"
EPOCH_2001_S = 1e9
CSV_NAME = "lens-csv"
CLOCK = "timestamp"
UNITS = "The units (timestamp in s, rtt in ms) are the format's, not stated in the file."


def probes(
    form: str, table: Table, clock: str, t_s: Seconds, rtt: pl.Series, lost: pl.Series | None = None, *notes: str
) -> Recording:
    """Make a series of probes, sorted by time; `clock` is the column of the table that t_s came from."""
    columns = [rtt] if lost is None else [rtt, lost.alias("lost")]
    frame, found = ordered(table, clock, t_s, columns, sort=True)
    found += [*named_step(table.file.name, frame["t_s"].to_numpy()), *notes]
    if lost is not None:
        share_pct = 100 * lost.sum() / len(lost)
        found.append(f"{lost.sum()} of {len(lost)} probes lost ({share_pct:.2f} %), missing in rtt_ms.")
    return Recording(frame, "series", None, form, table.file.name, tuple(found))


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


PING = frozenset({CLOCK, "rtt"})
IRTT = PING | {"uplink", "downlink"}


def fits_csv(head: Head) -> bool:
    """Recognise either header."""
    return head.header in (PING, IRTT)


def read_csv(path: Path) -> Recording:
    """Read either form: ping's holds answers only; irtt's has a clock in ns and -1 in the column of the way lost."""
    table = read_table(path)
    if "uplink" in table.frame.columns:
        return _irtt(table)
    notes = (UNITS, "Only answers are in the file: the number of lost probes is not known.")
    return probes(CSV_NAME, table, CLOCK, counted(table, CLOCK), table.column("rtt", "rtt_ms"), None, *notes)


def _irtt(table: Table) -> Recording:
    lows_ms = {"rtt": -1.0, "uplink": -SLOWEST_MS, "downlink": -SLOWEST_MS}
    marks = [table.numbers(name, low, SLOWEST_MS) for name, low in lows_ms.items()]
    lost = (marks[0] == -1) | ((marks[0] == 0) & ((marks[1] == -1) | (marks[2] == -1)))
    _refuse_odd(table, marks[0], lost)
    rtt = pl.select(pl.when(~lost).then(marks[0]).alias("rtt_ms")).to_series()
    return probes(CSV_NAME, table, CLOCK, counted(table, CLOCK, "ns"), rtt, lost)


def _refuse_odd(table: Table, rtt: pl.Series, lost: pl.Series) -> None:
    odd = (~lost & (rtt <= 0)).arg_true()
    if len(odd):
        raise table.error(odd[0], "rtt", table.text("rtt")[odd[0]], "above 0, or -1 in one column where lost")


IMPORTERS = (
    Importer("lens", "epoch, number and RTT, TAB between them", "RTT, lost", fits, read),
    Importer(CSV_NAME, "the CSV that LENS publishes", "RTT, lost (of irtt)", fits_csv, read_csv),
)
