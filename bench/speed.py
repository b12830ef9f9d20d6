# SPDX-License-Identifier: GPL-2.0-or-later
"""What trials cost in processor seconds, by phase, beside the stored figures; `python -m bench.speed [SECONDS]`.

A long GEO trial shows what packets cost, short trials in one boot what stands around them. Figures go to
results/bench/speed.json, and docs/measurements/speed.json has those of a release: their ratio shows a regression.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path

import polars as pl
from rich.console import Console

from bench.measured import Figure, rounded, show_and_store
from lab.backends.virtual import Virtual
from lab.base import sandbox
from lab.base.processes import on_one_processor
from lab.base.scratch import scratch_folder
from lab.commands.prepare import prepare as prepared
from lab.kernel.recipe import Recipe
from lab.node.beginning import MOST_PLANS
from lab.runs import one_boot
from lab.runs.experiment import Experiment, load_experiment
from lab.runs.trial import Job, finish, new_draft, prepare
from lab.senders.traced import CAPTURED, PORT, SNAPLEN_BYTES
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
TIMES = 5  # of each trial: the least counts, as what else goes on in a shared processor only adds
PHASES = ("plan", "virtual kernel", "decoding and storing")
S = "s of a processor"
Clock = Callable[[], float]
ROOT = Path("/sys/fs/cgroup")
STAT = Path("/proc/stat")
BUSY = (0, 1, 2, 5, 6)  # of its first line: user, nice, system, irq, softirq


def measure(seconds: int, backend: Virtual) -> None:
    """Measure a long GEO trial by phase, short trials in a boot, and the decoding against tshark's.

    All on one processor, as a worker of `lab run` does.
    """
    with on_one_processor(), scratch_folder() as scratch, processor_clock() as clock:
        geo = load_experiment("geo", {"duration_s": seconds})
        short = load_experiment("geo", {"duration_s": 1, "profile": "wired-clean", "trials": MOST_PLANS})
        jobs = [Job(geo, "search", 1, scratch / f"geo-{number}" / "search-001", backend) for number in range(TIMES + 1)]
        phases = [_phases(job, clock) for job in jobs][1:]  # the first one warms the caches
        capture = jobs[-1].folder / f"{CAPTURED}.zst"
        packets = pl.read_parquet(jobs[-1].folder / "packets.parquet", columns=["t_s"]).height
        figures = [*_of_geo(phases, seconds, packets), *_of_short(short, backend, scratch, clock)]
        ours_s, tshark_s = (_cost(partial(work, capture), clock) for work in (_to_parquet, _tshark(backend)))
        figures.append(rounded("packets to Parquet, over tshark's fields to /dev/null", ours_s / tshark_s, "ratio"))
    show_and_store("speed", f"make bench BENCH={seconds}", figures)


def _cost(work: Callable[[], object], clock: Clock) -> float:
    begun = clock()
    work()
    return clock() - begun


def _phases(job: Job, clock: Clock) -> list[float]:
    """Run a trial as `run_trial` does; returns what each of PHASES takes."""
    with new_draft(job.folder) as draft:
        at = [clock()]
        plan = prepare(job, draft)
        at.append(clock())
        job.backend.run_plan(plan, draft)
        at.append(clock())
        finish(job, plan, draft)
        at.append(clock())
    return [after - before for before, after in pairwise(at)]


def _of_geo(phases: Sequence[Sequence[float]], seconds: int, packets: int) -> list[Figure]:
    costs = {name: min(each) for name, each in zip(PHASES, zip(*phases, strict=True), strict=True)}
    return [
        *(rounded(f"GEO trial of {seconds} s: {name}", cost, S) for name, cost in costs.items()),
        rounded("GEO: virtual seconds per processor second", seconds / sum(costs.values()), "ratio"),
        rounded("decoding and storing, per captured packet", 1e6 * costs[PHASES[2]] / packets, "µs of a processor"),
    ]


def _of_short(short: Experiment, backend: Virtual, scratch: Path, clock: Clock) -> list[Figure]:
    """Compare boots of one and of many trials of 1 s: what a boot costs, and each further trial."""

    def boot_s(trials: int, name: str) -> float:
        places = [(number, scratch / name / f"cubic-{number:03d}") for number in range(1, trials + 1)]
        jobs = [Job(short, "cubic", number, place, backend) for number, place in places]
        return _cost(lambda: list(one_boot.run(jobs)), clock)

    one_s, many_s = (
        min(boot_s(trials, f"short-{trials}-{number}") for number in range(TIMES)) for trials in (1, MOST_PLANS)
    )
    return [
        rounded("trial of 1 s in a boot of its own", one_s, S),
        rounded("each further trial of 1 s in that boot", (many_s - one_s) / (MOST_PLANS - 1), S),
    ]


def _tshark(backend: Virtual) -> Callable[[Path], object]:
    fields = [option for field in FIELDS for option in ("-e", field)]

    def run(capture: Path) -> None:
        command = sandbox.command(
            backend.world.root,
            ["tshark", "-n", "-r", f"/trial/{capture.name}", "-T", "fields", *fields],
            read_only={capture.parent: "/trial"},
        )
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)

    return run


def _to_parquet(capture: Path) -> None:
    write_table(read_packets(capture, PORT, SNAPLEN_BYTES).packets, capture.parent / "again.parquet")


@contextmanager
def processor_clock() -> Iterator[Clock]:
    """Yield what returns the processor seconds so far, of this process and all that it starts where it can be counted.

    getrusage does not see a virtual kernel: its processes end in a namespace of their own, where nobody waits for them.
    A control group counts all; without the right to make one, the whole machine is counted, which must then be idle.
    """
    for parent, clock in ((ROOT / "cpuacct", _of_version_1), (ROOT, _of_version_2)):
        group = parent / f"lab-bench-{os.getpid()}"
        try:
            group.mkdir()
            (group / "cgroup.procs").write_text(str(os.getpid()))
            clock(group)
        except OSError:
            _leave(group, parent)
            continue
        try:
            yield lambda: clock(group)  # noqa: B023 (used inside this round alone)
        finally:
            _leave(group, parent)
        return
    yield _of_machine


def _leave(group: Path, parent: Path) -> None:
    if group.is_dir():
        (parent / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()


def _of_version_1(group: Path) -> float:
    return int((group / "cpuacct.usage").read_text()) / 1e9


def _of_version_2(group: Path) -> float:
    values = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
    return int(values["usage_usec"]) / 1e6


def _of_machine() -> float:
    ticks = STAT.read_text().split("\n", 1)[0].split()[1:]
    return sum(int(ticks[place]) for place in BUSY) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    measure(int(sys.argv[1]) if sys.argv[1:] else 30, prepared(Recipe(), Console()))
