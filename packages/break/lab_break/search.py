# SPDX-License-Identifier: GPL-2.0-or-later
"""The search: optuna proposes points in batches, and learns their values in the order in which it proposed them.

So a search follows from its request alone: neither the number of workers nor what is stored changes it. One that was
stopped goes on by being searched again, over stored trials.
"""

import logging
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lab.base.errors import UserError
from lab_break.measures import Trials
from lab_break.space import Bounds, Point, rounded

try:
    import cmaes as _cmaes  # noqa: F401  # optuna's CmaEsSampler needs it
    import optuna
    from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution
    from optuna.samplers import BaseSampler, CmaEsSampler, RandomSampler, TPESampler
except ModuleNotFoundError:
    raise UserError("lab break: optuna is not installed: run 'make setup'") from None

BATCH = 32  # points that are proposed together
OPTIMISERS = ("tpe", "cmaes", "random")
Evaluate = Callable[[Sequence[Point]], list[tuple[float | None, Trials]]]


@dataclass(frozen=True)
class Tried:
    """A point with its value, and the trials that gave it."""

    point: Point
    value: float | None
    trials: Trials


@dataclass
class Searched:
    """All points of a search, in their order, and how long the optimiser took of it."""

    study: optuna.Study
    tried: list[Tried] = field(default_factory=list)
    optimiser_s: float = 0.0

    @property
    def worst(self) -> Tried | None:
        """Return the first of the points with the largest value; None where none has a value."""
        valued = [each for each in self.tried if each.value is not None]
        return max(valued, key=lambda each: each.value or 0.0, default=None) if valued else None


def search(
    bounds: Bounds, optimiser: str, seed: int, points: int, evaluate: Evaluate, goes_on: Callable[[Searched], bool]
) -> Searched:
    """Search so many points, of which the usual one is the first, or until `goes_on` returns false after a batch."""
    logging.getLogger("optuna").setLevel(logging.WARNING)
    found = Searched(optuna.create_study(direction="maximize", sampler=_sampler(optimiser, seed)))
    found.study.enqueue_trial({name: bounds.usual[name] for name in distributions(bounds)})
    while len(found.tried) < points:
        began_s = time.process_time()
        asked = [found.study.ask(distributions(bounds)) for _ in range(min(BATCH, points - len(found.tried)))]
        found.optimiser_s += time.process_time() - began_s
        proposed = [rounded(bounds.usual | each.params) for each in asked]
        results = evaluate(proposed)
        began_s = time.process_time()
        for trial, point, (value, trials) in zip(asked, proposed, results, strict=True):
            found.tried.append(Tried(point, value, trials))
            failed = optuna.trial.TrialState.FAIL if value is None else None
            found.study.tell(trial, value, state=failed)
        found.optimiser_s += time.process_time() - began_s
        if not goes_on(found):
            break
    return found


def distributions(bounds: Bounds) -> dict[str, BaseDistribution]:
    """Return the searched parameters as optuna has them."""
    found: dict[str, BaseDistribution] = {
        name: FloatDistribution(each.least, each.most, log=each.scale == "log") for name, each in bounds.ranges.items()
    }
    if len(bounds.jitter) > 1:
        found["jitter"] = CategoricalDistribution(bounds.jitter)
    return found


def _sampler(optimiser: str, seed: int) -> BaseSampler:
    """Return the sampler; CMA-ES chooses among jitter models at random, since it knows numbers only."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        if optimiser == "cmaes":
            other = RandomSampler(seed=seed)
            return CmaEsSampler(seed=seed, popsize=BATCH, independent_sampler=other, warn_independent_sampling=False)
        if optimiser == "random":
            return RandomSampler(seed=seed)
        return TPESampler(seed=seed, multivariate=True, constant_liar=True, n_startup_trials=BATCH)
