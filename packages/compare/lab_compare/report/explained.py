# SPDX-License-Identifier: GPL-2.0-or-later
"""The pictures of a comparison: all links in one, and each worst trial, explained next to the best sender's."""

from collections.abc import Mapping, Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.base.format import significant
from lab.base.stats import largest
from lab.evaluation.measures import MEASURES
from lab.figures import cwnd_rtt, throughput_delay
from lab.figures.moments import CAPACITY, LOOKS, Moments, key
from lab.figures.save import svg
from lab.figures.sheet import in_house_style
from lab.figures.style import Drawing, Look, canvas, envelope, title
from lab.figures.subject import Subject, subject
from lab.judge.registry import LASTING
from lab.judge.stored import Stored
from lab.report.published import short_label
from lab.report.template import Picture, picture
from lab_compare.matrix.texts import value_text
from lab_compare.report.worst import Explained, Worst

HEIGHT_IN = 5.2
HALF = 0.45  # of the figure's width: a column
POINTS = 500  # of each line: a page holds a picture per link


def scatter(found: Sequence[Stored]) -> Picture | None:
    """Draw throughput against queueing delay on every link where a sender is alone."""
    if (drawing := throughput_delay.draw(found)) is None:
        return None
    return picture("throughput_delay", svg(drawing.figure), drawing.alt, drawing.caption)


def explain(worst: Worst, labels: Mapping[str, str], pages: Mapping[str, str | None]) -> Explained | None:
    """Draw a worst trial, and put it into sentences; None where a trial of the two is not stored."""
    stored = worst.found.stored
    assert stored
    pair = [subject(stored.run, stored.judged.outcomes, name, worst.trial) for name in (worst.cca, worst.best)]
    own, other = pair
    if own is None or other is None:
        return None
    what = f"{worst.found.link.title}: {labels[worst.cca]}, trial {worst.trial}, next to {labels[worst.best]}"
    sentences = [_left(each, stored.judged.outcomes, labels[each.trial.cca]) for each in (own, other)]
    sentences.append(_cost(worst, labels))
    drawing = Drawing(figure(own, other), what, f"{what}. {' '.join(sentences)}")
    link = worst.found.link.name
    shown = picture(f"worst-{link}-{worst.cca}", svg(drawing.figure), drawing.alt, drawing.caption)
    return Explained(what, sentences, shown, pages[link] or "")


def _left(shown: Subject, outcomes: pl.DataFrame, label: str) -> str:
    """Return when and why a sender left slow start, against the queue and the first loss."""
    row = outcomes.filter(cca=shown.trial.cca, trial=shown.trial.number, heuristic=LASTING).row(0, named=True)
    moments = shown.moments
    if row["exit_s"] is None:
        return f"{label} never left slow start within the trial: {moments.in_words()}."
    kind = {"early": "early", "chokepoint": "at the chokepoint", "late": "late"}.get(row["exit_class"], "not judged")
    kind = "a record that its packets contradict" if row["contradiction"] else kind
    against, left_s = _against_queue(row["exit_s"], moments.lasting_s), significant(row["exit_s"], 2)
    signals = (("loss", moments.loss_s), ("mark", moments.mark_s))
    firsts = [f"the first {signal} came at {significant(t_s, 2)} s" for signal, t_s in signals if t_s is not None]
    came = ", ".join(firsts) or "nothing was lost"
    return f"{label} left slow start at {left_s} s (cause: {row['exit_cause']}){against}: {kind}; {came}."


def _against_queue(exit_s: float, full_s: float | None) -> str:
    if full_s is None:
        return "; the queue never stayed filled"
    side = "before" if exit_s < full_s else "after"
    return f", {significant(abs(exit_s - full_s), 2)} s {side} the queue stayed filled ({significant(full_s, 2)} s)"


def _cost(worst: Worst, labels: Mapping[str, str]) -> str:
    """Return what came of it by every measure."""
    parts = []
    for measure in MEASURES:
        if measure.name in worst.found.values and not measure.binary:
            own, other = (
                value_text(measure, [worst.found.values[measure.name][name][worst.trial - 1]])
                for name in (worst.cca, worst.best)
            )
            parts.append(f"{measure.title[0].lower()}{measure.title[1:]} {own} against {other}")
    return f"In this trial {labels[worst.cca]} had {', '.join(parts)}."


@in_house_style
def figure(own: Subject, other: Subject) -> Figure:
    """Draw two trials next to each other, each row of panels on the same axes."""
    drawn = canvas(HEIGHT_IN)
    axes = drawn.subplots(3, 2, sharex=True, sharey="row")
    until_s = max(largest(each.trial.qdisc["t_s"]) or 1.0 for each in (own, other))
    for column, shown in enumerate((own, other)):
        _column(axes[:, column], shown, until_s)
        title(axes[0, column], f"{short_label(shown.sender.label)}, trial {shown.trial.number}", HALF)
    cwnd_rtt.label(axes[:, 0])
    axes[2, 1].set_xlabel("time since the SYN (s)")
    axes[0, 0].set_xlim(0, until_s)
    drawn.legend(handles=key([name for name in LOOKS if name != CAPACITY]), loc="outside upper left", ncols=3)
    return drawn


def _column(axes: Sequence[Axes], shown: Subject, until_s: float) -> None:
    look: Look = {"color": shown.sender.colour}
    acks = shown.acks.filter(pl.col("t_s").is_between(0, until_s))
    queue = shown.trial.qdisc.filter(pl.col("t_s").is_between(0, until_s))
    for axis, column in zip(axes[:2], ("cwnd_pkts", "srtt_ms"), strict=True):
        thin = envelope(acks, column, POINTS)
        axis.plot(thin["t_s"], thin[column], **look)
    thin = envelope(queue, "backlog_bytes", POINTS)
    axes[2].plot(thin["t_s"], thin["backlog_bytes"] / 1e6, **look)
    _mark(axes, shown.moments)


def _mark(axes: Sequence[Axes], moments: Moments) -> None:
    for name, t_s, look in moments.lines():
        if name in LOOKS and name != CAPACITY:
            for axis in axes:
                axis.axvline(t_s, zorder=3, **look)
