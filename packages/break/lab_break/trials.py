# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials of senders on points of the space: several in one boot, and only those whose numbers are not stored."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from polars.exceptions import PolarsError

from lab.backends.records import TrialError
from lab.backends.virtual import Virtual
from lab.base.errors import UserError
from lab.base.workers import results_or_lines
from lab.judge.source import judging_digest
from lab.runs import one_boot
from lab.runs.experiment import Experiment, digest, specification, trial_part
from lab.runs.trial import Job, run_trial
from lab.tables.stored_trial import Trial
from lab.tables.trial_json import TrialJson
from lab_break.measures import Trials
from lab_break.numbers import Numbers, Store, crashed, numbers_of
from lab_break.space import Point, profile_of

WORKERS = 2  # that a batch is divided for: which trials share a boot does not follow from the machine
NO_TRIAL = ("question", "ccas", "trials", "profile", "claims", "published", "heuristic", "tolerance")
KERNEL = ("kernel_digest", "modules_digest", "world")
LOOKS = ("label", "colour", "marker", "linestyle", "exit_label")


@dataclass
class Bench:
    """Where trials run, and what all of them share."""

    base: Experiment  # of the senders on the usual link
    virtual: Virtual
    at_once: int
    store: Store
    work: Path
    ran: int = 0  # trials that were not stored
    shared: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Digest what all trials share, once."""
        requested = specification(self.base)
        scenario = {key: value for key, value in trial_part(requested["scenario"]).items() if key not in NO_TRIAL}
        kernel = {name: self.virtual.site.description.kernel[name] for name in ("kernel_digest", "modules_digest")}
        self.shared = {
            "scenario": scenario,
            **{part: requested["digests"].get(part) for part in ("topology", "sysctls")},
            "rival": next((_stanza(cca.model_dump()) for cca in self.base.rivals.values()), None),
            **kernel,
            "world": self.virtual.site.description.packages_digest,
            "judge": judging_digest(),
            "numbers": [*Numbers.__annotations__],  # those of another form are run again
        }
        self._senders = {name: _stanza(cca.model_dump()) for name, cca in self.base.ccas.items()}

    def run(self, points: Sequence[Point], senders: Iterable[str]) -> list[Trials]:
        """Return the numbers of each sender on each point, in the order of the points."""
        names = list(senders)
        experiments = [self.experiment(point) for point in points]
        keys = [{name: self.digest(each, name) for name in names} for each in experiments]
        found: dict[str, Numbers] = {}
        jobs: dict[str, Job] = {}
        for experiment, of_point in zip(experiments, keys, strict=True):
            for name, key in of_point.items():
                stored = self.store.read(key)
                if stored is not None:
                    found[key] = stored
                else:
                    jobs.setdefault(key, Job(experiment, name, 1, self.work / "trials" / key, self.virtual, False))
        found |= self._run(jobs)
        return [{name: found[key] for name, key in of_point.items()} for of_point in keys]

    @property
    def kernel(self) -> dict[str, str]:
        """Return the digests of kernel, modules and world."""
        return {name: self.shared[name] for name in KERNEL}

    def experiment(self, point: Point) -> Experiment:
        """Return the senders on a point."""
        return replace(self.base, profile=profile_of(point, self.base.profile.file))

    def digest(self, experiment: Experiment, sender: str) -> str:
        """Return the digest of all that decides a trial's numbers."""
        link = {key: value for key, value in experiment.profile.model_dump().items() if key in ("down", "up", "noise")}
        return digest({**self.shared, "link": _without_sources(link), "sender": self._senders[sender]})

    def _run(self, jobs: Mapping[str, Job]) -> dict[str, Numbers]:
        """Run trials, and store their numbers as each boot ends."""
        found: dict[str, Numbers] = {}
        boots = one_boot.divided(list(jobs.values()), WORKERS)
        for boot, results in results_or_lines(measured, boots, self.at_once):
            if isinstance(results, str):
                raise UserError(results)
            for job, numbers in zip(boot, results, strict=True):
                self.store.write(job.folder.name, numbers)
                found[job.folder.name] = numbers
                self.ran += 1
        return found


def measured(boot: list[Job]) -> list[Numbers]:
    """Run trials in one boot, and alone those that give no result in it; keep their numbers only."""
    found: list[TrialJson | None] = []
    if len(boot) > 1:
        with suppress(UserError, OSError, PolarsError):  # a trial alone states its own reason
            found.extend(one_boot.run(boot))
    return [_numbers(job, result) for job, result in zip_longest(boot, found)]


def _numbers(job: Job, result: TrialJson | None) -> Numbers:
    try:
        if result is None:
            run_trial(job)
        return numbers_of(Trial(job.folder))
    except TrialError as error:
        return crashed(str(error))
    finally:
        shutil.rmtree(job.folder, ignore_errors=True)


def _stanza(stanza: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a sender decides its packets."""
    return {name: value for name, value in stanza.items() if value is not None and name not in LOOKS}


def _without_sources(part: Any) -> Any:
    """Return plain data without the sentences on where it is from."""
    if not isinstance(part, dict):
        return [_without_sources(each) for each in part] if isinstance(part, list) else part
    return {name: _without_sources(value) for name, value in part.items() if name != "source"}
