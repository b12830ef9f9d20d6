# SPDX-License-Identifier: GPL-2.0-or-later
"""ERRANT's speed tests: one row a test, no clock."""

from pathlib import Path

import polars as pl

from lab.traces.importers.importer import Head, Importer
from lab.traces.importers.iperf3_tests import GOODPUT
from lab.traces.importers.table import read_table
from lab.traces.recording import Recording

LABELS = ("operator", "country", "access_technology")
NAMES = frozenset({*LABELS, "rssi", "download_mbps", "upload_mbps", "rtt_ms"})


def fits(head: Head) -> bool:
    """Recognise the column names."""
    return head.header >= NAMES


def read(path: Path) -> Recording:
    """Read the tests as samples: a joint distribution of rates and RTT, with what each was of as text."""
    table = read_table(path)
    columns = [
        table.column("download_mbps", "rate_down_mbps"),
        table.column("upload_mbps", "rate_up_mbps"),
        table.column("rtt_ms", "rtt_ms"),
        *(table.text(label) for label in LABELS),
    ]
    notes = ("No clock: samples to draw from, no series.", GOODPUT)
    return Recording(pl.DataFrame(columns), "samples", "goodput", "errant", path.name, notes)


IMPORTERS = (Importer("errant", "CSV of ERRANT's speed tests, no clock", fits, read),)
