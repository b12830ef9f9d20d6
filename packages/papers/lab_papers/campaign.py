# SPDX-License-Identifier: GPL-2.0-or-later
"""The campaign: every scenario whose file has `campaign: true`. `lab reproduce` runs it."""

from math import ceil

from lab.base.errors import UserError
from lab.runs.experiment import Experiment, load_experiment
from lab.schema.scenario import load_scenario, scenarios
from lab_papers.evaluation.claims.verdict import FEWEST_TRIALS

QUICK_SHARE = 10  # `--quick` runs one of so many trials, but as many as a claim needs to be judged


def campaign() -> list[str]:
    """Name the scenarios of the campaign; counterfactuals come last, because they explain the others' results."""
    return [name for name in scenarios() if _in_campaign(name)]


def stages() -> list[list[str]]:
    """Name the scenarios of the campaign in two parts: the papers' experiments, and their counterfactuals."""
    every = campaign()
    own = [name for name in every if not _is_counterfactual(name)]
    return [own, [name for name in every if name not in own]]


def _in_campaign(name: str) -> bool:
    try:
        return load_scenario(name)[1].campaign
    except UserError:  # load_campaign reports it
        return True


def _is_counterfactual(name: str) -> bool:
    try:
        return load_scenario(name)[1].counterfactual_of is not None
    except UserError:
        return False


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
