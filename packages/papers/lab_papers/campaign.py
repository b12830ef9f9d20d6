# SPDX-License-Identifier: GPL-2.0-or-later
"""The campaign: every scenario whose file has `campaign: true`; what `lab reproduce` runs, and how much is stored."""

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path

from lab.base.errors import UserError
from lab.judge.stored import Stored
from lab.runs.experiment import Experiment, load_experiment
from lab.schema.scenario import is_counterfactual, load_scenario, scenarios
from lab_papers.evaluation.claims.verdict import FEWEST_TRIALS
from lab_papers.evaluation.kept import FOLDER

QUICK_SHARE = 10  # `--quick` runs one of so many trials, but as many as a claim needs to be judged


def campaign() -> list[str]:
    """Name the scenarios of the campaign; counterfactuals come last, because they explain the others' results."""
    return [name for name in scenarios() if _in_campaign(name)]


def stages() -> list[list[str]]:
    """Name the scenarios of the campaign in two parts: the papers' experiments, and their counterfactuals."""
    every = campaign()
    own = [name for name in every if not is_counterfactual(name)]
    return [own, [name for name in every if name not in own]]


def _in_campaign(name: str) -> bool:
    try:
        return load_scenario(name)[1].campaign
    except UserError:  # load_campaign reports it
        return True


def quick_trials(trials: int) -> int:
    """Return the number of trials with `--quick`: a tenth, and enough for a claim; all of a scenario with fewer."""
    return min(trials, max(ceil(trials / QUICK_SHARE), FEWEST_TRIALS))


def load_campaign(names: list[str], quick: bool) -> tuple[list[Experiment], list[UserError]]:
    """Load scenarios; also return one error per scenario that cannot run."""
    experiments, errors = [], []
    for name in names:
        try:
            trials = quick_trials(load_scenario(name)[1].trials) if quick else None
            experiments.append(load_experiment(name, {"trials": trials}))
        except UserError as error:  # for example a recording that is not fetched
            errors.append(error)
    return experiments, errors


def progress(runs: Sequence[Stored], requested: Mapping[str, int]) -> str:
    """Return how many of the trials that the papers' scenarios request are stored; requested: trials by scenario."""
    wanted = sum(requested.values())
    by_name = {each.name: each for each in runs}
    stored = {
        name: min(each.judged.trials.height, requested[name]) for name, each in by_name.items() if name in requested
    }
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
