# SPDX-License-Identifier: GPL-2.0-or-later
"""Time to download objects of 100 kB to 20 MB, sender by sender (thesis 5.10 a and 5.11 a, poster, NetDev talk)."""

from collections.abc import Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.base.stats import mean_sd
from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import in_house_style, is_narrow
from lab.figures.style import Drawing, Look, Sender, canvas, key_above, title
from lab.judge.copies import distinct
from lab.judge.digest import OBJECT_BYTES
from lab.judge.registry import TRUTH
from lab.judge.stored import Stored, in_order
from lab.tables.columns import Column, Described

LEAST_SHARE = 0.95  # of the trials must have had the object: a mean over those that were fast enough would flatter
CAPTION_MB = (1, 5, 20)
TIMES = Described(
    "One row per sender and object size.",
    {
        "cca": Column(pl.String, "name of the sender"),
        "size_mb": Column(pl.Float64, "size of the object", "MB"),
        "mean_s": Column(pl.Float64, "mean time from the SYN until the client had it"),
        "se_s": Column(pl.Float64, "standard error of mean_s; null below two trials"),
        "trials": Column(pl.UInt32, "valid trials"),
    },
)


def times(stored: Stored) -> pl.DataFrame:
    """Return the table TIMES, of each object that nearly all of a sender's valid trials downloaded."""
    sizes = (
        distinct(stored.judged.trials)
        .with_columns(size_mb=pl.int_ranges(1, pl.col("download_s").list.len() + 1))
        .explode("download_s", "size_mb")
    )
    download_s = pl.col("download_s")
    by_size = sizes.group_by("cca", "size_mb", maintain_order=True).agg(
        had=download_s.count(),
        trials=pl.len(),
        mean_s=download_s.mean(),
        se_s=download_s.std() / download_s.count().sqrt(),
    )
    enough = by_size.filter(pl.col("had") >= LEAST_SHARE * pl.col("trials"))
    return enough.select("cca", pl.col("size_mb") * OBJECT_BYTES / 1e6, "mean_s", "se_s", "trials")


@in_house_style
def figure(runs: Sequence[tuple[str, pl.DataFrame, Sequence[Sender], dict[str, float]]]) -> Figure:
    """Draw one panel per link: mean (band: standard error), and each sender's mean exit as a level of its colour."""
    stacked = is_narrow() or len(runs) == 1
    drawn = canvas(4.2 * len(runs) if stacked else 4.2)
    axes = drawn.subplots(*((len(runs), 1) if stacked else (1, len(runs))), squeeze=False).flat
    for axis, (link, table, senders, exits_s) in zip(axes, runs, strict=True):
        title(axis, f"{link}, n = {_trials(table)} each", 1 if stacked else 1 / len(runs))
        for sender in senders:
            _line(axis, table.filter(cca=sender.name), sender, exits_s.get(sender.name))
        axis.set_xlabel("object (MB)")
        axis.set_ylabel("time to download (s)")
        axis.set_ylim(bottom=0)
        axis.set_xlim(left=0)
    key_above(drawn, *axes[0].get_legend_handles_labels())
    return drawn


def draw(runs: Sequence[Stored]) -> Drawing:
    """Draw the figure of several links."""
    tables = [
        (stored.link, times(stored), [*map(Sender.from_stanza, stored.ccas)], _exits_s(stored))
        for stored in in_order(runs)
    ]
    what = (
        "Mean time to download an object, by its size (band: standard error). Level lines: each sender's mean exit "
        f"from slow start. Drawn where at least {100 * LEAST_SHARE:.0f} % of the trials had the object."
    )
    summary = " ".join(f"{link}: {_describe(table, senders)}." for link, table, senders, _ in tables)
    return Drawing(figure(tables), what, f"{what} {summary}")


def _trials(table: pl.DataFrame) -> str:
    """Return how many trials each sender has: one number, or the smallest and the largest."""
    counts = table["trials"].unique().sort()
    return " to ".join(map(str, counts.gather([0, -1]).unique(maintain_order=True))) if counts.len() else "0"


def _line(axis: Axes, table: pl.DataFrame, sender: Sender, exit_s: float | None) -> None:
    look: Look = {"color": sender.colour, "linestyle": sender.linestyle}
    axis.plot(table["size_mb"], table["mean_s"], label=sender.label, lw=2, **look)
    se = table["se_s"].fill_null(0)
    axis.fill_between(
        table["size_mb"], table["mean_s"] - se, table["mean_s"] + se, color=sender.colour, alpha=0.2, lw=0
    )
    if exit_s is not None:
        axis.axhline(exit_s, lw=0.9, **look)


def _exits_s(stored: Stored) -> dict[str, float]:
    rows = distinct(stored.judged.outcomes).filter(heuristic=TRUTH)
    means = {str(cca): mean_sd(of["exit_s"])[0] for (cca,), of in rows.group_by("cca")}
    return {cca: mean for cca, mean in means.items() if mean is not None}


def _describe(table: pl.DataFrame, senders: Sequence[Sender]) -> str:
    summary = []
    for sender in senders:
        known = dict(table.filter(cca=sender.name).select("size_mb", "mean_s").iter_rows())
        times_s = [f"{size} MB in {known[size]:.2f} s" for size in CAPTION_MB if size in known]
        summary.append(f"{sender.label} {', '.join(times_s) or 'no object in nearly all trials'}")
    return "; ".join(summary)


FIGURE = PageFigure("download_times", Place.NO_PAGE, draw, of=Given.RUNS)
