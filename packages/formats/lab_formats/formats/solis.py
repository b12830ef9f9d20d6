# SPDX-License-Identifier: GPL-2.0-or-later
"""Solis's `seconds Mbps`, a TAB between them, one line for each second from 0."""

from pathlib import Path
from typing import Literal

import numpy as np

from lab.base.errors import field_error
from lab.traces.importer import Head
from lab.traces.recording import Recording
from lab_formats.preset import Preset
from lab_formats.reading import pairs
from lab_formats.reading.clock import counted
from lab_formats.reading.iperf3_tests import GOODPUT
from lab_formats.reading.ramp import RULE, ramp_intervals


def fits(head: Head) -> bool:
    """Recognise two numbers with a TAB between them, the first within the second 0, 1, 2 and so on."""
    times = pairs.times_of(head, "\t")
    return times is not None and times[0] == 0 and bool((np.floor(times) == np.arange(len(times))).all())


PRESET = Preset(
    name="solis",
    reads="seconds and Mb/s, a TAB between, 1 s",
    gives="goodput",
    fits=fits,
    separator="\t",
    header=pairs.HEADER,
    columns=pairs.COLUMNS,
    meaning="goodput",
    notes=(GOODPUT, pairs.UNIT),
)


def read(path: Path, *, ramp: Literal["cut", "keep"] = "cut") -> Recording:
    """Read an iperf3 TCP download; `ramp` cuts its own slow start or keeps it."""
    if ramp not in ("cut", "keep"):
        raise field_error(path, "ramp", ramp, "cut or keep")
    table = PRESET.table(path)
    if ramp == "keep":
        return PRESET.recording(table)
    rates_mbps = table.column("mbps", "rate_down_mbps").to_numpy()
    cut = ramp_intervals(rates_mbps, counted(table, "seconds") + 1.0)
    note = f"The sender's ramp is cut, {RULE}: {cut} intervals, {cut:.1f} s."
    return PRESET.recording(table, (note,), leave_out=cut)


IMPORTERS = (PRESET.importer(read),)
