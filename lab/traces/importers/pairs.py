# SPDX-License-Identifier: GPL-2.0-or-later
"""`seconds Mbps` without a header: Zhuge's (a blank between, 0.2 s) and Solis's (a TAB, each second from 0)."""

from pathlib import Path
from typing import Literal

import numpy as np

from lab.base.errors import field_error
from lab.traces.importers.clock import counted, ordered, with_holes
from lab.traces.importers.importer import Head, Importer
from lab.traces.importers.iperf3_tests import GOODPUT
from lab.traces.importers.ramp import RULE, ramp_intervals
from lab.traces.importers.table import BLANK, read_table
from lab.traces.recording import Recording

ZHUGE = "Whether the rate is the capacity or what a flow got is not stated in the file."
UNIT = "The unit (Mb/s) and the direction (down) are the format's, not stated in the file."


def fits_zhuge(head: Head) -> bool:
    """Recognise two numbers with a blank between them, the first some 0.2 s after the one before."""
    times = _times(head, " ")
    return times is not None and len(times) > 1 and 0.19 <= float(np.median(np.diff(times))) <= 0.25


def fits_solis(head: Head) -> bool:
    """Recognise two numbers with a TAB between them, the first within the second 0, 1, 2 and so on."""
    times = _times(head, "\t")
    return times is not None and times[0] == 0 and bool((np.floor(times) == np.arange(len(times))).all())


def read_zhuge(path: Path) -> Recording:
    """Read the rate that a WiFi or 4G link carried, by its recorder's own account."""
    table = read_table(path, BLANK, ("seconds", "mbps"))
    rate = table.column("mbps", "rate_down_mbps")
    frame, notes = ordered(table, "seconds", counted(table, "seconds"), [rate])
    if (first := table.numbers("seconds")[0]) != 0:
        notes.append(f"The clock begins at {first:.3f} s: counted from there.")
    frame, holes = with_holes(frame)
    return Recording(frame, "series", None, "zhuge", path.name, (*notes, *holes, UNIT, ZHUGE))


def read_solis(path: Path, *, ramp: Literal["cut", "keep"] = "cut") -> Recording:
    """Read an iperf3 TCP download; `ramp` says whether it loses its own slow start."""
    if ramp not in ("cut", "keep"):
        raise field_error(path, "ramp", ramp, "cut or keep")
    table = read_table(path, "\t", ("seconds", "mbps"))
    rate = table.column("mbps", "rate_down_mbps")
    t_s = counted(table, "seconds")
    notes = [GOODPUT, UNIT]
    cut = ramp_intervals(rate.to_numpy(), t_s + 1.0) if ramp == "cut" else 0
    if ramp == "cut":
        notes.append(f"The sender's ramp is cut, {RULE}: {cut} intervals, {cut:.1f} s.")
    frame, found = ordered(table, "seconds", t_s, [rate])
    frame, holes = with_holes(frame[cut:].with_columns(frame["t_s"][cut:] - frame["t_s"][cut]))
    return Recording(frame, "series", "goodput", "solis", path.name, (*notes, *found, *holes))


def _times(head: Head, separator: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]] | None":
    rows = [line.strip("\r").split(separator) for line in head.lines]
    if not rows or any(len(row) != 2 for row in rows):
        return None
    try:
        return np.array([[float(value) for value in row] for row in rows])[:, 0]
    except ValueError:
        return None


IMPORTERS = (
    Importer("zhuge", "seconds and Mb/s, a blank between, 0.2 s", fits_zhuge, read_zhuge),
    Importer("solis", "seconds and Mb/s, a TAB between, 1 s", fits_solis, read_solis),
)
