# SPDX-License-Identifier: GPL-2.0-or-later
"""The folder of one run: created, locked, cleared, and marked complete."""

import datetime
import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from lab.backends.backend import Site
from lab.base import paths, sandbox_mode
from lab.base.cache import held
from lab.base.commit import answer
from lab.base.errors import UserError
from lab.base.processes import processor, processors
from lab.base.remove import remove
from lab.links.draw import held_gaps
from lab.runs.experiment import Experiment, specification
from lab.runs.plan import trial_seed
from lab.tables.digests import write_with_digest
from lab.tables.run_json import Circumstances, Requested, RunJson
from lab.tables.stored_run import Run
from lab.tables.stored_trial import FORMAT

LOCK = ".lock"
LATEST = "latest"
CLEAR_ATTEMPTS, CLEAR_PAUSE_S = 20, 0.05  # a kernel that was just killed may still write into its draft


def clear_drafts(folder: Path) -> list[Path]:
    """Remove trials that were not finished; returns their folders. A link in place of `trials` is not followed."""
    trials = folder / "trials"
    drafts = [] if trials.is_symlink() else sorted(trials.glob(".*.draft"))
    for draft in drafts:
        for _ in range(CLEAR_ATTEMPTS):
            remove(draft)
            if not draft.exists():
                break
            time.sleep(CLEAR_PAUSE_S)
    return drafts


def create(experiment: Experiment, site: Site) -> Path:
    """Create the folder of a new run, with its run.json."""
    path = new_folder(paths.results() / experiment.name)
    _write(path, {"format": FORMAT, "complete": False, **_requested(experiment), **_environment(experiment, site)})
    return path


def grow(folder: Path, experiment: Experiment) -> None:
    """Let a run have more trials of the same specification: its first trials stay as they are."""
    number = range(1, experiment.scenario.trials + 1)
    seeds = [trial_seed(experiment.scenario.seed, each) for each in number]
    meta: RunJson = {**Run(folder).meta, **_requested(experiment), "seeds": seeds, "complete": False}
    _write(folder, meta)


def _requested(experiment: Experiment) -> Requested:
    requested, profile = specification(experiment), experiment.profile
    return {**requested, "profile": {**requested["profile"], "assumed": [*profile.assumed, *held_gaps(profile)]}}


def new_folder(scenario: Path) -> Path:
    """Create the folder of a run, with one for its trials."""
    _require_link(scenario)
    path = dated_folder(scenario)
    (path / "trials").mkdir()
    return path


def dated_folder(parent: Path) -> Path:
    """Create a folder named by the time; where another one has this second's name, the next second's."""
    while True:
        path = parent / datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
        try:
            parent.mkdir(parents=True, exist_ok=True)
            path.mkdir()
        except FileExistsError:
            if not path.is_dir():
                raise UserError(f"{parent}: must be a folder") from None
            time.sleep(1 - time.time() % 1)
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}") from None
        else:
            return path


def _environment(experiment: Experiment, site: Site) -> Circumstances:
    """Return what else decides a result, or may explain one."""
    scenario, backend, found = experiment.scenario, site.backend, site.description
    circumstances: Circumstances = {
        "seeds": [trial_seed(scenario.seed, number) for number in range(1, scenario.trials + 1)],
        "command": sys.argv,
        "lab_version": lab_version(),
        "backend": backend.kind,
        "engine": backend.engine,
        "kernel": found.kernel,
        "world": {"digest": found.packages_digest, "packages": found.packages, "drifted": found.drifted},
        "host": {
            "machine": platform.machine(),
            "system": platform.platform(),
            "python": platform.python_version(),
            "processor": processor(),
            "cores": processors(),
        },
    }
    if backend.kind == "virtual":
        circumstances["sandbox"] = sandbox_mode.described()
    return circumstances


@cache
def lab_version() -> str:
    """Return the lab's commit, as git describes it when a command first asks."""
    return answer("describe", "--always", "--dirty") or "unknown"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep every other command off a run while the block runs."""
    with held(folder / LOCK, wait=False) as free:
        if not free:
            raise UserError(f"{folder}: is being run by another command: wait for it, or run without --resume")
        _require_link(folder.parent)
        yield


def _require_link(scenario: Path) -> None:
    """Refuse a folder in place of the link to the latest run, as a copy of results may have it."""
    if (latest := scenario / LATEST).is_dir() and not latest.is_symlink():
        raise UserError(f"{latest}: must be a link to a run, no folder: rename or remove it")


def close(folder: Path, wall_s: float, complete: bool) -> None:
    """Clear drafts and add to the wall time; mark a complete run, and point `latest` at it."""
    clear_drafts(folder)
    meta = Run(folder).meta
    if wall_s:
        meta = {**meta, "wall_s": meta.get("wall_s", 0.0) + wall_s}
    if not complete:
        with suppress(OSError):  # the trial that found the disk full has reported it
            _write(folder, meta)
        return
    _write(folder, {**meta, "complete": True})
    link = folder.parent / f".latest-{os.getpid()}"
    link.symlink_to(folder.name)
    link.replace(folder.parent / LATEST)


def set_attempted(folder: Path, trials: int) -> None:
    """Store up to which number each trial of an incomplete run was run or has failed."""
    meta = Run(folder).meta
    if not meta["complete"]:
        _write(folder, {**meta, "attempted": trials})


def _write(folder: Path, meta: RunJson) -> None:
    write_with_digest(folder / "run.json", json.dumps(meta, indent=1).encode())
