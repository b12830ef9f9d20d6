# SPDX-License-Identifier: GPL-2.0-or-later
"""Zhuge's `seconds Mbps`, a blank between them, one line every 0.2 s."""

from pathlib import Path

import numpy as np

from lab.traces.importer import Head
from lab.traces.recording import Recording
from lab_formats.preset import Preset
from lab_formats.reading import pairs
from lab_formats.reading.table import BLANK


def fits(head: Head) -> bool:
    """Recognise two numbers with a blank between them, the first about 0.2 s after the one before."""
    times = pairs.times_of(head, " ")
    return times is not None and len(times) > 1 and 0.19 <= float(np.median(np.diff(times))) <= 0.25


PRESET = Preset(
    name="zhuge",
    reads="seconds and Mb/s, a blank between, 0.2 s",
    gives="rate",
    fits=fits,
    separator=BLANK,
    header=pairs.HEADER,
    columns=pairs.COLUMNS,
    notes=(pairs.UNIT, "The file does not state whether the rate is the capacity or what one flow got."),
)


def read(path: Path) -> Recording:
    """Read the rate that a WiFi or 4G link carried, as its recorder reports it."""
    table = PRESET.table(path)
    first_s = table.numbers("seconds")[0]
    return PRESET.recording(table, (f"The clock begins at {first_s:.3f} s: counted from there.",) * (first_s != 0))


IMPORTERS = (PRESET.importer(read),)
