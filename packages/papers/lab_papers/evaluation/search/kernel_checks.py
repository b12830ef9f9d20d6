# SPDX-License-Identifier: GPL-2.0-or-later
"""Points of the sensitivity maps run for real: search2's module with those parameters, against the replay of them.

Each runs on the links of the first downloads without HyStart, so that its exit should be the replayed one.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl

from lab.backends.virtual import Virtual
from lab.judge import loss
from lab.judge.frames import Row
from lab.judge.slow_start import SlowStartExit, first_exit
from lab.judge.stored import Stored
from lab.runs.experiment import load_experiment
from lab.runs.options import RunOptions
from lab.runs.pool import run_jobs
from lab.runs.trial import Job
from lab.tables.downloads import FLOW
from lab.tables.stored_trial import Trial
from lab_papers.evaluation.search import sensitivity
from lab_papers.evaluation.search.replay import Download, class_of, downloads, exit_of, varied
from lab_papers.search_replay import version

SENDER = sensitivity.PUBLISHED
POINTS: tuple[dict[str, int], ...] = (
    {},
    {"window_factor_tenths": 20, "threshold_pct": 20},
    {"window_factor_tenths": 60, "threshold_pct": 45},
    {"bins": 20, "extra_bins": 30},
    {"extra_bins": 5},
)
TRIALS = 2


def run_checks(stored: Stored, folder: Path, backend: Virtual, options: RunOptions) -> pl.DataFrame:
    """Run the points on a scenario's links; what is stored in the folder already is not run again."""
    found = [one for one in downloads(stored) if one.trial <= TRIALS]
    jobs = [_job(stored.name, point, one.trial, folder, backend) for point in POINTS for one in found]
    missing = [job for job in jobs if not (job.folder / "trial.json").exists()]
    for _ in run_jobs(missing, options):
        pass  # a trial that failed leaves no folder, and no row below
    known = {one.trial: one for one in found}
    return pl.DataFrame(list(_rows(stored.name, jobs, known, backend.kernel.replay_library)), infer_schema_length=None)


def _job(name: str, point: dict[str, int], number: int, folder: Path, backend: Virtual) -> Job:
    experiment = load_experiment(name, {"ccas": [SENDER], "claims": []})
    sender = experiment.ccas[SENDER].model_copy(update={"params": point})
    place = "-".join(f"{key}{value}" for key, value in point.items()) or "published"
    return Job(
        replace(experiment, ccas={SENDER: sender}),
        SENDER,
        number,
        folder / name / place / f"{SENDER}-{number:03d}",
        backend,
        keep_capture=False,
    )


def _rows(name: str, jobs: list[Job], known: dict[int, Download], library: Path) -> Iterator[Row]:
    for job in jobs:
        if (job.folder / "trial.json").exists():
            point = {param: int(value) for param, value in job.experiment.ccas[SENDER].params.items()}
            yield _row(name, Trial(job.folder), point, known[job.number], library)


def _row(name: str, trial: Trial, point: dict[str, int], one: Download, library: Path) -> Row:
    form = varied(version(library, SENDER).params, **point)
    replayed, left = exit_of(library, one, form), first_exit(trial.exits, FLOW)
    real = replace(one, loss_s=loss.first_loss_s(trial.packets, FLOW))
    params = form.params
    return {
        "scenario": name,
        "window_rtts": params.window_factor_tenths / 10,
        "threshold": params.threshold_pct / 100,
        "bins": params.bins,
        "extra_bins": params.extra_bins,
        "trial": one.trial,
        "replayed_exit_s": _time(replayed),
        "kernel_exit_s": _time(left),
        "difference_ms": None if replayed is None or left is None else (left.t_s - replayed.t_s) * 1e3,
        "replayed_class": class_of(one, replayed, "truth"),
        "kernel_class": class_of(real, left, "truth"),
    }


def _time(left: SlowStartExit | None) -> float | None:
    return left.t_s if left else None
