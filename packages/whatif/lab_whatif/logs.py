# SPDX-License-Identifier: GPL-2.0-or-later
"""A sender's log of each ACK (ours, or a qlog) as a path: without time stamps the way up is taken for constant.

Readings of tcp_info (NDT7, ss) are too coarse for a path: they only bound the capacity.
"""

from collections.abc import Iterator
from pathlib import Path as File

import numpy as np
import polars as pl
from lab_formats.formats import pcap
from lab_formats.reading.grain import grain_s
from numpy.typing import NDArray

from lab.base.errors import field_error
from lab.traces import importers
from lab.traces.importer import Head
from lab.traces.recording import Recording
from lab_whatif.evidence import Item
from lab_whatif.infer import Inferred, infer
from lab_whatif.judged import refuse_all
from lab_whatif.path import FRAME_BYTES, NOT_KNOWN, Down, Path, Sent, Up
from lab_whatif.refuse import BULK_BYTES, LEAST_STEPS, of_few_steps, paused, too_little

HEADERS = {"ack-log": FRAME_BYTES, "qlog": 42}  # bytes of a packet beside what is counted: Ethernet, IPv4, UDP
PER_ACK, COARSE = ("ack-log", "qlog"), ("ndt7", "ss")
CLOCK_MS = 0.001  # of such logs at best
ASSUMED = "a log does not separate the two ways: all that a round trip waited is put on the way down"
PAUSE_SHARE = 0.25  # of a base RTT, by which a packet is late
LEAST_GAP_S = 0.05  # between two readings: in less an ACK's batch is no rate
Numbers = NDArray[np.int64]


def is_capture(file: File) -> bool:
    """Return whether a file is a capture, by its content."""
    return pcap.fits(Head(file))


def read(file: File) -> Recording:
    """Read a log; UserError where its format carries too little."""
    name = " or ".join(one.name for one in importers.fitting(file)) or f"none, near {importers.resembled(file)}"
    if name not in (*PER_ACK, *COARSE):
        rule = f"a capture, or one of {', '.join((*PER_ACK, *COARSE))}: a recording of rates shows no sender"
        raise field_error(file, "format", name, rule)
    return importers.read(file, name)


def inferred_of(file: File, found: Recording) -> Inferred:
    """Infer the link from a log of each ACK; Faults with each rule that it breaks."""
    inferred = infer(_path(file, found.frame, HEADERS[found.format]), found.source)
    lines = [*_unordered(found.frame), *of_few_steps(inferred.path, LEAST_STEPS["sender"], "the log's clock")]
    lines += [*paused(_pauses(found.frame, inferred.base_s), inferred), *too_little(inferred)]
    refuse_all(file, lines)
    return inferred


def _unordered(frame: pl.DataFrame) -> Iterator[str]:
    """Yield that a log with losses has only what arrived in order: that jumps where a hole is filled."""
    known = [frame[name].sum() for name in ("retransmits_pkts", "lost_pkts") if name in frame.columns]
    if "delivered_bytes" not in frame.columns and (not known or any(known)):
        lost = f"{max(known)} packets lost" if known else "losses not counted"
        yield f"tp_delivered=none ({lost}): must be there: bytes in order do not show when those behind a hole arrived"


def _pauses(frame: pl.DataFrame, base_s: float) -> int:
    """Count the ACKs that left nothing in flight and behind which the next packet was sent late, once the bulk began.

    When it was sent is known by the next ACK, less its round trip.
    """
    if "inflight_bytes" not in frame.columns:
        return 0
    acked = pl.col("delivered_bytes" if "delivered_bytes" in frame.columns else "acked_bytes")
    pause_s = (pl.col("t_s") - pl.col("rtt_ms") / 1e3).shift(-1) - pl.col("t_s")
    idle = (pl.col("inflight_bytes") == 0) & (acked > BULK_BYTES) & (pause_s > PAUSE_SHARE * base_s)
    return int(frame.select(idle.sum()).item() or 0)


