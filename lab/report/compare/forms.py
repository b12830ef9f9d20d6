# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison as tables: for a terminal and LaTeX, and as long CSV files for a spreadsheet."""

from collections.abc import Sequence
from typing import TypedDict

import polars as pl

from lab.evaluation.compare.comparison import Comparison
from lab.evaluation.compare.measures import BY_NAME, MEASURES, Measure
from lab.evaluation.compare.ranks import of
from lab.evaluation.compare.results import LinkResult
from lab.evaluation.compare.sequential import ALPHA
from lab.report.compare.cells import labels
from lab.report.matrix.texts import mean_of, rank_text, value_text
from lab.report.table import Group, Row, Table

BRIEF = ("chokepoint", "throughput", "object_1000000", "object_20000000", "queueing", "retransmits", "harm")

NARROW = ("chokepoint", "throughput", "object_20000000", "harm")  # what a terminal of 80 columns has room for


def ranks_table(
    comparison: Comparison, found: Sequence[LinkResult], primary: str, chosen: Sequence[str] = BRIEF
) -> Table:
    """Return one group per link with one row per sender: each cell a rank and a value."""
    names = dict.fromkeys((primary, *chosen))
    measures = [BY_NAME[name] for name in names if any(name in each.values for each in found)]
    groups = tuple(_group(comparison, each, measures) for each in found if each.stored)
    caption = (
        "Rank: mean of each sender on each link (trials). Senders that have not separated share ranks: exact paired "
        f"group-sequential test, Holm over the pairs of a link and measure, {100 * ALPHA:g} %."
    )
    return Table("ranks", caption, ("Sender", *(measure.short for measure in measures)), groups, (), "Link")


def _group(comparison: Comparison, found: LinkResult, measures: Sequence[Measure]) -> Group:
    named = labels(comparison)
    rows = [Row((named[cca], *(_cell(found, measure, cca) for measure in measures))) for cca in comparison.senders]
    return Group(f"{found.link.title} ({found.trials})", tuple(rows))


def _cell(found: LinkResult, measure: Measure, cca: str) -> str:
    if measure.name not in found.values:
        return ""
    value = value_text(measure, found.values[measure.name][cca]).removesuffix(f" {measure.unit}")
    if measure.name in found.unranked:
        return value
    return f"{rank_text(found.places[measure.name].get(cca))}: {value}"


class RankRow(TypedDict):
    """A row of ranks.csv."""

    link: str
    sender: str
    measure: str
    unit: str
    trials: int
    mean: float | None
    rank_best: int | None
    rank_worst: int | None
    difference_from_subject: float | None
    lo: float | None
    hi: float | None
    effect: float | None
    level: float | None
    separated: bool | None


def ranks(comparison: Comparison, found: Sequence[LinkResult]) -> pl.DataFrame:
    """Return one row per link, sender and measure."""
    rows = [
        _rank_row(comparison, each, measure, cca)
        for each in found
        for measure in MEASURES
        if measure.name in each.values
        for cca in comparison.senders
    ]
    return pl.DataFrame(rows, schema=_schema())


def _schema() -> dict[str, type[pl.DataType]]:
    numbers = ("mean", "difference_from_subject", "lo", "hi", "effect", "level")
    texts = dict.fromkeys(("link", "sender", "measure", "unit"), pl.String)
    counts = dict.fromkeys(("trials", "rank_best", "rank_worst"), pl.Int64)
    return {
        name: texts.get(name) or counts.get(name) or (pl.Float64 if name in numbers else pl.Boolean)
        for name in RankRow.__annotations__
    }


def _rank_row(comparison: Comparison, found: LinkResult, measure: Measure, cca: str) -> RankRow:
    values = found.values[measure.name][cca]
    place = None if measure.name in found.unranked else found.places[measure.name].get(cca)
    subject = comparison.subjects[0]
    pair = None if cca == subject else of(found.pairs[measure.name], cca, subject)
    sign = 1 if pair and pair.first == cca else -1
    bounds = [None, None]
    if pair and pair.difference.lo is not None and pair.difference.hi is not None:
        bounds = sorted((sign * pair.difference.lo, sign * pair.difference.hi))  # type: ignore[assignment]
    return {
        "link": found.link.name,
        "sender": cca,
        "measure": measure.name,
        "unit": "share" if measure.binary else measure.unit,
        "trials": sum(value is not None for value in values),
        "mean": mean_of(values),
        "rank_best": place.best if place else None,
        "rank_worst": place.worst if place else None,
        "difference_from_subject": _times(sign, pair.difference.difference if pair else None),
        "lo": bounds[0],
        "hi": bounds[1],
        "effect": _times(sign, pair.difference.effect if pair else None),
        "level": pair.level if pair else None,
        "separated": pair.separated if pair else None,
    }


def _times(sign: int, value: float | None) -> float | None:
    return None if value is None else sign * value


def trials(found: Sequence[LinkResult]) -> pl.DataFrame:
    """Return one row per link, sender and trial, with a column per measure."""
    rows = [
        {"link": each.link.name, "sender": cca, "trial": number}
        | {name: each.values[name][cca][number - 1] if name in each.values else None for name in BY_NAME}
        for each in found
        if each.stored
        for cca in each.stored.run.scenario["ccas"]
        for number in range(1, each.trials + 1)
    ]
    schema = {"link": pl.String, "sender": pl.String, "trial": pl.Int64} | dict.fromkeys(BY_NAME, pl.Float64)
    return pl.DataFrame(rows, schema=schema)
