# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison as tables: for a terminal and LaTeX, and as long CSV files for a spreadsheet."""

from collections.abc import Sequence

import polars as pl

from lab.base.format import number
from lab.base.stats import AtLeast, mean_of
from lab.evaluation.measures import BY_NAME, MEASURES, Measure
from lab.evaluation.sequential import ALPHA
from lab.report.table import Group, Row, Table
from lab_compare.comparison import Comparison
from lab_compare.exits import Exit, Exits, exits_of
from lab_compare.matrix.texts import rank_text, value_text
from lab_compare.ranks import of
from lab_compare.report.cells import labels
from lab_compare.results import LinkResult

BRIEF = ("chokepoint", "throughput", "object_1000000", "object_20000000", "queueing", "retransmits", "harm")

EXITS = ("Leaves at (s)", "Early/ choke- point/ late")


def exits_table(comparison: Comparison, found: Sequence[LinkResult]) -> Table:
    """Return one row per link, with one cell per sender: when it leaves slow start, and whether that is right."""
    named = labels(comparison)
    left = [(each.link.name, exits_of(each)) for each in found if each.stored]
    groups = [Group(link, (Row(tuple(_exit_text(exits[cca]) for cca in comparison.senders)),)) for link, exits in left]
    caption = "Seconds at which slow start ends, and whether that is early, at the chokepoint or late"
    header = tuple(named[cca] for cca in comparison.senders)
    return Table("exits", f"{caption} (a/b/c: trials).", header, tuple(groups), (), "Link")


def _exit_text(left: Exits) -> str:
    """Return `12.30 late`, or `12.30 1/2/0` where the trials differ."""
    mean, counts = exit_cells(left)
    zones = [zone for zone, count in left.counts.items() if count]
    plain = not left.contradictions and len(zones) < 2
    return " ".join((mean, *(zones if plain else [counts])))


def ranks_table(comparison: Comparison, found: Sequence[LinkResult], primary: str) -> Table:
    """Return one group per link with one row per sender: each cell a rank and a value."""
    names = dict.fromkeys((primary, *BRIEF))
    measures = [BY_NAME[name] for name in names if any(name in each.values for each in found)]
    groups = tuple(_group(comparison, each, measures) for each in found if each.stored)
    header = ("Sender", *EXITS, *(measure.short for measure in measures))
    caption = (
        "Rank: mean of each sender on each link (trials). Senders that have not separated share ranks: exact paired "
        f"group-sequential test, Holm over the pairs of a link and measure, {100 * ALPHA:g} %."
    )
    return Table("ranks", caption, header, groups, (), "Link")


def _group(comparison: Comparison, found: LinkResult, measures: Sequence[Measure]) -> Group:
    named = labels(comparison)
    left = exits_of(found)
    rows = [
        Row((named[cca], *exit_cells(left[cca]), *(_cell(found, measure, cca) for measure in measures)))
        for cca in comparison.senders
    ]
    return Group(f"{found.link.title} ({found.trials})", tuple(rows))


def exit_cells(left: Exits) -> tuple[str, str]:
    """Return when a sender leaves, and how many exits were early, at the chokepoint and late."""
    forged = f" +{len(left.contradictions)} contradicted" if left.contradictions else ""
    return number(left.mean_s, 2), "/".join(map(str, left.counts.values())) + forged


def _cell(found: LinkResult, measure: Measure, cca: str) -> str:
    if measure.name not in found.values:
        return ""
    value = value_text(measure, found.values[measure.name][cca]).removesuffix(f" {measure.unit}")
    if measure.name in found.unranked:
        return value
    return f"{rank_text(found.places[measure.name].get(cca))}: {value}"


RANK_COLUMNS = {
    **dict.fromkeys(("link", "sender", "measure", "unit"), pl.String),
    **dict.fromkeys(("trials", "lower_bounds"), pl.Int64),
    "mean": pl.Float64,
    **dict.fromkeys(("rank_best", "rank_worst"), pl.Int64),
    **dict.fromkeys(("difference_from_subject", "lo", "hi", "effect", "level"), pl.Float64),
    "separated": pl.Boolean,
}


def ranks(comparison: Comparison, found: Sequence[LinkResult]) -> pl.DataFrame:
    """Return one row per link, sender and measure."""
    rows = [
        _rank_row(comparison, each, measure, cca)
        for each in found
        for measure in MEASURES
        if measure.name in each.values
        for cca in comparison.senders
    ]
    return pl.DataFrame(rows, schema=RANK_COLUMNS)


def _rank_row(comparison: Comparison, found: LinkResult, measure: Measure, cca: str) -> dict[str, object]:
    values = found.values[measure.name][cca]
    place = None if measure.name in found.unranked else found.places[measure.name].get(cca)
    subject = comparison.subjects[0]
    pair = None if cca == subject else of(found.pairs[measure.name], cca, subject)
    sign = 1 if pair and pair.first == cca else -1
    lo, hi = (pair.difference.lo, pair.difference.hi)[::sign] if pair else (None, None)
    return {
        "link": found.link.name,
        "sender": cca,
        "measure": measure.name,
        "unit": "share" if measure.binary else measure.unit,
        "trials": sum(value is not None for value in values),
        "lower_bounds": sum(isinstance(value, AtLeast) for value in values),
        "mean": mean_of(values),
        "rank_best": place.best if place else None,
        "rank_worst": place.worst if place else None,
        "difference_from_subject": _times(sign, pair.difference.difference if pair else None),
        "lo": _times(sign, lo),
        "hi": _times(sign, hi),
        "effect": _times(sign, pair.difference.effect if pair else None),
        "level": pair.level if pair else None,
        "separated": pair.separated if pair else None,
    }


def _times(sign: int, value: float | None) -> float | None:
    return None if value is None else sign * value


def trials(found: Sequence[LinkResult]) -> pl.DataFrame:
    """Return one row per link, sender and trial: its exit from slow start, and a column per measure."""
    rows = [
        _trial_row(each, cca, trial, left)
        for each in found
        if each.stored
        for cca, left in exits_of(each).items()
        for trial in range(1, each.trials + 1)
    ]
    texts = {"link": pl.String, "sender": pl.String, "trial": pl.Int64, "exit_s": pl.Float64}
    texts |= {"exit_class": pl.String, "contradiction": pl.String}
    columns = texts | {measure.with_unit: pl.Float64 for measure in MEASURES}
    return pl.DataFrame(rows, schema=columns | {"lower_bounds": pl.Int64})


def _trial_row(found: LinkResult, cca: str, trial: int, exits: Exits) -> dict[str, object]:
    left = exits.by_trial.get(trial, Exit(None, None))
    row: dict[str, object] = {"link": found.link.name, "sender": cca, "trial": trial}
    measured = {
        measure.with_unit: found.values[measure.name][cca][trial - 1] if measure.name in found.values else None
        for measure in MEASURES
    }
    exit_ = {"exit_s": left.t_s, "exit_class": left.exit_class, "contradiction": left.contradiction}
    bounds = sum(isinstance(value, AtLeast) for value in measured.values())
    return row | exit_ | measured | {"lower_bounds": bounds}
