# SPDX-License-Identifier: GPL-2.0-or-later
"""One download of each sender, side by side: bytes, window, RTT, throughput over time (NetDev talk, GEO examples)."""

from collections.abc import Sequence

import polars as pl
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from lab.figures.moments import EXIT, LOOKS, LOSS, TRUE_CAPACITY, key
from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import in_house_style, is_narrow
from lab.figures.style import Drawing, Look, canvas, envelope, key_above, title
from lab.figures.subject import Subject

ROWS = ("delivered\n(MB)", "window\n(packets)", "RTT (ms)", "throughput\n(Mb/s)")
INTERVAL_S = 0.25  # of the throughput shown


@in_house_style
def figure(subjects: Sequence[Subject]) -> Figure:
    """Draw one column per sender and one row per quantity; rows share their axes, for comparison."""
    drawn = canvas(7.2)
    axes = drawn.subplots(len(ROWS), len(subjects), sharex=True, sharey="row", squeeze=False)
    for column, subject in enumerate(subjects):
        _column([row[column] for row in axes], subject, len(subjects))
    for row, label in zip(axes, ROWS, strict=True):
        row[0].set_ylabel(label)
        row[0].set_ylim(bottom=0)
    drawn.align_ylabels(axes[:, 0])
    drawn.supxlabel("time since the SYN (s)", fontsize=rcParams["axes.labelsize"])
    axes[0][0].set_xlim(left=0)
    axes[0][0].xaxis.set_major_locator(MaxNLocator(3 if is_narrow() else 5))
    names = [Line2D([], [], color=each.sender.colour, label=each.sender.label) for each in subjects]
    key_above(drawn, [*(names if is_narrow() else ()), *key((TRUE_CAPACITY, EXIT, LOSS))])
    return drawn


def draw(subjects: Sequence[Subject]) -> Drawing:
    """Draw the figure of several senders' trials over the same link."""
    summary = " ".join(subject.title for subject in subjects)
    what = "One download of each sender over the same link: bytes delivered, window, round trip and throughput"
    return Drawing(figure(subjects), f"{what}. {summary}", f"{what}. {summary}")


def _column(axes: Sequence[Axes], subject: Subject, columns: int) -> None:
    look: Look = {"color": subject.sender.colour, "lw": 1.2}
    acks = subject.acks.with_columns(delivered_mb=pl.col("snd_una_bytes") / 1e6)
    for axis, column in zip(axes, ("delivered_mb", "cwnd_pkts", "srtt_ms"), strict=False):
        shown = envelope(acks, column, buckets=400)
        axis.plot(shown["t_s"], shown[column], **look)
    wide = subject.evidence.throughput.group_by(
        (pl.col("begin_s") / INTERVAL_S).floor().alias("n"), maintain_order=True
    )
    rates = wide.agg(pl.col("begin_s").first(), pl.col("throughput_mbps").mean())
    axes[-1].step(rates["begin_s"], rates["throughput_mbps"], where="post", **look)
    if not is_narrow():
        title(axes[0], subject.sender.label, 0.8 / columns)
    moments = subject.moments
    marks = {TRUE_CAPACITY: moments.true_capacity_s, EXIT: moments.exit_s, LOSS: moments.loss_s}
    for axis in axes:
        for name, t_s in marks.items():
            if t_s is not None:
                axis.axvline(t_s, **LOOKS[name])


FIGURE = PageFigure("case_study", Place.NO_PAGE, draw, of=Given.TRIALS)
