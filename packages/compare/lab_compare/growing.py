# SPDX-License-Identifier: GPL-2.0-or-later
"""The runs of a comparison grow, look after look: only on links where a subject has not separated from every other.

Each look lets the runs grow: after it every run is a whole ordinary run. A trial without a result costs itself only. A
pair is given up where more trials would not help it: without a common value, as of a sender that never leaves slow
start, or where it cannot separate any more whatever the remaining trials give (lab.evaluation.sequential).
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from lab.backends.backend import Site
from lab.evaluation.sequential import Looks, looks, one_look
from lab.runs import run_folder
from lab.runs.execute import Observer, OpenRun, execute
from lab.runs.experiment import Experiment
from lab.runs.find_run import grown_since
from lab.runs.options import RunOptions
from lab.runs.pool import Result
from lab.runs.reuse import reuse
from lab.runs.trial import Job
from lab_compare.comparison import Comparison, primary_of
from lab_compare.link_kinds import Link
from lab_compare.ranks import Pair, not_separated
from lab_compare.results import stored_of, tested_pairs


class BudgetUsed(Exception):
    """The minutes are used up; what is stored is whole."""


@dataclass
class Budgeted:
    """An observer that ends the comparison when its time is up."""

    observer: Observer
    until_s: float  # by time.monotonic()

    def begin(self, jobs: list[Job]) -> None:
        """Pass it on."""
        self.observer.begin(jobs)

    def trial_ended(self, job: Job, result: Result) -> None:
        """Pass it on, unless the time is up."""
        self.observer.trial_ended(job, result)
        if time.monotonic() > self.until_s:
            raise BudgetUsed

    def run_ended(self, run: OpenRun) -> None:
        """Pass it on."""
        self.observer.run_ended(run)


@dataclass
class State:
    """What is known after a look: pairs that have not separated, by link, and what failed."""

    trials: int = 0
    undecided: dict[str, list[Pair]] = field(default_factory=dict)  # and may separate yet
    tied: dict[str, list[Pair]] = field(default_factory=dict)  # and cannot separate within the most trials
    failures: dict[str, str] = field(default_factory=dict)  # by link, sender and trial
    reused: int = 0  # trials of earlier comparisons
    budget_used: bool = False

    @property
    def decided(self) -> bool:
        return not self.budget_used and not any(self.undecided.values())


def looks_of(comparison: Comparison) -> Looks:
    """Return after how many trials the comparison looks: the same for each link; of a fixed number once, at the end."""
    if comparison.fixed:
        return one_look(comparison.trials)
    count = len(comparison.senders)
    return looks(comparison.trials, count * (count - 1) // 2)


def grow(
    comparison: Comparison,
    measure: str,
    began: str,
    site: Site,
    options: RunOptions,
    bars: Callable[[], AbstractContextManager[Observer]],
    budget_s: float | None,
) -> Iterator[State]:
    """Run the trials, and yield what is known after each look; an earlier run goes on where it was.

    bars: an observer for the trials of each look.
    """
    plan = looks_of(comparison)
    state = State(undecided={link.name: [] for link in comparison.links})
    until_s = None if budget_s is None else time.monotonic() + budget_s
    going_on = list(comparison.links)
    for link in going_on:  # refused before anything runs
        grown_since(began)(comparison.experiment(link, 1), site)
    for trials in plan.trials:
        with bars() as bar:
            observer = bar if until_s is None else Budgeted(bar, until_s)
            try:
                _run(comparison, going_on, trials, began, site, options, observer, state)
            except BudgetUsed:
                state.budget_used = True
        state.trials = trials
        for link, stored in stored_of(going_on, began):
            tested = tested_pairs(comparison, stored, primary_of(link, measure), plan)
            left = not_separated(tested, comparison.subjects)
            state.undecided[link.name] = [pair for pair in left if not pair.hopeless]
            state.tied[link.name] = [pair for pair in left if pair.hopeless]
        going_on = [link for link in going_on if state.undecided[link.name]]
        yield state
        if state.budget_used or not going_on:
            return


def _run(
    comparison: Comparison,
    links: list[Link],
    trials: int,
    began: str,
    site: Site,
    options: RunOptions,
    observer: Observer,
    state: State,
) -> None:
    """Run the trials up to a number; one that failed in this comparison is not tried again."""
    experiments = [comparison.experiment(link, trials) for link in links]
    for experiment in experiments:
        state.reused += _reused(experiment, began, site, options)
    executed = execute(
        experiments,
        grown_since(began),
        site,
        options,
        observer,
        lambda job: f"{job.experiment.name} {job.folder.name}" not in state.failures,
    )
    for run in executed.runs:
        run_folder.set_attempted(run.folder, trials)
        for line in run.failures:
            name, _, reason = line.partition(": ")
            state.failures[f"{run.experiment.name} {name}"] = reason


def _reused(experiment: Experiment, began: str, site: Site, options: RunOptions) -> int:
    """Open the run of a link, and link what earlier comparisons have of it; returns the number of trials."""
    folder = grown_since(began)(experiment, site) or run_folder.create(experiment, site)
    with run_folder.locked(folder):
        return reuse(experiment, folder, site, options.keep_capture)
