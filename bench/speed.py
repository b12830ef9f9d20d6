# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure how fast the lab is, as ratios on this machine; `python -m bench.speed [SECONDS]` stores speed.json."""

import subprocess
import sys
from functools import partial
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from bench import measured
from bench.measured import Figure
from bench.timing import pinned, timed
from lab.backends.virtual import Virtual
from lab.base import sandbox
from lab.base.scratch import scratch_folder
from lab.commands.prepare import prepare
from lab.kernel.recipe import Recipe
from lab.runs.experiment import load_experiment
from lab.runs.pool import attempt
from lab.runs.processes import processes
from lab.runs.trial import Job, run_trial
from lab.senders.traced import PORT, SNAPLEN_BYTES
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
                return timed(lambda: list(pool.run(jobs))) / len(jobs)

        run_trial(job("warm"))
        alone_s = median(pinned(partial(run_trial, job(f"alone-{number}"))) for number in (1, 2, 3))
        gained = trial_s(1) / trial_s(2)
        capture = job("alone-1").folder / "client.pcapng.zst"
        tshark_s = pinned(lambda: _tshark(backend.world.root, capture))
        ours_s = pinned(lambda: _to_parquet(capture))
    figures = [
        _ratio("virtual seconds per wall second, one core, whole trial", seconds / alone_s, "at least 5"),
        _ratio("two trials at once on two cores, times one", gained, "at least 1.8"),
        _ratio("packets to Parquet, time over tshark's fields to /dev/null", ours_s / tshark_s, "at most 1.2"),
    ]
    _show(figures, console)
    measured.store("speed", f"make bench BENCH={seconds}", figures)


def _ratio(name: str, value: float, target: str) -> Figure:
    return {"name": name, "value": value, "unit": "ratio", "target": target}


def _tshark(world: Path, capture: Path) -> None:
    fields = [option for field in FIELDS for option in ("-e", field)]
    command = sandbox.command(
        world,
        ["tshark", "-n", "-r", "/trial/client.pcapng.zst", "-T", "fields", *fields],
        read_only={capture.parent: "/trial"},
    )
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def _to_parquet(capture: Path) -> None:
    write_table(read_packets(capture, PORT, SNAPLEN_BYTES).packets, capture.parent / "again.parquet")


def _show(figures: list[Figure], console: Console) -> None:
    table = Table("figure", "measured", "target")
    for figure in figures:
        table.add_row(figure["name"], f"{figure['value']:.2f}", figure["target"])
    console.print(table)


if __name__ == "__main__":
    terminal = Console()
    measure(int(sys.argv[1]) if sys.argv[1:] else 30, prepare(Recipe(), terminal), terminal)
