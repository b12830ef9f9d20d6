# SPDX-License-Identifier: GPL-2.0-or-later
"""What slow start is: the congestion window over time, doubling until it is left (thesis, figure 2.1)."""

import polars as pl
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.base.stats import largest, smallest
from lab.figures import cwnd_rtt
from lab.figures.cwnd_rtt import Limits
from lab.figures.moments import Moments, mark_moments
from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import chars, in_house_style, width_in
from lab.figures.style import FAINT, INK, Drawing, Sender, envelope, key_above, panels
from lab.figures.subject import Subject

SHADE = "#e4e9f2"


@in_house_style
def figure(acks: pl.DataFrame, resent_s: pl.Series, moments: Moments, sender: Sender) -> Figure:
    """Draw the window and ssthresh of a trial; slow start is shaded, times of retransmission are marked."""
    drawn, (axis,) = panels(1, 3.4)
    axis.set_xlim(0, largest(acks["t_s"]) or 1.0)
    cwnd = envelope(acks, "cwnd_pkts")
    axis.plot(cwnd["t_s"], cwnd["cwnd_pkts"], color=sender.colour, label="congestion window")
    top = 1.12 * (largest(acks["cwnd_pkts"]) or 1)
    axis.set_ylim(0, top)
    threshold = envelope(acks.filter(pl.col("ssthresh_pkts") < top), "ssthresh_pkts")
    axis.plot(threshold["t_s"], threshold["ssthresh_pkts"], color=FAINT, linestyle="--", label="slow start threshold")
    _phases(axis, moments.exit_s)
    if resent_s.len():
        shown = resent_s.gather_every(max(resent_s.len() // 300, 1))
        axis.plot(shown, [0.015 * top] * shown.len(), "|", color=INK, markersize=7, label="retransmissions")
    axis.set_ylabel("packets")
    axis.set_xlabel("time since the SYN (s)")
    key_above(drawn, *axis.get_legend_handles_labels())
    mark_moments((axis,), moments)
    return drawn


def draw(subject: Subject) -> Drawing:
    """Draw the figure of one trial."""
    resent = subject.trial.retransmits.filter(pl.col("flow") == 1)["t_s"]
    what = "Congestion window over time: it doubles with every round trip (slow start) until it is left."
    peak = largest(subject.acks["cwnd_pkts"]) or 0
    alt = f"{what} {subject.title} Largest window {peak:.0f} packets, {resent.len()} retransmissions."
    return Drawing(figure(subject.acks, resent, subject.moments, subject.sender), f"{what} {subject.title}", alt)


def _phases(axis: Axes, exit_s: float | None) -> None:
    low, high = axis.get_xlim()
    until_s = high if exit_s is None else min(exit_s, high)
    axis.axvspan(low, until_s, color=SHADE, lw=0, zorder=0)
    named = {"slow start": (low + until_s) / 2, "congestion avoidance": (until_s + high) / 2}
    for name, t_s in named.items():
        room = until_s - low if name == "slow start" else high - until_s
        if room / (high - low) * chars(axis.get_position().width * width_in(), rcParams["font.size"]) > len(name):
            axis.text(t_s, 0.95, name, transform=axis.get_xaxis_transform(), ha="center", va="top", style="italic")


FIGURE = PageFigure("slow_start", Place.NO_PAGE, draw, of=Given.TRIAL)


def draw_beginning(subject: Subject) -> Drawing:
    """Draw window, round trip and queue until a little after capacity: jitter before a queue (thesis, figure 4.1)."""
    moments = subject.moments
    full_s = moments.true_capacity_s or moments.last_s()
    until_s = 1.05 * full_s if full_s else subject.trial.end_s
    limits = Limits.of_path(subject.trial.meta)
    drawn = cwnd_rtt.figure(subject.acks, subject.trial.qdisc, limits, moments, subject.sender, until_s)
    early = subject.acks.filter(pl.col("t_s") <= until_s)["srtt_ms"].drop_nulls()
    swing = f"smoothed RTT from {smallest(early) or 0:.0f} to {largest(early) or 0:.0f} ms"
    what = f"Window, smoothed RTT and queue until the link is full: {swing}"
    return Drawing(drawn, f"{what}. {subject.title}", f"{what}. {subject.title}")
