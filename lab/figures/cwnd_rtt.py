# SPDX-License-Identifier: GPL-2.0-or-later
"""Congestion window, round-trip time and the bottleneck's queue over a trial (WiFi paper, figure 4 c, d)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.base.stats import largest
from lab.figures.moments import Moments, mark_moments
from lab.figures.page_figure import PageFigure, Place
from lab.figures.sheet import in_house_style, small_pt
from lab.figures.style import FAINT, INK, Drawing, Look, Sender, envelope, level, panels
from lab.figures.subject import Subject


@dataclass(frozen=True)
class Limits:
    """What the path holds: in flight without a queue, and in the bottleneck's buffer."""

    bdp_pkts: float
    buffer_bytes: int

    @classmethod
    def of_path(cls, meta: Mapping[str, Any]) -> "Limits":
        """From a trial's trial.json."""
        bdp_bytes = meta["rate_mbps"] * 1e6 / 8 * meta["base_rtt_ms"] / 1000
        return cls(bdp_bytes / meta["mss_bytes"], meta["buffer_bytes"])


@dataclass(frozen=True)
class Expected:
    """The window that a rule has with the same ACKs, and when the sender's first parts from it."""

    window: pl.DataFrame  # t_s, cwnd_pkts
    rule: str
    parts_s: float | None = None
    parts: str = ""


@in_house_style
def figure(
    acks: pl.DataFrame,
    qdisc: pl.DataFrame,
    limits: Limits,
    moments: Moments,
    sender: Sender,
    until_s: float | None = None,
    expected: Expected | None = None,
) -> Figure:
    """Three panels over the trial, or its beginning; the queue is what the bottleneck's own qdisc reports."""
    drawn, (cwnd_axis, rtt_axis, queue_axis) = panels(3, 6.4)
    queue_axis.set_xlim(0, until_s or largest(qdisc["t_s"]) or 1.0)
    if until_s is not None:
        acks, qdisc = (table.filter(pl.col("t_s") <= until_s) for table in (acks, qdisc))
    cwnd, rtt = envelope(acks, "cwnd_pkts"), envelope(acks, "srtt_ms")
    queue = envelope(qdisc.filter(pl.col("t_s") >= 0), "backlog_bytes")
    cwnd_axis.plot(cwnd["t_s"], cwnd["cwnd_pkts"], color=sender.colour)
    rtt_axis.plot(rtt["t_s"], rtt["srtt_ms"], color=sender.colour)
    queue_axis.fill_between(queue["t_s"], queue["backlog_bytes"] / 1e6, color=sender.colour, alpha=0.25, lw=0)
    queue_axis.plot(queue["t_s"], queue["backlog_bytes"] / 1e6, color=sender.colour)
    if expected:
        _expect(cwnd_axis, expected, sender)
    level(cwnd_axis, limits.bdp_pkts, f"BDP {limits.bdp_pkts:,.0f}")
    level(queue_axis, limits.buffer_bytes / 1e6, f"buffer {limits.buffer_bytes / 1e6:g} MB")
    label((cwnd_axis, rtt_axis, queue_axis))
    mark_moments((cwnd_axis, rtt_axis, queue_axis), moments)
    return drawn


def _expect(axis: Axes, expected: Expected, sender: Sender) -> None:
    """Draw a rule's window in grey below the sender's, and where they part."""
    window = expected.window
    axis.plot(window["t_s"], window["cwnd_pkts"], color=FAINT, linewidth=2.5, zorder=1, label=expected.rule)
    axis.lines[0].set_label(sender.label)
    if expected.parts_s is not None:
        at = float(window.filter(pl.col("t_s") <= expected.parts_s)["cwnd_pkts"].tail(1).sum())
        look: Look = {"color": INK, "marker": "v", "markersize": 7, "linestyle": "none", "zorder": 5}
        axis.plot([expected.parts_s], [at], label=expected.parts, **look)
    axis.legend(loc="lower right", fontsize=small_pt())


def draw(subject: Subject) -> Drawing:
    """Draw the figure of one trial."""
    limits = Limits.of_path(subject.trial.meta)
    drawn = figure(subject.acks, subject.trial.qdisc, limits, subject.moments, subject.sender)
    what = "Congestion window and smoothed RTT at the server, and the bottleneck's queue, over time."
    peaks = (largest(subject.acks["cwnd_pkts"]) or 0, largest(subject.acks["srtt_ms"]) or 0)
    alt = f"{what} {subject.title} Peaks: window {peaks[0]:.0f} packets, smoothed RTT {peaks[1]:.0f} ms."
    return Drawing(drawn, f"{what} {subject.title}", alt)


def label(axes: Sequence[Axes]) -> None:
    """Label three panels, one above the other."""
    for axis, text in zip(axes, ("congestion window\n(packets)", "smoothed RTT\n(ms)", "queue (MB)"), strict=True):
        axis.set_ylabel(text)
        axis.set_ylim(bottom=0)
    axes[-1].set_xlabel("time since the SYN (s)")


FIGURE = PageFigure("cwnd_rtt", Place.TRIAL, draw, order=2)
