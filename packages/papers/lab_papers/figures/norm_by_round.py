# SPDX-License-Identifier: GPL-2.0-or-later
"""The normalized difference around capacity, in round trips: theory for three windows, and trials (thesis, 4.9)."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import in_house_style
from lab.figures.style import BLUE, GREEN, INK, VERMILION, Drawing, key_above, level, panels
from lab.judge.registry import TRUTH
from lab.judge.stored import Stored, in_order
from lab_papers.figures.replayed import Floats

WINDOWS_RTTS = {2.0: (VERMILION, "-."), 3.5: (INK, "-"), 5.0: (BLUE, "--")}
FROM_RTTS, TO_RTTS = -4.0, 7.0
SENDERS = ("search2", "search")  # the published code, or what a run has in its place
MOST_TRIALS = 60
SCHEMA = {"trial": pl.Int32, "round": pl.Float64, "norm_pct": pl.Float64, "threshold_pct": pl.Int64}


def theory_pct(rounds: Floats, window_rtts: float) -> Floats:
    """Equations 4.1 to 4.3: delivery doubles each round until round 0, then stays.

    The integral of 2^min(x, 0) is 2^x/ln 2 before round 0, and 1/ln 2 + x after it.
    """

    def integral(x: Floats) -> Floats:
        return np.asarray(np.where(x <= 0, 2.0 ** np.minimum(x, 0) / np.log(2), 1 / np.log(2) + x))

    now = integral(rounds) - integral(rounds - window_rtts)
    twice = 2 * (integral(rounds - 1) - integral(rounds - 1 - window_rtts))
    return np.asarray(100 * (twice - now) / twice)


def measured(stored: Stored) -> pl.DataFrame:
    """Return SEARCH's own bins (SCHEMA); round 0: the true capacity as the sender sees it, an RTT later."""
    sender = next((name for name in SENDERS if stored.judged.outcomes.filter(cca=name).height), None)
    true = stored.judged.outcomes.filter("valid", heuristic=TRUTH, cca=sender or "")
    full_s = dict(true.filter(pl.col("capacity_s").is_not_null()).select("trial", "capacity_s").iter_rows())
    rows = [
        trial.bins.filter(pl.col("norm_pct").is_not_null()).select(
            trial=pl.lit(trial.number),
            round=(pl.col("t_s") - full_s[trial.number]) / (trial.meta["base_rtt_ms"] / 1e3) - 1,
            norm_pct="norm_pct",
            threshold_pct=pl.lit(trial.parameter("threshold_pct"), pl.Int64),
        )
        for trial in stored.run.trials
        if trial.cca == sender and trial.number in full_s
    ][:MOST_TRIALS]
    return pl.concat(rows) if rows else pl.DataFrame(schema=SCHEMA)


@in_house_style
def figure(trials: Sequence[tuple[str, pl.DataFrame]]) -> Figure:
    """Theory as lines, each trial as a faint one."""
    drawn, (axis,) = panels(1, 4.2)
    for _, table in trials:
        for _, of_trial in table.group_by("trial"):
            shown = of_trial.sort("round").filter(pl.col("round").is_between(FROM_RTTS, TO_RTTS))
            axis.plot(shown["round"], shown["norm_pct"], color=GREEN, lw=0.7, alpha=0.45, marker=".", markersize=2)
    rounds = np.linspace(FROM_RTTS, TO_RTTS, 400)
    for window, (colour, dash) in WINDOWS_RTTS.items():
        axis.plot(
            rounds, theory_pct(rounds, window), color=colour, linestyle=dash, lw=2, label=f"theory, {window:g} RTTs"
        )
    if count := sum(table["trial"].n_unique() for _, table in trials):
        axis.plot([], [], color=GREEN, lw=1.4, marker=".", label=f"SEARCH's trials, n = {count}")
    thresholds = {value for _, table in trials for value in table["threshold_pct"].drop_nulls().unique()}
    for threshold_pct in sorted(thresholds):
        level(axis, threshold_pct, f"threshold {threshold_pct} %")
    axis.set_xlim(FROM_RTTS, TO_RTTS)
    axis.set_ylim(-25, 75)
    axis.set_xlabel("round trips since the link was full, as the sender sees it")
    axis.set_ylabel("normalized difference (%)")
    key_above(drawn, *axis.get_legend_handles_labels())
    return drawn


def draw(runs: Sequence[Stored]) -> Drawing:
    """Theory, with the trials of the runs that ran SEARCH."""
    trials = [(stored.link, measured(stored)) for stored in in_order(runs)]
    count = sum(table["trial"].n_unique() for _, table in trials)
    links = ", ".join(link for link, table in trials if table.height) or "no link"
    windows = ", ".join(f"{window:g}" for window in WINDOWS_RTTS)
    what = (
        "The normalized difference around capacity: 0 while delivery doubles, half once a window lies wholly at "
        f"capacity; theory for windows of {windows} RTTs, and SEARCH's own record in {count} trials ({links})"
    )
    return Drawing(figure(trials), f"{what}.", f"{what}.")


FIGURE = PageFigure("norm_by_round", Place.NO_PAGE, draw, of=Given.RUNS)
