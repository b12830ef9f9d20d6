# SPDX-License-Identifier: GPL-2.0-or-later
"""What a command needs before a trial: the virtual kernel, and senders whose code is built when they are first used."""

from collections.abc import Iterable

from rich.console import Console

from lab.backends.virtual import Virtual, ensure_built, find_built
from lab.base import sandbox, sandbox_mode
from lab.base.errors import COMMAND_LINE, field_error
from lab.commands.progress import TrialBar, build_bar
from lab.kernel.recipe import Recipe
from lab.runs import find_run
from lab.runs.execute import OpenRun, execute
from lab.runs.experiment import Experiment
from lab.runs.options import RunOptions
from lab.schema.cca import Cca
from lab.senders import ways
from lab.senders.way import Senders

BUILDING = (
    "building kernel and world needs user namespaces or root, or a bundle of another machine (lab bundle use FILE)"
)


def prepare(recipe: Recipe, console: Console) -> Virtual:
    """Return the virtual backend; build what the cache does not have."""
    sandbox_mode.mode()
    return find_built(recipe) or build(recipe, console)


def build(recipe: Recipe, console: Console) -> Virtual:
    """Build the kernel and its images, and print each package whose version is not the pinned one."""
    sandbox.require(BUILDING)
    with build_bar(console) as progress:
        backend = ensure_built(recipe, progress)
    for package, drift in backend.world.drifted.items():
        console.print(f"world: {package}: {drift}: the archive no longer has the pinned version", markup=False)
    return backend


def built(senders: Senders, virtual: Virtual, console: Console) -> tuple[dict[str, Cca], Virtual]:
    """Return the senders and the virtual kernel with what they need; print what is built."""
    return ways.prepared(senders, virtual, lambda what: console.print(f"{what}, once", markup=False))


def prepared(experiment: Experiment, virtual: Virtual, console: Console) -> tuple[Experiment, Virtual]:
    """Return an experiment and the virtual kernel with what its senders need."""
    senders, with_all = built(experiment.senders, virtual, console)
    return experiment.with_senders(senders), with_all


def all_prepared(
    experiments: Iterable[Experiment], virtual: Virtual, console: Console
) -> tuple[list[Experiment], Virtual]:
    """Return experiments and the virtual kernel with what all their senders need."""
    found: list[Experiment] = []
    for each in experiments:
        experiment, virtual = prepared(each, virtual, console)
        found.append(experiment)
    return found, virtual


def run_all(
    experiments: Iterable[Experiment], virtual: Virtual, options: RunOptions, console: Console, many_runs: bool = True
) -> list[OpenRun]:
    """Prepare experiments, and run what no run of the same code has of them; returns their runs, in their order."""
    ready, virtual = all_prepared(experiments, virtual, console)
    with TrialBar(console, many_runs) as bar:
        return execute(ready, find_run.of_same_code, virtual.site, options, bar).runs


def refuse(senders: Senders, backend: str) -> None:
    """Raise UserError where one of these senders cannot run on a backend."""
    for way, own in ways.by_way(senders):
        if rule := way.refuse(list(own), backend):
            raise field_error(COMMAND_LINE, "backend", backend, rule)
