# SPDX-License-Identifier: GPL-2.0-or-later
"""How much of the campaign is stored, and what on the page is older than a run."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.judge.stored import Stored
from lab.schema.scenario import load_scenario
from lab_papers.campaign import campaign
from lab_papers.evaluation.kept import FOLDER


def progress(runs: Sequence[Stored], requested: Mapping[str, int]) -> str:
    """Return how many of the trials that the papers' scenarios request are stored; requested: trials by scenario."""
    wanted = sum(requested.values())
    by_name = {each.name: each for each in runs}
    stored = {name: min(_stored(by_name[name]), requested[name]) for name in requested if name in by_name}
    if not stored:
        return f"0 of {wanted:,} trials of the papers' scenarios are stored"
    if (done := sum(stored.values())) == wanted:
        return f"All {wanted:,} trials of the papers' {len(requested)} scenarios are stored"
    quick = any("--quick" in by_name[name].run.meta["command"] for name in stored)
    kind, begun = "QUICK" if quick else "Partial", f"{len(stored)} of {len(requested)} scenarios"
    return f"{kind}: {done:,} of {wanted:,} trials of the papers' scenarios are stored, of {begun}"


def requested_trials() -> dict[str, int]:
    """Return the trials that each scenario of the campaign requests."""
    scenarios = {name: load_scenario(name)[1] for name in campaign()}
    return {name: scenario.trials * len(scenario.ccas) for name, scenario in scenarios.items()}


def outdated(results: Path, runs: Sequence[Stored]) -> list[str]:
    """Return a line that names the runs which ended after the claims were judged; none where there is none."""
    judged = results / FOLDER / "claims.parquet"
    if not judged.exists():
        return []
    late = [each.name for each in runs if (each.run.path / "run.json").stat().st_mtime > judged.stat().st_mtime]
    names = ", ".join(late)
    return [f"newer than the claims below: {names}; `lab evaluate` judges them again"] if late else []


def _stored(run: Stored) -> int:
    return run.judged.trials.height
