# SPDX-License-Identifier: GPL-2.0-or-later
"""What a reviewer needs of each claim: the command, what it costs, and the verdict that the stored runs gave."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from lab.schema.scenario import load_scenario
from lab.tables.stored_run import Run
from lab_papers.evaluation.claims.numbered import Claim, numbered
from lab_papers.evaluation.claims.verdict import COUNTED, UNJUDGED
from lab_papers.fullest import LATEST

HUMAN_MIN = 2  # to type a command and to read what it prints; an allowance, not measured
NOT_RUN = "not run"


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
    every = numbered()
    return [
        Line(
            claim,
            f"make reproduce CLAIM={claim.name}",
            _tolerance(claim),
            _verdict(claims.filter(scenario=claim.scenario, document=claim.document, place=claim.place)),
            cost(results, claim.scenarios),
            cost(results, [name for one in every if one.scenario == claim.scenario for name in one.scenarios]),
        )
        for claim in every
    ]


def cost(results: Path, scenarios: Iterable[str]) -> Cost:
    """Return the wall time and size of the latest runs of some scenarios, and the machines that ran them."""
    runs = [results / name / LATEST for name in dict.fromkeys(scenarios)]
    if not all((run / "run.json").is_file() for run in runs):
        return Cost(None, None, ())
    metas = [Run(run.resolve()).meta for run in runs]
    seconds = [meta.get("wall_s") for meta in metas]
    whole = all(meta["complete"] for meta in metas)
    known = [each for each in seconds if each is not None]
    minutes = sum(known) / 60 if whole and len(known) == len(seconds) else None
    size = sum(file.stat().st_size for run in runs for file in run.resolve().rglob("*") if file.is_file())
    machines = (f"{meta['host']['processor']}, {meta['host']['cores']} cores" for meta in metas)
    return Cost(minutes, size / 1e6, tuple(dict.fromkeys(machines)))


def _tolerance(claim: Claim) -> str:
    tolerance = load_scenario(claim.scenario)[1].tolerance
    metrics = {metric for row in claim.rows for metric in row.values}
    shares = any(metric.endswith("_pct") for metric in metrics)
    others = any(not metric.endswith("_pct") for metric in metrics)
    parts = [f"{tolerance.share_points:g} points"] * shares + [f"{tolerance.relative_pct:g} %"] * others
    return ", ".join(parts)


def _verdict(rows: pl.DataFrame) -> str:
    counts = dict(rows["verdict"].value_counts().iter_rows())
    if not counts or (set(counts) == {UNJUDGED} and rows["ours"].null_count() == rows.height):
        return NOT_RUN
    return ", ".join(f"{counts[name]} {words}" for name, words in COUNTED.items() if name in counts)
