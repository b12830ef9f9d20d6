# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast the lab is, as ratios on the machine it runs on; printed, and written to results/bench/latest.json."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from lab.backends.virtual import Virtual
from lab.base import paths, sandbox
from lab.base.scratch import scratch_folder
from lab.runs.experiment import load_experiment
from lab.runs.plan import PORT, SNAPLEN_BYTES
from lab.runs.pool import attempt
from lab.runs.processes import processes
from lab.runs.trial import Job, run_trial
from lab.tables.packets import read_packets
from lab.tables.stored_parquet import write_table

FIELDS = (
    "frame.time_epoch",
    "frame.len",
    "ip.src",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.len",
    "tcp.flags",
    "tcp.window_size_value",
    "tcp.options.timestamp.tsval",
    "tcp.options.timestamp.tsecr",
)
AT_ONCE = 4  # trials that each worker runs, one after the other


def measure(seconds: int, backend: Virtual, console: Console) -> None:
    """Time one GEO trial, two at once (medians), and packets to Parquet against tshark's fields to /dev/null."""
    experiment = load_experiment("geo", {"duration_s": seconds})
    with scratch_folder() as scratch:

        def job(name: str) -> Job:
            return Job(experiment, "search", 1, scratch / name / "search-001", backend)

        def trial_s(workers: int) -> float:
            """Wall seconds that a trial takes where that many run at once, as in a campaign."""
            jobs = [job(f"{workers}-at-once-{number}") for number in range(AT_ONCE * workers)]
            with processes(attempt, workers) as pool:
                list(pool.run([job(f"warm-{workers}-{number}") for number in range(workers)]))
                return _timed(lambda: list(pool.run(jobs))) / len(jobs)

        run_trial(job("warm"))
        alone_s = median(_pinned(partial(run_trial, job(f"alone-{number}"))) for number in (1, 2, 3))
        gained = trial_s(1) / trial_s(2)
        capture = job("alone-1").folder / "client.pcapng.zst"
        tshark_s = _pinned(lambda: _tshark(backend.world.root, capture))
        ours_s = _pinned(lambda: _to_parquet(capture))
    figures = {
        "virtual seconds per wall second, one core, whole trial": seconds / alone_s,
        "two trials at once on two cores, times one": gained,
        "packets to Parquet, time over tshark's fields to /dev/null": ours_s / tshark_s,
    }
    asked = ("at least 5", "at least 1.8", "at most 1.2")
    _show(figures, asked, console)
    _write({"seconds": seconds, "cores": len(os.sched_getaffinity(0)), "figures": figures})


def _timed(work: Callable[[], object]) -> float:
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def _pinned(work: Callable[[], object]) -> float:
    """Time work on one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        return _timed(work)
    finally:
        os.sched_setaffinity(0, cores)


def _tshark(world: Path, capture: Path) -> None:
    fields = [word for field in FIELDS for word in ("-e", field)]
    command = sandbox.command(
        world,
        ["tshark", "-n", "-r", "/trial/client.pcapng.zst", "-T", "fields", *fields],
        read_only={capture.parent: "/trial"},
    )
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def _to_parquet(capture: Path) -> None:
    write_table(read_packets(capture, PORT, SNAPLEN_BYTES).packets, capture.parent / "again.parquet")


def _show(figures: dict[str, float], asked: tuple[str, ...], console: Console) -> None:
    table = Table("figure", "measured", "asked")
    for (name, value), wish in zip(figures.items(), asked, strict=True):
        table.add_row(name, f"{value:.2f}", wish)
    console.print(table)


def _write(content: dict[str, object]) -> None:
    folder = paths.results() / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "latest.json").write_text(json.dumps(content, indent=1))
