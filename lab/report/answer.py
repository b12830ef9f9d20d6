# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's answer, before any picture is drawn: sentences, one row per sender, all tables, and what is left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from lab.base.choice import suggested
from lab.base.format import trials_text
from lab.judge.copies import copied_text
from lab.judge.provenance import provenance
from lab.judge.registry import LASTING, TRUTH, label, rule_of
from lab.judge.stored import Stored
from lab.judge.summary import summarise
from lab.report import shares, short_flows, trust
from lab.report.brief import Brief, brief_of
from lab.report.table import Table, tables
from lab.report.trust import InvalidTrial
from lab.tables.stored_run import Run

SAME = "the same"


@dataclass(frozen=True)
class Answer:
    """What a run shows without a picture."""

    stored: Stored
    summary: pl.DataFrame
    headline: tuple[str, ...]  # the first sentence alone is an answer
    tables: tuple[Table, ...]
    link: tuple[str, ...]  # what of it was recorded, published and assumed
    brief: Brief | Table  # a row per sender; of a workload its table of costs
    invalid: tuple[InvalidTrial, ...]
    missing: tuple[str, ...]  # a sentence where a trial is not stored; the last of the headline, too

    @property
    def run(self) -> Run:
        return self.stored.run


def answer_of(run_dir: Path) -> Answer:
    """Judge every trial and aggregate; UserError names the first damaged trial."""
    stored = Stored.of(Run(run_dir)).require_whole()
    run, scenario = stored.run, stored.run.scenario
    rule = rule_of(scenario)
    summary = summarise(stored.judged.outcomes, [stanza["name"] for stanza in run.ccas])
    sentences, costs = short_flows.of_run(stored)
    shared, of_shares = shares.of_run(stored)
    absent = run.missing
    missing = (f"Not stored, so not counted: {suggested('', absent)}.",) if absent else ()
    shown = tables(summary, run.ccas, scenario.get("published", []))
    return Answer(
        stored,
        summary,
        (*(sentences or headline(summary, run.ccas, rule)), *shared, *missing),
        (*costs, *of_shares, *shown),
        provenance(run.meta["profile"]),
        costs[0] if costs else brief_of(summary, run.ccas, rule),
        tuple(trust.invalid(run.trials)),
        missing,
    )


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
    return f"in {counts['chokepoint']} of {trials_text(row['judged'])}" + (f" ({noted})" if noted else "")
