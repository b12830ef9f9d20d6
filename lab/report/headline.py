# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer in two sentences, for the top of every form of the report; three where the two truths differ."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from lab.judge.copies import copied_text
from lab.judge.registry import LASTING, TRUTH, label


def headline(summary: pl.DataFrame, ccas: Sequence[Mapping[str, Any]], heuristic: str) -> tuple[str, ...]:
    """Which senders left slow start at the chokepoint: in truth, and by the heuristic of the papers."""
    if not summary["judged"].sum():
        return ("No valid trial left slow start: this run has no answer.",)
    labels = {stanza["name"]: stanza["label"] for stanza in ccas}
    lasting, brief = (_by(summary, truth, labels) for truth in (LASTING, TRUTH))
    depends = () if lasting == brief else (f"With one round trip of standing queue as capacity, {brief}.",)
    return (
        f"By the bottleneck's own queue, once it stands for good, {lasting}.",
        *depends,
        f"Judged as in the papers, by {label(heuristic)}: {_by(summary, heuristic, labels)}.",
    )


def _by(summary: pl.DataFrame, heuristic: str, labels: Mapping[str, str]) -> str:
    """Return the best sender as a sentence, with the others after it."""
    of = summary.filter(heuristic=heuristic)
    rows = of.sort("chokepoint_pct", descending=True, nulls_last=True, maintain_order=True)
    sentences = [f"{labels[row['cca']]} {_share(row)}" for row in rows.iter_rows(named=True)]
    return ", ".join(sentences).replace(" in ", " left slow start at the right moment in ", 1)


def _share(row: Mapping[str, Any]) -> str:
    if not row["judged"]:
        return "in no trial that can be judged"
    counts = {name: round(row[f"{name}_pct"] * row["judged"] / 100) for name in ("chokepoint", "early", "late")}
    missed = ", ".join(f"{counts[name]} {name}" for name in ("early", "late") if counts[name])
    notes = [missed, copied_text(row["valid"]) if row["distinct"] < row["valid"] else ""]
    noted = "; ".join(filter(None, notes))
    return f"in {counts['chokepoint']} of {row['judged']} trials" + (f" ({noted})" if noted else "")
