# SPDX-License-Identifier: GPL-2.0-or-later
"""A download as its sender saw it, recorded or emulated: what was acknowledged, in flight, and each round trip.

Both count time from the first data segment, which is the first ACK less its round trip. Both show the socket after an
ACK was taken in and before the segments that it released were sent, so that their curves may be laid over each other.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab.base.errors import UserError, field_error
from lab.base.stats import smallest
from lab.judge.ack_stream import GAIN
from lab.tables.downloads import FLOW
from lab.tables.stored_trial import Trial
from lab.traces.recording import Recording

HEADERS_BYTES = 52  # IPv4 20, TCP 20, its timestamps 12: an IP packet is so much longer than its segment
SLOW_START_SHARE = 0.9  # in slow start as much is in flight as was acknowledged, less what waits to be paced out
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Download:
    """One download, with one value per ACK; NaN is unknown."""

    name: str
    t_s: Floats  # of the ACK, since the first data segment; increasing
    acked_bytes: Floats
    inflight_bytes: Floats
    rtt_ms: Floats
    delivered_bytes: Floats  # arrived in order or not; as acknowledged where nobody counted
    lost_pkts: Floats  # taken for lost; NaN where nobody counted
    mss_bytes: int
    loss_s: float | None  # when the sender first took a segment for lost
    start_s: float = 0.0  # when the first data segment was sent, on the clock of the trial's other tables

    @cached_property
    def min_rtt_ms(self) -> float:
        """The smallest round trip."""
        return float(np.nanmin(self.rtt_ms))

    @property
    def acked_pkts(self) -> Floats:
        """Segments acknowledged in order."""
        return self.acked_bytes / self.mss_bytes

    @property
    def ip_share(self) -> float:
        """IP bytes of a byte of data."""
        return (self.mss_bytes + HEADERS_BYTES) / self.mss_bytes

    @cached_property
    def slow_start_end_s(self) -> float:
        """When the sender left slow start: at the first loss, or where what is in flight falls behind for good."""
        last_s = float(self.t_s[-1]) if self.loss_s is None else self.loss_s
        known = np.flatnonzero((self.t_s <= last_s) & ~np.isnan(self.inflight_bytes))
        behind = self.inflight_bytes[known] < SLOW_START_SHARE * self.acked_bytes[known]
        if not known.size or not behind[-1] or behind.all():
            return last_s
        return float(self.t_s[known[~behind][-1]])

    def at(self, values: Floats, times_s: Floats) -> Floats:
        """Return what held at given times: the last ACK's value; NaN before the first ACK and after the last."""
        rows = np.searchsorted(self.t_s, times_s, side="right") - 1
        outside = (rows < 0) | (times_s > self.t_s[-1])
        return np.where(outside, np.nan, values[np.maximum(rows, 0)])


def recorded(recording: Recording, name: str) -> Download:
    """Take a recording of the kind that ack-log reads; UserError where it is another, or begins in mid-download."""
    frame = recording.frame
    if missing := {"acked_bytes", "rtt_ms", "mss_bytes"} - set(frame.columns):
        raise UserError(f"{name}: {min(missing)}: must be a column: only a log of ACKs is compared with downloads")
    if frame["acked_bytes"][0] != 0:
        raise field_error(name, "acked_bytes", frame["acked_bytes"][0], "0 in the first row: it lacks its beginning")
    acks = frame[1:]
    t_s, acked, rtt_ms = (_floats(acks, column) for column in ("t_s", "acked_bytes", "rtt_ms"))
    lost, again = (_floats(acks, column) for column in ("lost_pkts", "retransmits_pkts"))
    noticed = np.flatnonzero((np.nan_to_num(lost) > 0) | (np.nan_to_num(again) > 0))
    return Download(
        name=name,
        t_s=t_s,
        acked_bytes=acked,
        inflight_bytes=_floats(acks, "inflight_bytes") if "inflight_bytes" in acks else _inflight(t_s, acked, rtt_ms),
        rtt_ms=rtt_ms,
        delivered_bytes=_floats(acks, "delivered_bytes" if "delivered_bytes" in acks else "acked_bytes"),
        lost_pkts=lost,
        mss_bytes=int(frame["mss_bytes"][0]),
        loss_s=float(t_s[noticed[0]]) if noticed.size else None,
    )


def emulated(trial: Trial) -> Download | None:
    """Take the server's ACKs of a stored trial; none where no data was acknowledged."""
    before = trial.acks.filter(pl.col("flow") == FLOW)
    acked = before["snd_una_bytes"].shift(-1) - 1  # the SYN counts as a byte; a row shows the socket before its ACK
    srtt_ms = pl.col("srtt_ms")
    acks = before.with_columns(
        acked_bytes=acked,
        rtt_ms=GAIN * srtt_ms.shift(-1) - (GAIN - 1) * srtt_ms,  # RFC 6298, solved for the sample: see ack_stream
        inflight_bytes=pl.col("snd_nxt_bytes") - 1 - acked,
    ).filter(pl.col("acked_bytes") > 0)
    if not acks.height:
        return None
    start_s = float(acks["t_s"][0]) - float(acks["rtt_ms"][0]) / 1e3
    again_s = smallest(trial.retransmits.filter(pl.col("flow") == FLOW)["t_s"])
    acked_bytes = _floats(acks, "acked_bytes")
    return Download(
        name=f"{trial.cca}-{trial.number:03d}",
        t_s=_floats(acks, "t_s") - start_s,
        acked_bytes=acked_bytes,
        inflight_bytes=_floats(acks, "inflight_bytes"),
        rtt_ms=_floats(acks, "rtt_ms"),
        delivered_bytes=acked_bytes,
        lost_pkts=np.full(acks.height, np.nan),
        mss_bytes=int(trial.meta["mss_bytes"]),
        loss_s=None if again_s is None else again_s - start_s,
        start_s=start_s,
    )


def _inflight(t_s: Floats, acked_bytes: Floats, rtt_ms: Floats) -> Floats:
    """Return the bytes in flight of a log that has no count of what was sent.

    A segment was sent its round trip before its ACK.
    Known until the time at which the last segment was sent that was acknowledged in order.
    """
    grew = np.diff(acked_bytes, prepend=0.0) > 0
    known = np.flatnonzero(grew & ~np.isnan(rtt_ms))
    sent_s = np.maximum.accumulate(t_s[known] - rtt_ms[known] / 1e3)
    rows = np.searchsorted(sent_s, t_s, side="left") - 1  # sent before the ACK that releases more
    flight = acked_bytes[known][np.maximum(rows, 0)] - acked_bytes
    return np.where((rows < 0) | (t_s > sent_s[-1]), np.nan, np.maximum(flight, 0.0))


def _floats(frame: pl.DataFrame, column: str) -> Floats:
    if column not in frame.columns:
        return np.full(frame.height, np.nan)
    values: Floats = frame[column].cast(pl.Float64).to_numpy(allow_copy=True)
    return values
