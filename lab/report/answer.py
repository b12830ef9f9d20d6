# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's answer, before any picture is drawn: sentences, one row per sender, all tables, and what is left out."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from lab.base.choice import suggested
from lab.base.errors import UserError
from lab.judge.provenance import provenance
from lab.judge.registry import rule_of
from lab.judge.stored import Stored
from lab.judge.summary import summarise
from lab.report import shares, short_flows, trust
from lab.report.brief import Brief, brief_of
from lab.report.headline import headline
from lab.report.table import Table, tables
from lab.report.trust import InvalidTrial
from lab.tables.stored_run import Run


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
        """Return the run that is answered for."""
        return self.stored.run


def answer_of(run_dir: Path) -> Answer:
    """Judge every trial and aggregate; UserError names the first damaged trial."""
    stored = Stored.of(Run(run_dir))
    if faults := list(dict.fromkeys(stored.judged.faults)):  # one of a rule is of every trial
        more = f"; trials damaged besides it: {len(faults) - 1}" if len(faults) > 1 else ""
        raise UserError(f"{faults[0]}{more}")
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
