# SPDX-License-Identifier: GPL-2.0-or-later
"""The trials of a run that have no whole result, and the disk space that they take."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab.backends.backend import Backend
from lab.base import paths
from lab.base.errors import UserError, field_error
from lab.base.format import counted
from lab.base.processes import machine_mb
from lab.links.draw import Link
from lab.runs import one_boot, sizes
from lab.runs.experiment import Experiment
from lab.runs.options import RunOptions
from lab.runs.plan import draw, make_plan, mss_bytes
from lab.runs.trial import Job
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial

STORED, STORED_TABLES = 0.08, 0.025  # share of a trial's records that stays, with its capture and without
BYTES_PER_PACKET = 200  # of the capture, its table and the trace while a trial is decoded


def missing_trials(experiment: Experiment, folder: Path, backend: Backend, options: RunOptions) -> list[Job]:
    """List the trials without a whole result, or with that of another run; senders take turns, as in the papers."""
    run = Run(folder)
    jobs = [
        Job(experiment, cca, number, folder / "trials" / f"{cca}-{number:03d}", backend, options.keep_capture)
        for number in range(1, experiment.scenario.trials + 1)
        for cca in experiment.scenario.ccas
    ]
    with ThreadPoolExecutor() as threads:
        faults = threads.map(lambda job: run.fault_of(Trial(job.folder)), jobs)
        return [job for job, fault in zip(jobs, faults, strict=True) if fault]


def require_possible(experiment: Experiment, backend: Backend, options: RunOptions) -> None:
    """Refuse an experiment without a plan of its first trial, or with more memory than this machine has."""
    drawn = draw(experiment, 1)
    for cca in experiment.ccas.values():
        make_plan(experiment, cca, drawn)
    _require_memory(experiment, drawn.link, backend, options)


def _require_memory(experiment: Experiment, link: Link, backend: Backend, options: RunOptions) -> None:
    """Refuse a link whose virtual kernels, or the decoding of whose trials, need more memory than this machine has.

    Elsewhere each worker does.
    """
    if backend.kind != "virtual" or options.scheduler:
        return
    scenario = experiment.scenario
    flows = 1 + sum(entry.count for entry in scenario.beside)
    kernel_mb = sizes.memory_mb(link, scenario.duration_s, mss_bytes(experiment), flows=flows)
    workers = min(options.workers, scenario.trials * len(scenario.ccas))
    needed_mb = workers * sizes.worker_mb(kernel_mb)
    if needed_mb > machine_mb():
        less = "fewer --jobs" if workers > 1 else "a smaller buffer, rate, delay or duration"
        rule = f"at most {machine_mb()}, the memory of this machine, for {counted(workers, 'trial')} at a time: {less}"
        raise field_error(experiment.profile.file, "memory_mb", needed_mb, rule)


def require_space(experiment: Experiment, trials: int, backend: Backend, options: RunOptions) -> None:
    """Refuse to start trials whose results the disk cannot hold."""
    scenario = experiment.scenario
    packets = sizes.packets(draw(experiment, 1).link, scenario.duration_s, 1500)
    most = max(one_boot.most_trials(Job(experiment, cca, 1, paths.results(), backend)) for cca in scenario.ccas)
    stored = (STORED if options.keep_capture else STORED_TABLES) * trials
    needed = packets * BYTES_PER_PACKET * (one_boot.at_once(trials, options.workers, most) + stored)
    folder = next(folder for folder in (paths.results(), *paths.results().parents) if folder.exists())
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise UserError(f"{folder}: free_bytes={free}: must be {round(needed)} for {counted(trials, 'trial')}")