def _path(file: File, frame: pl.DataFrame, header_bytes: int) -> Path:
    acked = _acked(file, frame)
    rtt_s = frame["rtt_ms"].to_numpy().astype(float) / 1e3
    if np.isnan(rtt_s).all():
        raise field_error(file, "rtt_ms", "none", "known of some ACKs")
    base_s = float(np.nanmin(rtt_s))
    new = np.diff(acked, prepend=0) > 0
    t_s, wait_s = frame["t_s"].to_numpy()[new], _held(rtt_s - base_s)[new]
    end = acked[new]
    seq = np.concatenate([[0], end[:-1]])
    mss = int(frame["mss_bytes"][0])
    sizes = end - seq + -(-(end - seq) // mss) * header_bytes
    down = Down(t_s - base_s / 2, wait_s, seq + 1, end + 1, sizes)
    up = Up(t_s - base_s / 2, np.zeros(len(t_s)), np.zeros(len(t_s)), end + 1)
    losses = _losses(frame, base_s)
    clock_ms = max(CLOCK_MS, grain_s(np.unique(t_s)) * 1e3)
    return Path(down, up, _sent(frame, acked, mss), base_s * 1e3, clock_ms, mss_bytes=mss, counted=losses)


def _losses(frame: pl.DataFrame, base_s: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return when losses were counted, and how many: packets sent again, or newly taken for lost."""
    again, lost = "retransmits_pkts", "lost_pkts"
    steps = pl.col(again) if again in frame.columns else pl.col(lost).diff() if lost in frame.columns else pl.lit(0)
    counted = frame.select(pl.col("t_s") - base_s / 2, steps.cast(pl.Float64).alias("pkts")).filter(pl.col("pkts") > 0)
    return counted["t_s"].to_numpy(), counted["pkts"].to_numpy()


def _held(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values in which the one before stands where one is not known."""
    places = np.maximum.accumulate(np.where(np.isnan(values), -1, np.arange(len(values))))
    return np.where(places >= 0, values[np.maximum(places, 0)], 0.0)


def _acked(file: File, frame: pl.DataFrame) -> Numbers:
    name = next((each for each in ("delivered_bytes", "acked_bytes") if each in frame.columns), None)
    if name is None:
        raise field_error(file, "acked_bytes", "none", "in the log: without it no rate follows")
    return np.maximum.accumulate(frame[name].fill_null(0).to_numpy())


def _sent(frame: pl.DataFrame, acked: Numbers, mss: int) -> Sent:
    """Return what was in flight at each ACK; a log without it shows no exit."""
    known = "inflight_bytes" in frame.columns
    flight = frame["inflight_bytes"].fill_null(0).to_numpy() if known else np.full(len(acked), NOT_KNOWN)
    end = np.maximum(acked + flight, mss)
    return Sent(frame["t_s"].to_numpy(), end, acked, flight, np.full(len(acked), 2**62))


def bounds(file: File, found: Recording) -> tuple[pl.DataFrame, list[Item]]:
    """Return how much passed at least between two readings, and what that bounds."""
    frame = found.frame.select("t_s", acked=pl.Series(_acked(file, found.frame)))
    gap_s = frame["t_s"].diff()
    table = frame.select(
        "t_s", at_least_mbps=pl.col("acked").diff() * 8 / 1e6 / pl.when(gap_s >= LEAST_GAP_S).then(gap_s)
    ).drop_nulls()
    if not table.height:
        raise field_error(file, "rows", found.frame.height, f"at least 2, {LEAST_GAP_S * 1e3:g} ms apart")
    most = float(table["at_least_mbps"].max())  # type: ignore[arg-type]
    shortest = found.frame["rtt_ms"].min()
    if shortest is None:
        raise field_error(file, "rtt_ms", "none", "known of a reading")
    least_ms = float(shortest)  # type: ignore[arg-type]
    why = "the most that was acknowledged between two readings; the capacity is as much or more, at that time"
    rtt = "the shortest reading, which is smoothed: the path's own is as short or shorter"
    return table, [
        Item("capacity", round(most, 3), "Mb/s", round(most, 3), None, why),
        Item("base_rtt", round(least_ms, 3), "ms", None, round(least_ms, 3), rtt),
    ]
