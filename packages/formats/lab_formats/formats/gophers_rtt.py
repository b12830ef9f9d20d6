# SPDX-License-Identifier: GPL-2.0-or-later
"""5Gophers' pings as CSV: without a clock."""

from dataclasses import replace
from pathlib import Path

from lab.traces.importer import Head
from lab.traces.recording import Recording
from lab_formats.preset import Preset

PROBES = {"rtt_in_ms": "probe_num", "rtt_ms": "server_location"}  # RTT's column: another column of the same file


def fits(head: Head) -> bool:
    """Recognise an RTT beside a server, without a clock."""
    return any({rtt, other} <= head.header for rtt, other in PROBES.items())


PRESET = Preset(
    name="5gophers-rtt",
    reads="CSV of 5Gophers' pings, no clock",
    gives="samples of RTT",
    fits=fits,
    columns="rtt_ms={column}",
    notes=("No clock: samples to draw from, no series.",),
)


def read(path: Path) -> Recording:
    """Read the RTTs as samples; the other columns are kept as text."""
    table = PRESET.table(path)
    rtt = next((name for name in PROBES if name in table.frame.columns), "rtt_ms")
    labels = tuple(name for name in table.frame.columns if name not in (rtt, "probe_num"))
    return replace(PRESET, columns=PRESET.columns.format(column=rtt), labels=labels).recording(table)


IMPORTERS = (PRESET.importer(read),)
