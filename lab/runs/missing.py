# SPDX-License-Identifier: GPL-2.0-or-later
"""The trials of a run that have no whole result, and the disk space that they take."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab.backends.backend import Backend
from lab.base import paths
from lab.base.errors import UserError
from lab.runs.experiment import Experiment
from lab.runs.options import RunOptions
from lab.runs.plan import draw
from lab.runs.trial import Job
from lab.tables.stored_trial import Trial

STORED, STORED_TABLES = 0.08, 0.025  # share of a trial's records that stays, with its capture and without
BYTES_PER_PACKET = 200  # of the capture, its table and the trace while a trial is decoded


def missing_trials(experiment: Experiment, folder: Path, backend: Backend, options: RunOptions) -> list[Job]:
    """List the trials without a whole result; senders take turns, as in the papers."""
    jobs = [
        Job(experiment, cca, number, folder / "trials" / f"{cca}-{number:03d}", backend, options.keep_capture)
        for number in range(1, experiment.scenario.trials + 1)
        for cca in experiment.scenario.ccas
    ]
    with ThreadPoolExecutor() as threads:
        whole = threads.map(lambda job: Trial(job.folder).is_whole, jobs)
        return [job for job, is_whole in zip(jobs, whole, strict=True) if not is_whole]


def require_space(experiment: Experiment, trials: int, options: RunOptions) -> None:
    """Refuse to start trials whose results the disk cannot hold."""
    packets = 1.5 * draw(experiment, 1).link.mean_rate_mbps * 1e6 / 8 / 1500 * experiment.scenario.duration_s
    stored = (STORED if options.keep_capture else STORED_TABLES) * trials
    needed = packets * BYTES_PER_PACKET * (min(options.workers, trials) + stored)
    folder = next(folder for folder in (paths.results(), *paths.results().parents) if folder.exists())
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise UserError(f"{folder}: free_bytes={free}: must be {round(needed)} for {trials} trials")
