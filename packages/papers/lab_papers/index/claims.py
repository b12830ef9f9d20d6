# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of evaluation/claims.parquet as the page shows them: counted by source, then verdict by verdict."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from lab.base.format import NONE
from lab.judge.clock import CLOCKS
from lab_papers.evaluation.claims.difference import distance, of_claim
from lab_papers.evaluation.claims.sentences import short
from lab_papers.evaluation.claims.verdict import (
    AGREES,
    BOUNDS,
    COUNTED,
    EXPLAINED,
    MOST_PCT,
    OPEN,
    PARTLY,
    UNEXPLAINED,
    UNJUDGED,
)

# What a reader looks for first stands first.
ORDER = (EXPLAINED, PARTLY, UNEXPLAINED, OPEN, AGREES, UNJUDGED)
MARKS = {
    AGREES: "agrees",
    EXPLAINED: "explained",
    PARTLY: "partly",
    UNEXPLAINED: "unexplained",
    OPEN: "open",
    UNJUDGED: "unjudged",
}
MEANINGS = {
    AGREES: "ours lies within the tolerance, which was stated before the run; whether our own interval contains the "
    "published value is another test, and stands beside each",
    EXPLAINED: "a run with one thing changed lies apart from ours, closes more than "
    f"{MOST_PCT:g} % of the way to the published value, and reaches into the tolerance",
    PARTLY: "such a run moves closer to the published value, but less far",
    UNEXPLAINED: "no run tests why, or the run that does so does not move closer",
    OPEN: "the same, and the scenario states what was tried",
    UNJUDGED: "not run yet, too few trials, or an interval that leaves it open",
}
SOURCE = ("document", "place")
INSIDE = "of these, in our interval"  # the published value
HEADER = (COUNTED[AGREES], INSIDE, *(words for name, words in COUNTED.items() if name != AGREES))


def shown(table: pl.DataFrame | None) -> dict[str, Any] | None:
    """All claims as the page shows them; null where they have not been judged."""
    if table is None:
        return None
    verdicts = [_verdict(name, table.filter(verdict=name)) for name in ORDER]
    shown = {"sources": _sources(table), "verdicts": [one for one in verdicts if one["claims"]]}
    return {"header": HEADER, **shown, "clocks": _clocks(table)}


def _sources(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Return how many values of each table of a source have each verdict, in the order of HEADER."""
    sources = [
        {"name": f"{document}, {place}", "counts": _counts(rows)}
        for (document, place), rows in table.sort(*SOURCE).group_by(SOURCE, maintain_order=True)
    ]
    return [*sources, {"name": "all", "counts": _counts(table)}]


def _counts(rows: pl.DataFrame) -> list[int]:
    agreeing = [of_claim(row) for row in rows.filter(verdict=AGREES).iter_rows(named=True)]
    inside = sum(bool(found.interval_contains) for found in agreeing)
    return [len(agreeing), inside, *(rows.filter(verdict=name).height for name in COUNTED if name != AGREES)]


def _clocks(table: pl.DataFrame) -> list[str]:
    timed = table.filter(pl.col("clock").is_not_null())
    return [
        f"Times of {', '.join(rows['document'].unique(maintain_order=True))} count from {CLOCKS[str(clock)]}, "
        "and so do ours; ours from the SYN are given below."
        for (clock,), rows in timed.group_by(["clock"], maintain_order=True)
    ]


def _verdict(name: str, rows: pl.DataFrame) -> dict[str, Any]:
    claims = [_claim(row) for row in rows.iter_rows(named=True)]
    return {"name": COUNTED[name], "mark": MARKS[name], "meaning": MEANINGS[name], "claims": claims}


def _claim(row: Mapping[str, Any]) -> Mapping[str, str | int]:
    spread = "" if row["published_sd"] is None else f" ({row['published_sd']:.4g})"
    from_syn = "" if row["ours_from_syn"] is None else f"{short(row['ours_from_syn'])} s from the SYN"
    bound = f"{BOUNDS[row['bound']]} " if row["bound"] else ""
    closed = "" if row["closed_pct"] is None else f"{row['closed_pct']:.0f} % of the way"
    return {
        "claim": row["claim"],
        "source": f"{row['document']}, {row['place']}: {row['row']}",
        "form": row["form"],
        "scenario": row["scenario"],
        "published": f"{bound}{row['published']:.4g}{spread} {row['unit']}",
        "tolerance": f"± {row['tolerance']:.4g}" if row["tolerance"] else "our interval decides",
        "certain": "the sender cannot miss it" if row["certain"] else "",
        "by_truths": _by_truths(row),
        "difference": distance(row),
        "ours": _estimate(row, "ours", "lo", "hi"),
        "trials": row["trials"],
        "from_syn": from_syn,
        "counterfactual": row["counterfactual"],
        "changes": row["changes"] or "not run",
        "theirs": _estimate(row, *(f"counterfactual_{name}" for name in ("value", "lo", "hi"))),
        "closed": closed,
        "why": row["why"] or "",
    }


def _by_truths(row: Mapping[str, Any]) -> str:
    """Return ours by both truths, where the metric follows an at-capacity rule."""
    if row["ours_true"] is None or row["ours_lasting"] is None:
        return ""
    return f"by the true queue {short(row['ours_true'])}, lasting {short(row['ours_lasting'])}"


def _estimate(row: Mapping[str, Any], value: str, lo: str, hi: str) -> str:
    if row[value] is None:
        return NONE
    interval = "" if row[lo] is None or row[hi] is None else f" [{short(row[lo])} to {short(row[hi])}]"
    return f"{short(row[value])}{interval} {row['unit']}"
