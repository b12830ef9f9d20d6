# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the grader runs trials: the virtual kernel, bounded, and the folder that keeps each trial for the next time."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from lab_try.confined import virtual_tree
from lab_try.module.build import OwnModule, Where, build_own
from lab_try.module.source import OwnSource
from lab_try.senders import Passed, module_files
from lab_try.smoke import SmokeTest, faults

from lab.backends import boot, guest_code
from lab.backends.records import TrialError
from lab.backends.virtual import Virtual
from lab.base import paths
from lab.base.cache import held
from lab.base.errors import UserError
from lab.base.remove import remove
from lab.node.plan import Plan
from lab.runs.experiment import Experiment, digest, specification
from lab.runs.trial import Job, run_trial
from lab.tables.kernel_log import read_log
from lab.tables.stored_trial import FORMAT, Trial

PROCESSOR_S, PROCESSOR_PER_S = 15.0, 1.0  # of a trial's kernel, and more per second of it; an honest one takes a tenth
STEP = "a trial"
T = TypeVar("T")


_failed: dict[str, str] = {}


def _once(name: str, work: Callable[[], T]) -> T:
    """Return a result, or raise the error that the same work ended with before: each check would wait for a hang."""
    if name in _failed:
        raise UserError(_failed[name])
    try:
        return work()
    except UserError as error:
        _failed[name] = str(error)
        raise


@dataclass(frozen=True)
class Bounded(Virtual):
    """The virtual kernel with less patience: a module that hangs is a student's, and a class waits."""

    def run_plan(self, plan: Plan, folder: Path) -> None:
        """Boot a kernel that executes a plan."""
        most_s = PROCESSOR_S + PROCESSOR_PER_S * plan["flows"][0]["duration_s"]
        boot.run_plan(plan, folder, self.kernel, self.world.root, processor_s=most_s)


@dataclass(frozen=True)
class Bench:
    """A kernel, and where its trials are kept."""

    virtual: Virtual
    folder: Path

    @classmethod
    def on(cls, virtual: Virtual) -> "Bench":
        """Return the bench of this machine's results; drafts of killed commands, whose locks are free, are removed."""
        bench = cls(Bounded(virtual.kernel, virtual.world, virtual.engine), paths.results() / "course")
        for draft in (bench.folder / "trials").glob(".*.draft"):
            lock = bench.folder / f"{draft.name[1:].rpartition('.')[0].rpartition('.')[0]}.lock"
            with held(lock, wait=False) as free:
                if free:
                    remove(draft)
                    lock.unlink(missing_ok=True)
        return bench

    def build(self, source: OwnSource) -> OwnModule:
        """Build a module; UserError holds the compiler's first error."""
        return _once(
            f"build {source.path} {source.digest}", lambda: build_own(source, virtual_tree(self.virtual.kernel))
        )

    def smoke(self, module: OwnModule) -> Passed:
        """Let a module pass the smoke test; UserError names the hook and the line where it fails."""
        test = SmokeTest(module, {}, self.virtual.kernel, self.virtual.world.root)
        return Passed(module, {}, _once(f"smoke {module.source.path} {module.folder}", test.run))

    def run(self, experiment: Experiment, module: OwnModule | None = None) -> Trial:
        """Return the first trial of an experiment's only sender, stored or run now; UserError where it has none."""
        (cca,) = experiment.ccas
        name = f"{cca}-{self._key(experiment)}"
        folder = self.folder / "trials" / name
        folder.parent.mkdir(parents=True, exist_ok=True)
        with held(self.folder / f"{name}.lock", wait=True):
            if not Trial(folder).is_whole:
                self._run(Job(experiment, cca, 1, folder, self._with(module), keep_capture=False), module)
        (self.folder / f"{name}.lock").unlink(missing_ok=True)
        return Trial(folder)

    def _with(self, module: OwnModule | None) -> Virtual:
        return replace(self.virtual, own_modules=module_files([module] if module else []))

    def _run(self, job: Job, module: OwnModule | None) -> None:
        try:
            run_trial(job)
        except TrialError as error:
            raise UserError(self._explained(job.folder.name, str(error), module)) from None

    def _explained(self, trial: str, error: str, module: OwnModule | None) -> str:
        """Return the first thing that the kernel's log shows of a failed trial, with the line of the source."""
        try:
            log = read_log(self.folder, trial)
        except UserError:  # the kernel printed nothing
            log = ""
        if module is None:
            return error
        found = next(faults(log, error, STEP, None, Where(module)), None)
        return f"{found.place or module.source.path}: {found.message}" if found else error

    def _key(self, experiment: Experiment) -> str:
        """Digest all that decides a trial: sender, link, seed, kernel, modules, the world and the code in the guest."""
        described = self.virtual.site.description
        parts = [
            FORMAT,
            specification(experiment)["digests"],
            [digest(cca.model_dump()) for cca in experiment.ccas.values()],
            described.kernel["kernel_digest"],
            described.kernel["modules_digest"],
            described.packages_digest,
            guest_code.ensure(self.virtual.world.root).parent.name,
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
