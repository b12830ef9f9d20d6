# SPDX-License-Identifier: GPL-2.0-or-later
"""The CSV that LENS publishes, of ping or of irtt."""

from pathlib import Path

import polars as pl

from lab.traces.columns import SLOWEST_MS
from lab.traces.importer import Head, Importer
from lab.traces.recording import Recording
from lab_formats.reading.clock import counted
from lab_formats.reading.probes import probes
from lab_formats.reading.table import Table, read_table

NAME = "lens-csv"
CLOCK = "timestamp"
UNITS = "The units (timestamp in s, rtt in ms) are the format's, not stated in the file."
PING = frozenset({CLOCK, "rtt"})
IRTT = PING | {"uplink", "downlink"}


def fits(head: Head) -> bool:
    """Recognise either header."""
    return head.header in (PING, IRTT)


def read(path: Path) -> Recording:
    """Read either form: ping's holds answers only; irtt's has a clock in ns and -1 in the column of the way lost."""
    table = read_table(path)
    if "uplink" in table.frame.columns:
        return _irtt(table)
    notes = (UNITS, "Only answers are in the file: the number of lost probes is not known.")
    return probes(NAME, table, CLOCK, counted(table, CLOCK), table.column("rtt", "rtt_ms"), None, *notes)


def _irtt(table: Table) -> Recording:
    lows_ms = {"rtt": -1.0, "uplink": -SLOWEST_MS, "downlink": -SLOWEST_MS}
    marks = [table.numbers(name, low, SLOWEST_MS) for name, low in lows_ms.items()]
    lost = (marks[0] == -1) | ((marks[0] == 0) & ((marks[1] == -1) | (marks[2] == -1)))
    _refuse_odd(table, marks[0], lost)
    rtt = pl.select(pl.when(~lost).then(marks[0]).alias("rtt_ms")).to_series()
    return probes(NAME, table, CLOCK, counted(table, CLOCK, "ns"), rtt, lost)


def _refuse_odd(table: Table, rtt: pl.Series, lost: pl.Series) -> None:
    odd = (~lost & (rtt <= 0)).arg_true()
    if len(odd):
        raise table.error(odd[0], "rtt", table.text("rtt")[odd[0]], "above 0, or -1 in one column where lost")


IMPORTERS = (Importer(NAME, "the CSV that LENS publishes", "RTT, lost (of irtt)", fits, read),)
