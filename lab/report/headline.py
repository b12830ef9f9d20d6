# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer, for the top of every form of the report: a sentence, and how far the other judges differ from it."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from lab.judge.copies import copied_text
from lab.judge.registry import LASTING, TRUTH, label

SAME = "the same"


def headline(summary: pl.DataFrame, ccas: Sequence[Mapping[str, Any]], heuristic: str) -> tuple[str, ...]:
    """Which senders left slow start at the chokepoint: in truth; then what another judge finds otherwise."""
    if not summary["judged"].sum():
        return ("No valid trial left slow start: this run has no answer.",)
    labels = {stanza["name"]: stanza["label"] for stanza in ccas}
    true = _by(summary, LASTING, labels)
    first, *others = true.items()
    left = f"{first[0]} left slow start at the right moment {first[1]}"
    listed = ", ".join((left, *(f"{name} {share}" for name, share in others)))
    brief = _otherwise(_by(summary, TRUTH, labels), true)
    depends = (f"With one round trip of standing queue as capacity: {brief}.",) if brief != SAME else ()
    return (
        f"By the bottleneck's own queue, once it stands for good, {listed}.",
        *depends,
        f"Judged as in the papers, by {label(heuristic)}: {_otherwise(_by(summary, heuristic, labels), true)}.",
    )


def _by(summary: pl.DataFrame, heuristic: str, labels: Mapping[str, str]) -> dict[str, str]:
    """Return each sender's share, the best sender first."""
    of = summary.filter(heuristic=heuristic)
    rows = of.sort("chokepoint_pct", descending=True, nulls_last=True, maintain_order=True)
    return {labels[row["cca"]]: _share(row) for row in rows.iter_rows(named=True)}


def _otherwise(shares: Mapping[str, str], known: Mapping[str, str]) -> str:
    """Return which senders have another share than is known, or that none has."""
    differ = [f"{name} {share}" for name, share in shares.items() if share != known[name]]
    return f"{SAME}, but {', '.join(differ)}" if 0 < len(differ) < len(shares) else ", ".join(differ) or SAME


def _share(row: Mapping[str, Any]) -> str:
    if not row["judged"]:
        return "in no trial that can be judged"
    counts = {name: round(row[f"{name}_pct"] * row["judged"] / 100) for name in ("chokepoint", "early", "late")}
    missed = ", ".join(f"{counts[name]} {name}" for name in ("early", "late") if counts[name])
    rest = f"{row['distinct'] - row['judged']} more not judged" if row["judged"] < row["distinct"] else ""
    notes = [missed, rest, copied_text(row["valid"]) if row["distinct"] < row["valid"] else ""]
    noted = "; ".join(filter(None, notes))
    return f"in {counts['chokepoint']} of {row['judged']} trials" + (f" ({noted})" if noted else "")
