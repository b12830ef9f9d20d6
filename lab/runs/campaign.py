# SPDX-License-Identifier: GPL-2.0-or-later
"""A run: its folder, its trials, what is missing of them, and its end."""

import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lab.backends.place import Place
from lab.base import paths
from lab.base.cache import held
from lab.base.errors import UserError
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.runs import pool
from lab.runs.experiment import Experiment, record
from lab.runs.plan import draw, trial_seed
from lab.runs.trial import Job
from lab.tables.run_json import Circumstances, RunJson
from lab.tables.stored_run import Run
from lab.tables.stored_trial import FORMAT, Trial

LOCK = ".lock"
KEPT, KEPT_TABLES = 0.08, 0.025  # share of it that stays in a stored trial, with its capture and without
BYTES_PER_PACKET = 200  # of the capture, its table and the trace while a trial is decoded


def open_run(experiment: Experiment, kernel: Kernel, world: Image, resume: bool, place: Place | None = None) -> Path:
    """Make the folder of a new run, or find the one to go on with; UserError where its digests differ."""
    folder = paths.results() / experiment.name
    asked = record(experiment)
    if resume:
        run = _unfinished(folder)
        for part, digest in run.meta["digests"].items():
            if asked["digests"][part] != digest:
                now = asked["digests"][part]
                raise UserError(f"{run.path}: {part}={digest}: must be {now}, as it is now: run without --resume")
        _require_same_kernel(run, kernel)
        _require_same_place(run, place)
        return run.path
    path = folder / datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    try:
        (path / "trials").mkdir(parents=True)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    _write(path, {"format": FORMAT, "complete": False, **asked, **_circumstances(experiment, kernel, world, place)})
    return path


def _unfinished(folder: Path) -> Run:
    runs = [Run(file.parent) for file in sorted(folder.glob("[0-9]*/run.json"))]
    left = [run for run in runs if not run.complete or run.cut_short]
    if not left:
        raise UserError(f"{folder}: no unfinished run to resume: run without --resume")
    return left[-1]


def _require_same_kernel(run: Run, kernel: Kernel) -> None:
    before, now = (described["kernel_digest"] for described in (run.meta["kernel"], kernel.described))
    if before != now:
        source = run.meta["kernel"]["kernel_source"]
        raise UserError(f"{run.path}: kernel={before}: must be {now}: it began on {source}: run without --resume")


def _require_same_place(run: Run, place: Place | None) -> None:
    now = {"backend": place.backend if place else "virtual", "engine": place.engine if place else "netns"}
    before = {"backend": run.meta["backend"], "engine": run.meta["engine"]}
    for choice, value in now.items():
        if before[choice] != value:
            raise UserError(f"{run.path}: {choice}={value}: must be {before[choice]}, as it began on")


def _circumstances(experiment: Experiment, kernel: Kernel, world: Image, place: Place | None) -> Circumstances:
    """Return what else decides a result, or may explain one."""
    seed = experiment.scenario.seed
    return {
        "seeds": [trial_seed(seed, number) for number in range(1, experiment.scenario.trials + 1)],
        "command": sys.argv,
        "lab_version": _lab_version(),
        "backend": place.backend if place else "virtual",
        "engine": place.engine if place else "netns",
        "kernel": kernel.described,
        "world": {"digest": world.digest, "packages": world.versions, "drifted": world.drifted},
        "host": {"machine": platform.machine(), "system": platform.platform(), "python": platform.python_version()},
    }


def _lab_version() -> str:
    done = subprocess.run(
        ["git", "-C", str(paths.REPO), "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


@contextmanager
def holding(folder: Path) -> Iterator[None]:
    """Keep every other command off a run while the block runs."""
    with held(folder / LOCK, wait=False) as free:
        if not free:
            raise UserError(f"{folder}: is being run by another command: wait for it, or run without --resume")
        yield


def missing(experiment: Experiment, folder: Path, kernel: Kernel, world: Image, keep_capture: bool = True) -> list[Job]:
    """List the trials that are not stored, or no longer whole: senders take turns, as in the papers."""
    jobs = [
        Job(experiment, cca, number, folder / "trials" / f"{cca}-{number:03d}", kernel, world.root, keep_capture)
        for number in range(1, experiment.scenario.trials + 1)
        for cca in experiment.scenario.ccas
    ]
    return [job for job in jobs if not Trial(job.folder).is_whole]


def require_space(experiment: Experiment, workers: int, keep_capture: bool = True) -> None:
    """Refuse to start what the disk cannot hold, were every trial still missing."""
    scenario = experiment.scenario
    trials = scenario.trials * len(scenario.ccas)
    packets = 1.5 * draw(experiment, 1).link.mean_rate_mbps * 1e6 / 8 / 1500 * scenario.duration_s
    needed = packets * BYTES_PER_PACKET * (min(workers, trials) + (KEPT if keep_capture else KEPT_TABLES) * trials)
    folder = next(folder for folder in (paths.results(), *paths.results().parents) if folder.exists())
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise UserError(f"{folder}: free_bytes={free}: must be {round(needed)} for {trials} trials")


def run_missing(jobs: list[Job], folder: Path, workers: int, scheduler: str | None = None) -> Iterator[pool.Outcome]:
    """Run trials, and clear what an interruption leaves."""
    try:
        yield from pool.run_all(jobs, workers, scheduler)
    finally:
        clear_drafts(folder)


def run_jobs(jobs: list[Job], workers: int, scheduler: str | None = None) -> Iterator[pool.Outcome]:
    """Run trials of any runs."""
    yield from pool.run_all(jobs, workers, scheduler)


@contextmanager
def timed(folder: Path) -> Iterator[None]:
    """Add the wall time of the block to the run's; a killed command's own is lost."""
    begun_s = time.monotonic()
    try:
        yield
    finally:
        with suppress(OSError):  # a full disk has been told by the trial that met it
            add_wall_s(folder, time.monotonic() - begun_s)


def add_wall_s(folder: Path, wall_s: float) -> None:
    """Keep how long a run took in all."""
    meta = Run(folder).meta
    _write(folder, {**meta, "wall_s": meta.get("wall_s", 0.0) + wall_s})


def same(run: Run, experiment: Experiment, kernel: Kernel) -> bool:
    """Tell whether a run asked for exactly this, on this kernel."""
    as_asked = run.meta["digests"] == record(experiment)["digests"]
    return bool(as_asked and run.meta["kernel"]["kernel_digest"] == kernel.described["kernel_digest"])


def clear_drafts(folder: Path) -> list[Path]:
    """Remove trials that were never finished; returns what was there."""
    drafts = sorted((folder / "trials").glob(".*.draft"))
    for draft in drafts:
        shutil.rmtree(draft, ignore_errors=True)
    return drafts


def finish(folder: Path) -> None:
    """Mark a run complete, and point `latest` at it."""
    _write(folder, {**Run(folder).meta, "complete": True})
    link = folder.parent / f".latest-{os.getpid()}"
    link.symlink_to(folder.name)
    link.replace(folder.parent / "latest")


def _write(folder: Path, meta: RunJson) -> None:
    draft = folder / ".run.json"
    draft.write_text(json.dumps(meta, indent=1))
    draft.replace(folder / "run.json")
