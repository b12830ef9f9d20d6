# SPDX-License-Identifier: GPL-2.0-or-later
"""5Gophers' iperf3 TCP downloads over 5G as CSV: one row per second, a column for each carrier."""

from dataclasses import replace
from pathlib import Path

from lab.base.errors import field_error
from lab.traces.importer import Head
from lab.traces.recording import Recording
from lab_formats.preset import Preset
from lab_formats.reading.iperf3_tests import GOODPUT, RAMP_KEPT

SUFFIX = "throughput_mbps"


def fits(head: Head) -> bool:
    """Recognise a second's number and a throughput in Mb/s."""
    return "seq_num" in head.header and any(name.endswith(SUFFIX) for name in head.header)


PRESET = Preset(
    name="5gophers",
    reads="CSV of 5Gophers' downloads",
    gives="goodput",
    fits=fits,
    columns="t_s=seq_num, rate_down_mbps={column}",
    meaning="goodput",
    notes=(GOODPUT, RAMP_KEPT),
)


def read(path: Path, *, carrier: str | None = None) -> Recording:
    """Read a download's goodput; `carrier` picks one of several recorded side by side."""
    table = PRESET.table(path)
    names = {name.removesuffix(SUFFIX).rstrip("_"): name for name in table.frame.columns if name.endswith(SUFFIX)}
    if carrier is None and len(names) == 1:
        carrier = next(iter(names))
    if carrier not in names:
        raise field_error(path, "carrier", carrier, f"given, one of {', '.join(sorted(names))}")
    note = (f"The column of {carrier}.",) if carrier else ()
    return replace(PRESET, columns=PRESET.columns.format(column=names[carrier])).recording(table, note)


IMPORTERS = (PRESET.importer(read),)
