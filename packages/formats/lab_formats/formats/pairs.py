# SPDX-License-Identifier: GPL-2.0-or-later
"""Two numbers per line, seconds and Mb/s, without a header: Solis's, one line a second, and Zhuge's, every 0.2 s."""

from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lab.traces.importer import Head
from lab.traces.recording import Recording
from lab_formats.preset import Preset
from lab_formats.reading.clock import counted
from lab_formats.reading.iperf3_tests import GOODPUT, RULE, ramp_intervals
from lab_formats.reading.table import BLANK

HEADER = ("seconds", "mbps")
COLUMNS = "t_s=seconds, rate_down_mbps=mbps"
UNIT = "The unit (Mb/s) and the direction (down) are the format's, not stated in the file."


def times_of(head: Head, separator: str) -> NDArray[np.float64] | None:
    """Return the first numbers of the head's lines; None where a line is not two numbers."""
    try:
        times_s = [_time_s(line, separator) for line in head.lines]
    except ValueError:  # of the first line that is not: most files end here
        return None
    return np.array(times_s) if times_s else None


def _time_s(line: str, separator: str) -> float:
    time_s, _mbps = map(float, line.strip("\r").split(separator))
    return time_s


def fits_solis(head: Head) -> bool:
    """Recognise two numbers with a TAB between them, the first within the second 0, 1, 2 and so on."""
    times = times_of(head, "\t")
    return times is not None and times[0] == 0 and bool((np.floor(times) == np.arange(len(times))).all())


SOLIS = Preset(
    name="solis",
    reads="seconds and Mb/s, a TAB between, 1 s",
    gives="goodput",
    fits=fits_solis,
    separator="\t",
    header=HEADER,
    columns=COLUMNS,
    meaning="goodput",
    notes=(GOODPUT, UNIT),
)


def read_solis(path: Path, *, ramp: Literal["cut", "keep"] = "cut") -> Recording:
    """Read an iperf3 TCP download; `ramp` cuts its own slow start or keeps it."""
    table = SOLIS.table(path)
    if ramp == "keep":
        return SOLIS.recording(table)
    rates_mbps = table.column("mbps", "rate_down_mbps").to_numpy()
    cut = ramp_intervals(rates_mbps, counted(table, "seconds") + 1.0)
    note = f"The sender's ramp is cut, {RULE}: {cut} intervals, {cut:.1f} s."
    return SOLIS.recording(table, (note,), leave_out=cut)


def fits_zhuge(head: Head) -> bool:
    """Recognise two numbers with a blank between them, the first about 0.2 s after the one before."""
    times = times_of(head, " ")
    return times is not None and len(times) > 1 and 0.19 <= float(np.median(np.diff(times))) <= 0.25


ZHUGE = Preset(
    name="zhuge",
    reads="seconds and Mb/s, a blank between, 0.2 s",
    gives="rate",
    fits=fits_zhuge,
    separator=BLANK,
    header=HEADER,
    columns=COLUMNS,
    notes=(UNIT, "The file does not state whether the rate is the capacity or what one flow got."),
)


def read_zhuge(path: Path) -> Recording:
    """Read the rate that a WiFi or 4G link carried, as its recorder reports it."""
    table = ZHUGE.table(path)
    first_s = table.numbers("seconds")[0]
    return ZHUGE.recording(table, (f"The clock begins at {first_s:.3f} s: counted from there.",) * (first_s != 0))


IMPORTERS = (SOLIS.importer(read_solis), ZHUGE.importer(read_zhuge))
