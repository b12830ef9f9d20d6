# SPDX-License-Identifier: GPL-2.0-or-later
"""Which stored run an experiment continues: none, the last unfinished one, or one of the same specification."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.backends.backend import Site
from lab.base import paths
from lab.base.errors import UserError, field_error
from lab.runs import run_folder
from lab.runs.experiment import Experiment, first_names, specification
from lab.tables.stored_run import Run

FindRun = Callable[[Experiment, Site], Path | None]


def none(_experiment: Experiment, _site: Site) -> None:
    """Continue no stored run: `lab run`."""


def unfinished(experiment: Experiment, site: Site) -> Path:
    """Return the last unfinished run: `lab run --resume`; UserError if there is none, or if it differs."""
    folder = paths.results() / experiment.name
    left = [run for run in _stored(folder) if not run.complete or run.missing]
    if not left:
        raise UserError(f"{folder}: no unfinished run to resume: run without --resume")
    run = left[-1]
    _require_same_specification(run, experiment)
    _require_same_kernel(run, site)
    _require_same_backend(run, site)
    return run.path


def matching(experiment: Experiment, site: Site) -> Path | None:
    """Return the run of the same specification and kernel that has most results: `lab reproduce`.

    A complete run comes before an unfinished one with any number of trials; of equal runs the newest.
    """
    return _best(run for run in _stored(paths.results() / experiment.name) if _matches(run, experiment, site))


def of_same_code(experiment: Experiment, site: Site) -> Path | None:
    """Return the matching run of the same modules and of this version of the lab, which decides certificates, too."""
    stored = _stored(paths.results() / experiment.name)
    return _best(run for run in stored if _matches(run, experiment, site) and _has_code(run, site))


def _best(runs: Iterable[Run]) -> Path | None:
    def rank(run: Run) -> tuple[bool, int, str]:
        return run.complete, len([*run.path.glob("trials/[!.]*/trial.json")]), run.path.name

    best = max(runs, key=rank, default=None)
    return best.path if best else None


def _has_code(run: Run, site: Site) -> bool:
    now = (site.description.kernel["modules_digest"], run_folder.lab_version())
    return (run.meta["kernel"].get("modules_digest"), run.meta["lab_version"]) == now


def grown_since(began: str) -> FindRun:
    """Return what finds the run of a comparison that began then, and lets it have as many trials as are requested now.

    The run has the same specification but for the number of trials; where every run since then has another one, the
    newest is refused with what differs.
    """

    def find(experiment: Experiment, site: Site) -> Path | None:
        runs = [run for run in _stored(paths.results() / experiment.name) if run.path.name >= began]
        same = [run for run in runs if _matches(run, with_trials(experiment, run.scenario["trials"]), site)]
        if not same:
            for run in runs[-1:]:
                _require_same_specification(run, with_trials(experiment, run.scenario["trials"]))
                _require_same_kernel(run, site)
            return None
        run = same[-1]
        _require_same_modules(run, site)
        _require_same_backend(run, site)
        if run.scenario["trials"] < experiment.scenario.trials:
            with run_folder.locked(run.path):
                run_folder.grow(run.path, experiment)
        return run.path

    return find


def with_trials(experiment: Experiment, trials: int) -> Experiment:
    """Return an experiment with another number of trials."""
    return replace(experiment, scenario=experiment.scenario.model_copy(update={"trials": trials}))


def _stored(folder: Path) -> Iterator[Run]:
    """Yield the runs of a scenario, the oldest first."""
    for file in sorted(folder.glob("[0-9]*/run.json")):
        yield Run(file.parent)


def _matches(run: Run, experiment: Experiment, site: Site) -> bool:
    same = run.meta["digests"] == specification(experiment)["digests"]
    return bool(same and run.meta["kernel"]["kernel_digest"] == site.description.kernel["kernel_digest"])


def _require_same_specification(run: Run, experiment: Experiment) -> None:
    wanted = specification(experiment)
    before, now = run.meta["digests"], wanted["digests"]
    for part in before | now:
        if before.get(part) != now.get(part):
            require_same(run.path, part, *(first_names(requested.get(part)) for requested in (run.meta, wanted)))
            require_same(run.path, part, before.get(part), now.get(part))  # of a recording there is no more


def require_same(path: Path, name: str, before: Any, now: Any) -> None:
    """Refuse the first field that differs between what was requested and what is."""
    if isinstance(before, list) and isinstance(now, list):
        before, now = dict(enumerate(before)), dict(enumerate(now))
    if isinstance(before, dict) and isinstance(now, dict):
        for key in before | now:
            require_same(path, f"{name}.{key}".removeprefix("."), before.get(key), now.get(key))
    elif before != now:
        was, wanted = ("absent" if value is None else value for value in (before, now))
        raise field_error(path, name, was, f"{wanted}, as it is now: run without --resume")


def _require_same_kernel(run: Run, site: Site) -> None:
    before, now = (kernel["kernel_digest"] for kernel in (run.meta["kernel"], site.description.kernel))
    if before != now:
        source = run.meta["kernel"]["kernel_source"]
        raise UserError(f"{run.path}: kernel={before}: must be {now}: it began on {source}: run without --resume")


def _require_same_modules(run: Run, site: Site) -> None:
    before, now = (kernel["modules_digest"] for kernel in (run.meta["kernel"], site.description.kernel))
    if before != now:
        raise UserError(f"{run.path}: modules={before}: must be {now}, as they are now: run without --resume")


def _require_same_backend(run: Run, site: Site) -> None:
    now = {"backend": site.backend.kind, "engine": site.backend.engine}
    before = {"backend": run.meta["backend"], "engine": run.meta["engine"]}
    for field, value in now.items():
        if before[field] != value:
            raise UserError(f"{run.path}: {field}={value}: must be {before[field]}, as it began on")
