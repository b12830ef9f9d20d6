# SPDX-License-Identifier: GPL-2.0-or-later
"""One download of each sender, side by side: bytes, window, RTT, throughput over time (NetDev talk, GEO examples)."""

from collections.abc import Sequence
from textwrap import fill

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.figures.page_figure import PageFigure, Place
from lab.figures.script import draw_together
from lab.figures.style import CAPACITY, EXIT, LOSS, WIDTH_IN, Drawing, Look, envelope, in_house_style
from lab.figures.subject import Subject

ROWS = ("delivered (MB)", "congestion window\n(packets)", "smoothed RTT (ms)", "throughput\n(Mb/s)")
INTERVAL_S = 0.25  # of the throughput shown


@in_house_style
def figure(subjects: Sequence[Subject]) -> Figure:
    """Draw one column per sender and one row per quantity; rows share their axes, for comparison."""
    drawn = Figure(figsize=(max(2.5 * len(subjects), WIDTH_IN), 7.2), layout="constrained")
    axes = drawn.subplots(len(ROWS), len(subjects), sharex=True, sharey="row", squeeze=False)
    for column, subject in enumerate(subjects):
        _column([row[column] for row in axes], subject)
    for row, label in zip(axes, ROWS, strict=True):
        row[0].set_ylabel(label)
        row[0].set_ylim(bottom=0)
    for axis in axes[-1]:
        axis.set_xlabel("time since the SYN (s)")
    axes[0][0].set_xlim(left=0)
    return drawn


def draw(subjects: Sequence[Subject]) -> Drawing:
    """Draw the figure of several senders' trials over the same link."""
    summary = " ".join(subject.title for subject in subjects)
    marks = "Dotted: true capacity; dashed: exit; dash-dotted: first loss."
    what = "One download of each sender over the same link: bytes delivered, window, round trip and throughput"
    return Drawing(figure(subjects), f"{what}. {marks} {summary}", f"{what}. {summary}")


def _column(axes: Sequence[Axes], subject: Subject) -> None:
    look: Look = {"color": subject.sender.colour, "lw": 1.2}
    acks = subject.acks.with_columns(delivered_mb=pl.col("snd_una_bytes") / 1e6)
    for axis, column in zip(axes, ("delivered_mb", "cwnd_pkts", "srtt_ms"), strict=False):
        shown = envelope(acks, column, buckets=400)
        axis.plot(shown["t_s"], shown[column], **look)
    wide = subject.throughput.group_by((pl.col("begin_s") / INTERVAL_S).floor().alias("n"), maintain_order=True)
    rates = wide.agg(pl.col("begin_s").first(), pl.col("throughput_mbps").mean())
    axes[-1].step(rates["begin_s"], rates["throughput_mbps"], where="post", **look)
    axes[0].set_title(fill(subject.sender.label, 22), fontsize=10, fontweight="bold")
    moments = subject.moments
    marks = ((moments.true_capacity_s, CAPACITY, ":"), (moments.exit_s, EXIT, "--"), (moments.loss_s, LOSS, "-."))
    for axis in axes:
        for t_s, colour, dash in marks:
            if t_s is not None:
                axis.axvline(t_s, color=colour, linestyle=dash, lw=1.2)


FIGURE = PageFigure("case_study", Place.NO_PAGE, draw)


if __name__ == "__main__":
    draw_together("case_study", draw)
