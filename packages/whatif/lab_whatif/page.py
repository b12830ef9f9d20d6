# SPDX-License-Identifier: GPL-2.0-or-later
"""whatif.html: recorded beside replayed, the answers with their reasons, and what was assumed."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from lab.base.plain_file import write_whole
from lab.figures.save import svg
from lab.figures.sheet import in_house_style
from lab.figures.style import INK, Look, key_above, panels
from lab.report import template
from lab_whatif.counterfactual import Range
from lab_whatif.evidence import items
from lab_whatif.infer import Inferred
from lab_whatif.measures import STEP_S, Measures
from lab_whatif.shown import number, span
from lab_whatif.verdict import Compared

PAGE = "whatif.html"
CAPTION = "Hatched: the capacity is not known there. A line per trial on the links that fit, or on all where none does."
HEIGHT_IN = 5.0
HATCH = "#cfd6e0"
LINES = ("-", "--", ":", "-.")  # so that senders differ without colours, too
ALT = "Over time: arrived (MB) and round trip (ms), as recorded and as each sender ran. The tables have the numbers."
Lines = dict[str, list[Measures]]  # downloads by label


def write_page(
    folder: Path,
    sentences: Sequence[str],
    inferred: Inferred,
    recorded: Measures,
    lines: Lines,
    compared: list[Compared],
    ranges: list[Range],
    assumed: Sequence[str],
) -> None:
    """Write the page."""
    drawn = template.picture("download", picture(inferred, recorded, lines), ALT, CAPTION)
    page = template.render(
        "whatif.html.j2",
        Path(__file__).parent,
        name=inferred.name,
        sentences=sentences,
        drawn=drawn,
        verdict=[
            (
                row.quantity,
                number(row.recorded, row.unit),
                number(row.replayed, row.unit),
                row.unit,
                row.answer,
                row.reason,
            )
            for row in compared
        ],
        answered=answered(ranges),
        ranges=[(each.sender, each.quantity, each.unit, span(each), each.reason) for each in ranges],
        numbers=[(each.name, each.value, each.low, each.high, each.unit, each.reason) for each in items(inferred)],
        assumed=assumed,
    )
    write_whole(folder / PAGE, page)


def answered(ranges: list[Range]) -> list[str]:
    """Return a sentence per quantity, such as `5 MB: 10.7 s recorded; search 10.2 to 10.6 s, bbr refused`."""
    lines = []
    for quantity in dict.fromkeys(each.quantity for each in ranges):
        rows = [each for each in ranges if each.quantity == quantity]
        others = [f"{each.sender} {'refused' if each.low is None else f'{span(each)} {each.unit}'}" for each in rows]
        first = rows[0]
        seen = "not" if first.recorded is None else f"{number(first.recorded, first.unit)} {first.unit}"
        lines.append(f"{quantity}: {seen} recorded; {', '.join(others)}")
    return lines


@in_house_style
def picture(inferred: Inferred, recorded: Measures, lines: Lines) -> str:
    """Draw arrived bytes and round trips over time; a color per sender, a line per trial."""
    figure, (above, below) = panels(2, HEIGHT_IN)
    for axis in (above, below):
        for begin_s, end_s in unknown_spans(inferred, recorded):
            axis.axvspan(begin_s, end_s, facecolor="none", edgecolor=HATCH, hatch="///", linewidth=0)
    handles = []
    for place, (label, downloads) in enumerate({"recorded": [recorded], **lines}.items()):
        for each in downloads:
            t_s = (np.arange(len(each.arrived_bytes)) + 1) * STEP_S
            look: Look = {"color": f"C{place}" if place else INK, "linestyle": LINES[place % len(LINES)]}
            (line,) = above.plot(t_s, each.arrived_bytes / 1e6, label=label, zorder=9 - place, **look)
            below.plot(t_s, each.rtt_ms[: len(t_s)], zorder=9 - place, **look)
        handles += [line] if downloads else []
    above.set_ylabel("arrived (MB)")
    below.set_ylabel("round trip (ms)")
    below.set_xlabel("time since the first data (s)")
    key_above(figure, handles)
    return svg(figure)


def unknown_spans(inferred: Inferred, recorded: Measures) -> list[tuple[float, float]]:
    """Return where the capacity is not known, since the first data."""
    shift_s = inferred.base_s / 2 - recorded.begin_s
    table = inferred.capacity.select("t_s", "known", run=pl.col("known").rle_id())
    runs = (
        table.filter(~pl.col("known")).group_by("run", maintain_order=True).agg(pl.first("t_s"), end_s=pl.last("t_s"))
    )
    found = zip(runs["t_s"].to_list(), runs["end_s"].to_list(), strict=True)
    spans = [(max(begin_s + shift_s, 0.0), end_s + STEP_S + shift_s) for begin_s, end_s in found]
    return [each for each in spans if each[1] > 0]
