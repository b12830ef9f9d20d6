# SPDX-License-Identifier: GPL-2.0-or-later
"""Several trials in one boot of the virtual kernel, which takes a quarter off the time of most.

Each trial is the same, bit for bit, as in a boot of its own (tests/kernel/test_one_boot.py). One without a result is
run again in a boot of its own, so that nothing before it is the reason. What a user brings always has a boot of its
own: modules, programs, kernels with code of others, topologies whose lines do more than to add addresses and routes.
"""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from lab.backends.records import TrialError
from lab.backends.virtual import Virtual
from lab.node.beginning import MOST_PLANS, most_plans
from lab.node.net.netns import changes_only_its_node
from lab.node.plan import Plan
from lab.runs.plan import modules_of
from lab.runs.trial import Job, finish, new_draft, prepare
from lab.schema.cca import Cca
from lab.senders.ways import way_of
from lab.tables.trial_json import TrialJson

MOST_VIRTUAL_S = 180  # of all downloads in a boot: what an interrupted command loses
BOOTS_PER_WORKER = 4  # at least: at the end, a worker waits for the last boots of the others


def divided(jobs: list[Job], workers: int) -> list[list[Job]]:
    """Divide jobs into boots, in the order of their first ones, so that all workers end at about the same time."""
    return boots(jobs, _each(len(jobs), workers))


def at_once(trials: int, workers: int, most: int) -> int:
    """Return of how many trials raw records may lie on the disk at a time; most: so many may share a boot."""
    return min(trials, workers * min(_each(trials, workers), most))


def _each(trials: int, workers: int) -> int:
    return max(1, min(MOST_PLANS, trials // (BOOTS_PER_WORKER * workers)))


def boots(jobs: list[Job], most: int) -> list[list[Job]]:
    """Divide jobs into boots of so many trials at most: of one sender of a run, or of a group.

    In a boot all modules keep the parameters that its first trial gives them: trials with other ones have another boot.
    """
    found: list[list[Job]] = []
    open_boots: dict[object, list[Job]] = {}
    for job in jobs:
        room = min(most, most_trials(job))
        cell = (job.experiment.group or (job.folder.parent, job.cca), room, _parameters(job))
        boot = open_boots.get(cell, [])
        if not boot or len(boot) >= room:
            boot = open_boots[cell] = []
            found.append(boot)
        boot.append(job)
    return found


def run(jobs: list[Job]) -> Iterator[TrialJson | None]:
    """Run trials in one boot and store them; yields each trial.json, None where there is no result."""
    backend = jobs[0].backend
    assert isinstance(backend, Virtual)
    with ExitStack() as stack:
        drafts = [stack.enter_context(new_draft(job.folder)) for job in jobs]
        folder = stack.enter_context(new_draft(jobs[0].folder.with_name("boot")))
        plans: dict[Path, Plan] = {draft: prepare(job, draft) for job, draft in zip(jobs, drafts, strict=True)}
        with suppress(TrialError):  # each trial alone has its own reason
            backend.run_plans(plans, folder)
        for job, (draft, plan) in zip(jobs, plans.items(), strict=True):
            yield _stored(job, plan, draft)


def _stored(job: Job, plan: Plan, draft: Path) -> TrialJson | None:
    if not (draft / "node.json").is_file():
        return None
    with suppress(TrialError):
        return finish(job, plan, draft)
    return None


def _parameters(job: Job) -> frozenset[object]:
    return frozenset((each["name"], *each["params"].items()) for each in modules_of(_senders(job)) if each["params"])


def _senders(job: Job) -> list[Cca]:
    return [job.experiment.ccas[job.cca], *job.experiment.rivals.values()]


def most_trials(job: Job) -> int:
    """Return how many trials of a job's sender and link may share a boot."""
    experiment = job.experiment
    shared = all(way_of(sender).shares_boot(sender) for sender in _senders(job))
    lines = [line for node in experiment.topology.topology.nodes.values() for line in node.exec]
    if not (shared and isinstance(job.backend, Virtual) and all(map(changes_only_its_node, lines))):
        return 1
    clock_s = min(way.queue.clock_s for way in (experiment.profile.down, experiment.profile.up))
    return max(1, min(MOST_VIRTUAL_S // experiment.scenario.duration_s, most_plans(clock_s)))
