# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m bench.sample RUN_DIR`: commit a run's first trials in analysis/sample, without their captures.

`make sample` calls it after `lab run sample`; every figure can be drawn from it without any run.
"""

import json
import shutil
import sys
from pathlib import Path

import polars as pl

from lab.base.paths import REPO
from lab.tables.digests import write_digests, write_with_digest
from lab.tables.stored_run import Run
from lab.tables.trial_tables import TRIAL_TABLES, write_tables

SAMPLE = REPO / "analysis" / "sample"
TRIALS = 2  # of each sender
STRONGEST = 22  # of zstd


def keep(run: Run, folder: Path = SAMPLE) -> Path:
    """Copy a run; of the command line only the words, not where the lab lay."""
    name = run.path.resolve().parent.name
    shutil.rmtree(folder / name, ignore_errors=True)
    kept = folder / name / run.path.resolve().name
    kept.mkdir(parents=True)
    meta = run.meta | {"command": ["lab", *run.meta["command"][1:]]}
    write_with_digest(kept / "run.json", f"{json.dumps(meta, indent=1)}\n".encode())
    for trial in run.trials:
        if trial.number <= TRIALS:
            _keep_trial(trial.path, kept / "trials" / trial.path.name)
    (kept.parent / "latest").symlink_to(kept.name)
    return kept


def _keep_trial(source: Path, target: Path) -> None:
    target.mkdir(parents=True)
    shutil.copy(source / "trial.json", target)
    write_tables({name: pl.read_parquet(source / f"{name}.parquet") for name in TRIAL_TABLES}, target, STRONGEST)
    write_digests(target)


if __name__ == "__main__":
    print(keep(Run(Path(sys.argv[1]))))
