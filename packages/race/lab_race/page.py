# SPDX-License-Identifier: GPL-2.0-or-later
"""race.html: for each link and start a matrix, a row per sender that loses, a column per rival; and its sentences."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from lab.base.format import NONE, number
from lab.base.stats import median
from lab.report import template

PAGE = "race.html"
MEASURES = {
    "harm_throughput": "harm to throughput",
    "harm_1mb": "harm to the time for 1 MB",
    "harm_5mb": "harm to the time for 5 MB",
    "harm_20mb": "harm to the time for 20 MB",
}
SHOWN = ("throughput_mbps", "time_1mb_s", "time_5mb_s", "time_20mb_s", "retransmits_pkts", "exit_s")


class Cell(NamedTuple):
    """One sender beside one rival: the median of each measure over the trials."""

    harms: dict[str, float | None]
    numbers: dict[str, float | None]
    causes: str
    trials: int


class Matrix(NamedTuple):
    """One link and start."""

    link: str
    lead_s: float
    title: str
    cells: dict[str, dict[str, Cell]]
    alone: dict[str, Cell]


def render(rows: pl.DataFrame, senders: Sequence[str], left_out: Sequence[str]) -> str:
    """Return the page."""
    return template.render(
        "race.html.j2",
        Path(__file__).parent,
        number=number,
        percent=_percent,
        sentences=sentences(rows, senders),
        matrices=matrices(rows, senders),
        senders=senders,
        measures=MEASURES,
        left_out=left_out,
    )


def _percent(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.0f} %"


def matrices(rows: pl.DataFrame, senders: Sequence[str]) -> list[Matrix]:
    """Return the matrix of each link and start; senders that begin together are one matrix, in both orders."""
    found = []
    alone = rows.filter(pl.col("rival").is_null())
    beside = rows.filter(pl.col("rival").is_not_null())
    for link, lead_s in beside.select("link", "lead_s").unique(maintain_order=True).sort("lead_s").rows():
        here = beside.filter(link=link, lead_s=lead_s)
        cells = {
            sender: {rival: _cell(here.filter(sender=sender, rival=rival)) for rival in senders} for sender in senders
        }
        own = {sender: _cell(alone.filter(link=link, sender=sender)) for sender in senders}
        found.append(Matrix(link, lead_s, f"{link}: {_start(lead_s)}", cells, own))
    order = list(dict.fromkeys(rows["link"]))
    return sorted(found, key=lambda each: (order.index(each.link), each.lead_s))


def _start(lead_s: float) -> str:
    if not lead_s:
        return "both begin together"
    return f"the sender begins {abs(lead_s):g} s {'earlier' if lead_s > 0 else 'later'} than its rival"


def _cell(rows: pl.DataFrame) -> Cell:
    causes = ", ".join(
        f"{cause} {count}" for cause, count in rows["exit_cause"].drop_nulls().value_counts(sort=True).rows()
    )
    return Cell(_medians(rows, MEASURES), _medians(rows, SHOWN), causes, rows.height)


def _medians(rows: pl.DataFrame, names: Sequence[str] | dict[str, str]) -> dict[str, float | None]:
    return {name: None if rows[name].null_count() else median(rows[name]) for name in names}


def sentences(rows: pl.DataFrame, senders: Sequence[str]) -> list[str]:
    """Return for each sender what the others lose beside it, and what they lose beside each other of their own kind."""
    return list(_sentences(rows.filter(pl.col("rival").is_not_null()), senders))


def _sentences(rows: pl.DataFrame, senders: Sequence[str]) -> Iterator[str]:
    races = rows.select("link", "lead_s").n_unique()
    for victim in senders:
        beside = {rival: median(rows.filter(sender=victim, rival=rival)["harm_throughput"]) for rival in senders}
        known = {rival: harm for rival, harm in beside.items() if harm is not None}
        if not known:
            continue
        texts = ", ".join(
            f"{rival} {100 * harm:.0f} %" for rival, harm in sorted(known.items(), key=lambda each: -each[1])
        )
        over = "" if races == 1 else f", in the median over {races} links and starts"
        yield f"{victim} loses of its throughput alone{over}: beside {texts}"
