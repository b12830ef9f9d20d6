# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure what a trial of `lab break` costs, and whether that grows with the trials that are stored.

`python -m bench.break_cost [TRIALS]` searches access links for cubic with a store of its own, behind 10, 100,
1,000 and 10,000 other trials, and writes results/bench/break-cost.json. Times are of processors: a busy machine changes
them little.
"""

import os
import resource
import sys
import time

from lab_break.command import bench_of, searched
from lab_break.numbers import Numbers, Store
from lab_break.request import Request
from lab_break.space import load_bounds

from bench import measured
from lab.base.scratch import scratch_folder
from lab.commands.cli_options import console
from lab.runs.options import RunOptions

STORED = (10, 100, 1_000, 10_000)
TRIALS = 64
CORES = 2
S_PER_H = 3600


def main(words: list[str]) -> None:
    """Search behind each number of stored trials, and store the figures."""
    trials = int(words[0]) if words else TRIALS
    rows: list[measured.Figure] = []
    for stored in STORED:
        rows += _behind(stored, trials)
    rows.append({"name": "load average", "value": round(os.getloadavg()[0], 1), "unit": ""})
    print(measured.store("break-cost", "python -m bench.break_cost", rows))


def _behind(stored: int, trials: int) -> list[measured.Figure]:
    """Search behind so many stored trials; returns what a trial cost."""
    bounds = ("access", load_bounds("access"))
    request = Request.of("cubic", "early", bounds, "bbr", None, trials, 1, "tpe", 1)
    with scratch_folder() as folder:
        _fill(Store(folder), stored)
        began_s, own_s, children_s = time.monotonic(), time.process_time(), _children_s()
        with bench_of(request, RunOptions(CORES), console, folder) as bench:
            ready_s, ready_own_s = time.monotonic(), time.process_time()
            found = searched(request, 1, bench, console)
            wall_s, main_s = time.monotonic() - ready_s, time.process_time() - ready_own_s
        trial_s = (_children_s() - children_s) / trials
    print(f"behind {stored}: {wall_s:.0f} s, begun in {ready_s - began_s:.1f} s ({ready_own_s - own_s:.1f} s own)")
    where = f"behind {stored:,} stored trials"
    return [
        {"name": f"the search's own time per trial, {where}", "value": round(1e3 * main_s / trials, 2), "unit": "ms"},
        {"name": f"a trial, {where}", "value": round(trial_s, 3), "unit": "s of a processor"},
        {
            "name": f"the optimiser's share, {where}",
            "value": round(100 * found.optimiser_s / (trial_s * trials / CORES), 2),
            "unit": "%",
            "target": "below 5",
        },
        {"name": f"trials per hour, {where}", "value": round(trials / wall_s * S_PER_H), "unit": "", "target": "3,000"},
    ]


def _fill(store: Store, count: int) -> None:
    """Store so many other trials."""
    other: Numbers = dict.fromkeys(Numbers.__required_keys__)  # type: ignore[assignment]
    for number in range(count):
        digest = f"{number:016x}"[::-1]
        store.write(digest, other)


def _children_s() -> float:
    """Return the processor time of all processes that have ended below this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main(sys.argv[1:])
