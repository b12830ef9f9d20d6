# SPDX-License-Identifier: GPL-2.0-or-later
"""What a reviewer needs of each claim: the command, what it costs, and the verdict that the stored runs gave."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import polars as pl

from lab.schema.scenario import load_scenario
from lab.tables.records import ClaimRecord, ToleranceRecord
from lab.tables.stored_run import Run
from lab_papers.evaluation.claims.estimate import IN_POINTS
from lab_papers.evaluation.claims.numbered import Claim, numbered
from lab_papers.evaluation.claims.rows import published_in
from lab_papers.evaluation.claims.verdict import COUNTED, tolerance_of
from lab_papers.fullest import fullest_runs

HUMAN_MIN = 2  # to type a command and to read what it prints; an allowance, not measured
NOT_RUN = "not run"
INTERVAL = "our 95 % interval"  # of a bound, and of a small share


@dataclass(frozen=True)
class Cost:
    """What runs took: null where one of them is not stored, or does not state it."""

    compute_min: float | None
    megabytes: float | None
    machines: tuple[str, ...]  # processor and cores


@dataclass(frozen=True)
class Line:
    """One claim."""

    claim: Claim
    command: str
    tolerance: str
    verdict: str
    cost: Cost
    of_experiment: Cost  # of all claims of its scenario together


def lines(results: Path, claims: pl.DataFrame) -> list[Line]:
    """Return all claims with their costs and verdicts; `claims` is the table of `lab evaluate`."""
    every, runs = numbered(), runs_of(results)
    return [
        Line(
            claim,
            f"make reproduce CLAIM={claim.name}",
            _tolerance(claim),
            _verdict(claims.filter(scenario=claim.scenario, document=claim.document, place=claim.place))
            if claim.scenario in runs
            else NOT_RUN,
            cost(runs, claim.scenarios),
            cost(runs, [name for one in every if one.scenario == claim.scenario for name in one.scenarios]),
        )
        for claim in every
    ]


def runs_of(results: Path) -> dict[str, Run]:
    """Return the run that stands for each scenario, by its name."""
    return {latest.parent.name: run for latest, run in fullest_runs(results)[0].items()}


def cost(runs: Mapping[str, Run], scenarios: Iterable[str]) -> Cost:
    """Return wall time and size of the runs of some scenarios, and the machines that ran them."""
    names = dict.fromkeys(scenarios)
    if not all(name in runs for name in names):
        return Cost(None, None, ())
    metas = [runs[name].meta for name in names]
    whole = all(meta["complete"] and "wall_s" in meta for meta in metas)
    minutes = sum(meta["wall_s"] for meta in metas) / 60 if whole else None
    size = sum(file.stat().st_size for name in names for file in runs[name].path.rglob("*") if file.is_file())
    machines = (f"{meta['host']['processor']}, {meta['host']['cores']} cores" for meta in metas)
    return Cost(minutes, size / 1e6, tuple(dict.fromkeys(machines)))


def _tolerance(claim: Claim) -> str:
    stated = cast("ToleranceRecord", load_scenario(claim.scenario)[1].tolerance.model_dump())
    words = (f"{stated['share_points']:g} points", f"{stated['relative_pct']:g} %", INTERVAL)
    kinds = {
        (words[metric not in IN_POINTS] if tolerance_of(stated, metric, value, row.bound) else INTERVAL)
        for row in claim.rows
        for metric, (value, _) in published_in(cast("ClaimRecord", row.model_dump()))
    }
    return ", ".join(each for each in words if each in kinds)


def _verdict(rows: pl.DataFrame) -> str:
    counts = dict(rows["verdict"].value_counts().iter_rows())
    return ", ".join(f"{counts[name]} {words}" for name, words in COUNTED.items() if name in counts)
