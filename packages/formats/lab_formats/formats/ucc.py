# SPDX-License-Identifier: GPL-2.0-or-later
"""UCC's 4G and 5G CSV of G-NetTrack Pro: a phone that downloads a file, one row per second."""

from pathlib import Path
from typing import Literal

import polars as pl

from lab.traces.importer import Head, Importer
from lab.traces.recording import Recording
from lab_formats.reading.clock import dated, ordered, with_holes
from lab_formats.reading.doubts import parties
from lab_formats.reading.table import read_table

NAMES = frozenset({"Timestamp", "DL_bitrate", "UL_bitrate", "State", "NetworkMode"})
CLOCK = "%Y.%m.%d_%H.%M.%S"
NO_PROBE = ("-",)
IDLE = "I"
STATES = (IDLE, "D")
VIDEO = (
    "The file does not state what was downloaded: of a video, as in the data set's folders Netflix and Amazon_Prime, "
    "the rate is what its player requested, and no goodput."
)


def fits(head: Head) -> bool:
    """Recognise G-NetTrack's column names."""
    return head.header >= NAMES


def read(path: Path, *, zeros: Literal["stall", "missing"] = "stall") -> Recording:
    """Read goodput both ways and the sparse ping.

    While idle (State I) nobody requested data: the rate is missing. A rate of 0 while connected may be a stall or a
    pause between two downloads; the file does not distinguish them: `zeros` decides.
    """
    table = read_table(path)
    state = table.text("State")
    if len(odd := (~state.is_in(list(STATES))).arg_true()):
        raise table.error(odd[0], "State", state[odd[0]], f"one of {', '.join(STATES)}")
    rates = [
        table.column("DL_bitrate", "rate_down_mbps", scale=1e-3),
        table.column("UL_bitrate", "rate_up_mbps", scale=1e-3),
    ]
    stopped = (rates[0] == 0) & (state != IDLE)
    gone = (state == IDLE) | (stopped if zeros == "missing" else pl.Series([False] * len(state)))
    columns = [pl.select(pl.when(~gone).then(rate).alias(rate.name)).to_series() for rate in rates]
    columns += [
        table.column("PINGAVG", "rtt_ms", missing=NO_PROBE),
        table.column("PINGLOSS", "loss_pct", missing=NO_PROBE),
    ]
    frame, notes = ordered(table, "Timestamp", dated(table, "Timestamp", CLOCK), columns, same="spread")
    frame, holes = with_holes(frame)
    notes += [
        *holes,
        VIDEO,
        f"{(state == IDLE).sum()} rows without a connection in use (State I): rates missing: no demand.",
        f"{stopped.sum()} rows of rate 0 while connected: a stall or a pause between downloads; taken as {zeros}.",
        f"{columns[2].count()} rows with a ping, beside the download: the RTT contains its queue.",
    ]
    notes += parties(table, ())
    return Recording(frame, "series", "goodput", "ucc", path.name, tuple(notes))


IMPORTERS = (Importer("ucc", "CSV of G-NetTrack Pro (UCC)", "goodput, RTT, loss", fits, read),)
