# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure what the filter of system calls costs a GEO trial, in pairs: `python -m bench.filter_cost [PAIRS]`.

It takes one core of an idle machine; the order within a pair is drawn.
"""

import random
import sys
from pathlib import Path
from unittest import mock

import numpy as np
from scipy.stats import bootstrap

from bench import measured
from bench.measured import Figure
from bench.timing import pinned
from lab.backends.virtual import ensure_built
from lab.base import sandbox
from lab.base.scratch import scratch_folder
from lab.kernel.recipe import Recipe
from lab.runs.experiment import load_experiment
from lab.runs.trial import Job, run_trial

PAIRS, MOST = 100, "1.03"
WITH, WITHOUT = "lab.base.enter", "bench.unfiltered"  # which program becomes bubblewrap


def ratios(pairs: int, folder: Path) -> list[float]:
    """Time so many pairs of trials; returns each with the filter over without."""
    backend, experiment = ensure_built(Recipe()), load_experiment("geo")
    filtered = sandbox.command

    def seconds(program: str, number: int) -> float:
        def command(*words: object, **options: object) -> list[str]:
            return [program if word == WITH else word for word in filtered(*words, **options)]  # type: ignore[arg-type]

        job = Job(experiment, "search", 1, folder / f"{program}-{number}" / "search-001", backend)
        with mock.patch.object(sandbox, "command", command):
            return pinned(lambda: run_trial(job))

    def ratio(number: int) -> float:
        taken = {program: seconds(program, number) for program in random.sample([WITH, WITHOUT], 2)}
        return taken[WITH] / taken[WITHOUT]

    ratio(0)  # what is read once
    return [ratio(number) for number in range(1, pairs + 1)]


def main() -> None:
    """Print and store the median ratio, and its interval."""
    pairs = int(sys.argv[1]) if sys.argv[1:] else PAIRS
    with scratch_folder() as folder:
        found = ratios(pairs, folder)
    interval = bootstrap([found], np.median, method="percentile").confidence_interval
    values = {"median of the pairs": float(np.median(found)), "from, 95 %": interval.low, "to, 95 %": interval.high}
    figures: list[Figure] = [
        {"name": f"time with the filter over without, {name}", "value": round(float(value), 4), "unit": "ratio"}
        for name, value in values.items()
    ]
    figures[0]["target"] = MOST
    measured.show_and_store("filter-cost", f"python -m bench.filter_cost {pairs}", figures)


if __name__ == "__main__":
    main()
