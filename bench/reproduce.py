# SPDX-License-Identifier: GPL-2.0-or-later
"""Estimate what `make reproduce` takes, from the first trials of every sender of every scenario: wall time and disk.

Trials run side by side on all cores and several in a boot, as they do in a campaign, so that what they cost each other
is in the figures.
Printed, and written to results/bench/reproduce.json.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from math import ceil
from pathlib import Path
from typing import Any

from lab_papers.campaign import campaign, quick_trials, stages
from rich.console import Console

from bench.measured import Figure, show_and_store
from lab.backends.virtual import Virtual, ensure_built
from lab.base.errors import UserError
from lab.base.processes import processors
from lab.base.scratch import scratch_folder
from lab.base.workers import one_pool
from lab.kernel.recipe import Recipe
from lab.node.beginning import MOST_PLANS
from lab.runs.experiment import Experiment, load_experiment
from lab.runs.one_boot import boots, most_trials
from lab.runs.pool import run_boots
from lab.runs.trial import Job
from lab.senders.traced import PORT, SNAPLEN_BYTES
from lab.tables.packets import read_packets

Row = dict[str, Any]
PAPERS = "make reproduce, the papers' experiments"  # whose page is there before their counterfactuals begin
# figure, its key in a scenario's row, unit, target
TOTALS = (
    ("make reproduce", "minutes", "min", "at most 60"),
    ("make reproduce QUICK=1", "quick_minutes", "min", "at most 8"),
    ("disk", "gigabytes", "GB", "at most 8"),
    ("disk without captures", "gigabytes_without_captures", "GB", "at most 2"),
)


def measure(console: Console) -> None:
    """Measure, show, and keep what was measured."""
    with console.status("building kernel and world, unless they are cached"):
        backend = ensure_built(Recipe())
    cores = processors()
    begun_s = time.monotonic()
    with scratch_folder() as scratch, one_pool() as pool:
        pool.start(cores)
        up_s = time.monotonic() - begun_s
        rows = list(_rows(cores, scratch, backend, console))
        read_rows_s = _reading(scratch)
    figures = [
        *_figures(rows),
        Figure(name="workers brought up", value=round(up_s, 1), unit="s"),
        Figure(name="packets read per second", value=round(read_rows_s), unit="packets/s"),
    ]
    show_and_store("reproduce", "make bench-reproduce", figures, {"scenarios": rows})


def _figures(rows: list[Row]) -> list[Figure]:
    own = stages()[0]
    minutes = sum(row["minutes"] for row in rows if row["scenario"] in own)
    papers: Figure = {"name": PAPERS, "value": round(minutes, 1), "unit": "min", "target": "at most 20"}
    totals: list[Figure] = [
        {"name": name, "value": round(sum(row[key] for row in rows), 1), "unit": unit, "target": target}
        for name, key, unit, target in TOTALS
    ]
    return [papers, *totals]


def _rows(cores: int, scratch: Path, backend: Virtual, console: Console) -> Iterator[Row]:
    for name in campaign():
        try:
            experiment = load_experiment(name)
            yield _row(cores, experiment, scratch / name, backend)
        except UserError as error:
            console.print(f"left out: {error}", soft_wrap=True, markup=False)


def _row(cores: int, experiment: Experiment, folder: Path, backend: Virtual) -> Row:
    """Run the first trials of every sender, in as many boots as keep each core at work twice, and equally long.

    The boots are full, as those of a long run are: one of few trials has smaller ones, and takes longer than estimated.
    """
    scenario = experiment.scenario
    first = Job(experiment, scenario.ccas[0], 1, folder, backend)
    each = most_trials(first) * _boots(len(scenario.ccas), cores)
    jobs = [
        replace(first, cca=cca, number=number, folder=folder / f"{cca}-{number:03d}")
        for number in range(1, each + 1)
        for cca in scenario.ccas
    ]
    begun_s = time.monotonic()
    ended = [result for _, result in run_boots(boots(jobs, MOST_PLANS), cores)]
    wall_s = (time.monotonic() - begun_s) / len(jobs)
    trials = scenario.trials * len(scenario.ccas)
    quick = quick_trials(scenario.trials) * len(scenario.ccas)
    whole_bytes, capture_bytes = _bytes(folder, "*"), _bytes(folder, "*.pcapng.zst")
    return {
        "scenario": experiment.name,
        "trials": trials,
        "duration_s": scenario.duration_s,
        "failed": sum(isinstance(outcome, str) for outcome in ended),
        "wall_s": wall_s,
        "virtual_s_per_s": scenario.duration_s / wall_s,
        "minutes": wall_s * trials / 60,
        "quick_minutes": wall_s * quick / 60,
        "gigabytes": whole_bytes / len(jobs) * trials / 1e9,
        "gigabytes_without_captures": (whole_bytes - capture_bytes) / len(jobs) * trials / 1e9,
    }


def _boots(senders: int, cores: int) -> int:
    """Return the boots of each sender: together at least two for each core, and no core has one more."""
    return next(each for each in count(ceil(2 * cores / senders)) if each * senders % cores == 0)


def _bytes(folder: Path, pattern: str) -> int:
    return sum(file.stat().st_size for file in folder.glob(f"*/{pattern}") if file.is_file())


def _reading(scratch: Path) -> float:
    """Rows a second of the largest capture that a GEO trial left."""
    captures = sorted((scratch / "thesis-geo").glob("*/client.pcapng.zst"), key=lambda file: file.stat().st_size)
    if not captures:
        return 0.0
    begun_s = time.monotonic()
    rows = read_packets(captures[-1], PORT, SNAPLEN_BYTES).packets.height
    return rows / (time.monotonic() - begun_s)


if __name__ == "__main__":
    measure(Console(highlight=False))
