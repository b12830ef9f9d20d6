# SPDX-License-Identifier: GPL-2.0-or-later
"""whatif.html: recorded beside replayed, the answers with their reasons, and what was assumed."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import numpy as np
import polars as pl

from lab.figures.save import svg
from lab.figures.style import Look, key_above, panels
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
LINES = ("-", "--", ":", "-.")  # so that senders differ without colours, too
ALT = "Over time: arrived (MB) and round trip (ms), as recorded and as each sender ran. The tables have the numbers."
STYLE = (
    "body{font:16px sans-serif;max-width:60em;margin:2em auto;padding:0 1em}figure{margin:0}"
    "svg{max-width:100%;height:auto}div{overflow-x:auto}td,th{text-align:left;padding:.2em .6em}"
)
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
    verdict = [
        (row.quantity, number(row.recorded, row.unit), number(row.replayed, row.unit), row.unit, row.answer, row.reason)
        for row in compared
    ]
    answers = [(each.sender, each.quantity, each.unit, span(each), each.reason) for each in ranges]
    numbers = [(each.name, each.value, each.low, each.high, each.unit, each.reason) for each in items(inferred)]
    name = escape(inferred.name)
    drawn = template.picture("download", picture(inferred, recorded, lines), ALT, CAPTION).svg
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{name}</title><style>{STYLE}</style>",
        '<meta name=viewport content="width=device-width, initial-scale=1">',
        f"<h1>{name}</h1>",
        *(f"<p>{escape(each)}</p>" for each in sentences),
        f"<figure>{drawn}<figcaption>{CAPTION}</figcaption></figure>",
        "<h2>The original, replayed</h2>",
        _table(("Quantity", "Recorded", "Replayed", "Unit", "Verdict", "Reason"), verdict),
        "<h2>Other senders</h2>" if answers else "",
        *(f"<p>{escape(each)}</p>" for each in answered(ranges)),
        _table(("Sender", "Quantity", "Unit", "Range", "Reason"), answers) if answers else "",
        "<h2>The link</h2>",
        _table(("Number", "Value", "Low", "High", "Unit", "Reason"), numbers),
        "<h2>Assumed</h2>",
        *(f"<p>{escape(each)}</p>" for each in assumed),
        "</html>",
    ]
    (folder / PAGE).write_text("\n".join(parts), encoding="utf-8")


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


def picture(inferred: Inferred, recorded: Measures, lines: Lines) -> str:
    """Draw arrived bytes and round trips over time; a color per sender, a line per trial."""
    figure, (above, below) = panels(2, HEIGHT_IN)
    for axis in (above, below):
        for begin_s, end_s in unknown_spans(inferred, recorded):
            axis.axvspan(begin_s, end_s, facecolor="none", edgecolor="0.8", hatch="///", linewidth=0)
    handles = []
    for place, (label, downloads) in enumerate({"recorded": [recorded], **lines}.items()):
        for each in downloads:
            t_s = (np.arange(len(each.arrived_bytes)) + 1) * STEP_S
            look: Look = {"color": f"C{place}" if place else "black", "linestyle": LINES[place % len(LINES)]}
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


def _table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    head = "".join(f"<th>{escape(each)}" for each in heads)
    cells = ("<tr>" + "".join(f"<td>{'' if each is None else escape(str(each))}" for each in row) for row in rows)
    return f"<div tabindex=0><table><tr>{head}{''.join(cells)}</table></div>"
