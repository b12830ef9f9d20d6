# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure how fast a trial over QUIC is, on each stack and over TCP, as ratios on this machine.

`python -m bench.quic [SECONDS]` prints a table and writes results/bench/quic.json. A trial is timed on one core,
with its capture, tables and certificate; each ratio is the median of some trials.
"""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

from bench import measured
from bench.measured import Figure
from lab.backends.virtual import Virtual, ensure_built
from lab.base.scratch import scratch_folder
from lab.kernel.recipe import Recipe
from lab.runs.experiment import try_link
from lab.runs.trial import Job, run_trial
from lab.senders.ways import prepared

SENDERS = ("search", "search_quic", "hystartpp_ngtcp2")
PROFILES = ("geo-small", "geo-viasat")  # of the scenario tcp-quic, and one of seven times its rate
SECONDS, TRIALS = 30, 3
QUANTITY = "virtual seconds per wall second and core"
TARGET = "at least 3 over QUIC"


def measure(seconds: int, virtual: Virtual, folder: Path) -> list[Figure]:
    """Time trials of each sender on each link, after one that is not timed."""
    figures: list[Figure] = []
    for profile in PROFILES:
        experiment = try_link(profile, list(SENDERS), {"duration_s": seconds, "trials": TRIALS})
        senders, virtual = prepared(experiment.ccas, virtual)
        experiment = replace(experiment, ccas=senders)
        for name in SENDERS:
            job = partial(Job, experiment, name)
            run_trial(job(1, folder / profile / name / "warm", virtual))
            timed = (
                pinned(partial(run_trial, job(number, folder / profile / name / str(number), virtual)))
                for number in range(1, TRIALS + 1)
            )
            ratio = seconds / median(timed)
            figures.append(
                {"name": f"{name}, {profile}: {QUANTITY}", "value": ratio, "unit": "ratio", "target": TARGET}
            )
            print(f"{name:18} {profile:12} {ratio:6.2f}", flush=True)
    return figures


def pinned(work: Callable[[], object]) -> float:
    """Time work on one core, in seconds."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    begun_s = time.monotonic()
    try:
        work()
        return time.monotonic() - begun_s
    finally:
        os.sched_setaffinity(0, cores)


def main() -> None:
    """Build what is missing, measure, and store."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    print(f"{QUANTITY} ({TARGET})")
    with scratch_folder() as folder:
        figures = measure(seconds, ensure_built(Recipe()), folder)
    print(measured.store("quic", "make bench-quic", figures))


if __name__ == "__main__":
    main()
