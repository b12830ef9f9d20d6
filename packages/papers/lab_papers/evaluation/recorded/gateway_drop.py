# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a gateway began to drop, as far as the sender's own log shows.

While the first hole is open (what is acknowledged in order stands still), each ACK reports segments that overtook it.
The link keeps order, so the last of them stands at sequence (delivered + lost), in segments: a segment was lost
exactly where this sum runs ahead of what was delivered. It was sent one round trip before its ACK came.

The virtual queue is what a gateway next to the sender must hold at that time: what had been sent and was not lost,
less what had left, which the sender knows the smallest round trip later. What waits on the return link counts as well.

Not every first loss is the gateway's drop: downloads lose single segments, and bursts lose about half. The drop is
taken to begin at the first loss from which each of two stretches of 500 segments lost 15 to 35 %. These three numbers
were chosen after the logs had been seen; a download that shows no such stretch has no such drop.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from lab_papers.evaluation.recorded.download import Download, Floats

STRETCH_PKTS = 500
LEAST_SHARE, MOST_SHARE = 0.15, 0.35
QUIET_S = 1.0  # without a drop: the gateway's drop is over
ETHERNET_BYTES = 14  # of a frame, before its IP packet


@dataclass(frozen=True)
class Drop:
    """A place in a download at which segments began to be lost."""

    sent_s: float  # when the first of them was sent
    queue_bytes: float  # IP bytes in the virtual queue then
    acked_bytes: float  # in order, when it was noticed


@dataclass(frozen=True)
class Gateway(Drop):
    """A gateway's drop, for as long as it goes on in the log."""

    segments: int  # that reached the gateway from then on
    lost: int  # of these

    @property
    def share_pct(self) -> float:
        """Share of the segments that was lost."""
        return 100 * self.lost / self.segments


def first_loss(download: Download) -> Drop | None:
    """Return the first segment that was lost, whatever lost it."""
    rows = _hole(download)
    return None if rows is None else _drop(download, int(rows[0]))


def gateway_drop(download: Download) -> Gateway | None:
    """Return the beginning of the gateway's drop; none where the log counts no losses, or shows none of that kind."""
    rows = _hole(download)
    if rows is None or np.isnan(download.lost_pkts[rows]).any():
        return None
    lost = np.maximum.accumulate(download.lost_pkts[rows])
    delivered = (download.delivered_bytes[rows] - download.delivered_bytes[rows[0]]) / download.mss_bytes
    place = delivered + lost
    shares = [_share(place, lost, place + first) for first in (0, STRETCH_PKTS)]
    fits = np.all([(share >= LEAST_SHARE) & (share <= MOST_SHARE) for share in shares], axis=0)
    onsets = np.flatnonzero(fits[:-1] & (np.diff(lost) > 0))
    if not onsets.size:
        return None
    begin = int(onsets[0])
    thin = np.flatnonzero((np.arange(len(place)) > begin) & ~(shares[0] >= LEAST_SHARE))
    end = int(thin[0]) if thin.size else len(place) - 1
    drop = _drop(download, int(rows[begin]))
    segments, gone = round(float(place[end] - place[begin])), round(float(lost[end] - lost[begin]))
    return Gateway(drop.sent_s, drop.queue_bytes, drop.acked_bytes, segments, gone)


def _hole(download: Download) -> np.ndarray | None:
    """Rows from the last ACK in order before the first loss to the last before its hole was filled."""
    if download.loss_s is None:
        return None
    noticed = int(np.searchsorted(download.t_s, download.loss_s, side="right")) - 1
    rows = np.flatnonzero(download.acked_bytes == download.acked_bytes[max(noticed, 0)])
    known = rows[~np.isnan(download.rtt_ms[rows])]
    return known if known.size else None


def _drop(download: Download, row: int) -> Drop:
    """Return the segment after the one that the row's ACK reported."""
    sent_s = float(download.t_s[row] - download.rtt_ms[row] / 1e3)
    left_bytes = np.interp(sent_s + download.min_rtt_ms / 1e3, download.t_s, download.delivered_bytes, left=0.0)
    queue_bytes = float(download.delivered_bytes[row] - left_bytes) * download.ip_share
    return Drop(sent_s, queue_bytes, float(download.acked_bytes[row]))


def _share(place: Floats, lost: Floats, begins: Floats) -> Floats:
    """Share lost over a stretch from each beginning; NaN where the log ends before the stretch does."""
    ends = begins + STRETCH_PKTS
    gone = np.interp(ends, place, lost) - np.interp(begins, place, lost)
    return np.where(ends > place[-1], np.nan, gone / STRETCH_PKTS)


def in_truth(qdisc: pl.DataFrame) -> Gateway | None:
    """Return the drop of an emulated gateway, from its own samples: its queue at the first drop, and its losses.

    It held what it held halfway between the samples before and after. The drop ends with the first second in which
    nothing was dropped. `sent_s` is on the clock of the samples.
    """
    dropped = qdisc["drops_pkts"].to_numpy() - qdisc["drops_pkts"][0]
    t_s = qdisc["t_s"].to_numpy()
    drops = np.flatnonzero(np.diff(dropped) > 0) + 1
    if not drops.size:
        return None
    quiet = np.flatnonzero(np.diff(t_s[drops]) > QUIET_S)
    first, last = int(drops[0]) - 1, int(drops[quiet[0]] if quiet.size else drops[-1])
    arrived = (qdisc["sent_pkts"] + qdisc["backlog_pkts"]).to_numpy() + dropped
    held = (qdisc["backlog_bytes"] - ETHERNET_BYTES * qdisc["backlog_pkts"])[first : first + 2]
    return Gateway(
        sent_s=float(t_s[first]),
        queue_bytes=float(held.to_numpy().mean()),
        acked_bytes=float("nan"),
        segments=int(arrived[last] - arrived[first]),
        lost=int(dropped[last] - dropped[first]),
    )
