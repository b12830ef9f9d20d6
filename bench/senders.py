# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure what senders cost: instructions per ACK of each; SEARCH's memory per flow, and how fast its core replays.

Instructions are counted by callgrind in the very objects of the modules, linked into a program that feeds their hooks
ACKs (bench/hooks/); processors' own counters are not there in most virtual machines. `python -m bench.senders`
prints all and writes results/bench/senders.json.
"""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from lab_papers.search_replay import replay_bins, version

from bench.measured import Figure, show_and_store
from lab.base.errors import UserError
from lab.base.scratch import scratch_folder
from lab.images import image
from lab.images.compile import Compile
from lab.kernel import build
from lab.kernel.build import Kernel
from lab.schema.cca import load_ccas, search_versions
from lab.senders.module import SOCKET_BYTES, load_module

FOLDERS = (build.HERE / "search", build.HERE / "startup", Path(__file__).with_name("hooks"))
VERSIONS = search_versions()
REFERENCE = "cubic"
PHASES = ("slow-start", "after")
MOST_TIMES_CUBIC = {"slow-start": 1.25, "after": 1.0}
ROUNDS = 10  # of doubling from 10 packets: 10,230 ACKs
ACKS = 10_000_000
Counts = dict[str, dict[str, float]]


def measure() -> None:
    """Measure, print and store all figures."""
    kernel = build.ensure()
    with scratch_folder() as scratch:
        counts = instructions(compiled(kernel, scratch))
    memory_bytes = flow_bytes(kernel)
    acks_per_s = {name: replay_rate(kernel.replay_library, name) for name in VERSIONS}
    show_and_store("senders", "make bench-senders", list(_figures(counts, memory_bytes, acks_per_s)))


def _figures(counts: Counts, memory_bytes: dict[str, int], acks_per_s: dict[str, float]) -> Iterator[Figure]:
    for name, own in counts.items():
        for phase in PHASES:
            if phase not in own:
                continue
            called = f"{name}: instructions per ACK, {phase.replace('-', ' ')}"
            figure: Figure = {"name": called, "value": round(own[phase], 1), "unit": "instructions"}
            most = f"at most {MOST_TIMES_CUBIC[phase] * counts[REFERENCE][phase]:.1f}"
            yield figure | {"target": most} if name in VERSIONS else figure
    for name, taken in memory_bytes.items():
        figure = {"name": f"{name}: memory per flow", "value": taken, "unit": "bytes"}
        yield figure | {"target": f"at most {SOCKET_BYTES}"} if name == "search31" else figure
    for name, rate in acks_per_s.items():
        called = f"{name}: ACKs replayed per second"
        yield {"name": called, "value": round(rate / 1e6), "unit": "million/s", "target": "at least 10"}


def compiled(kernel: Kernel, scratch: Path) -> Path:
    """Build the programs with the modules' objects; return their folder."""
    builder = image.ensure("builder")
    folder = scratch / "senders"
    folder.mkdir()
    for each in FOLDERS:
        shutil.copytree(each, folder / each.name)
    compile_ = Compile(builder.root, folder, lambda _steps: None, build.PLACE, kernel.linux.parent.parent)
    tree = ("make", "-C", "/build/obj", "ARCH=um")
    for name in (each.name for each in FOLDERS):  # each takes symbols of those before it
        compile_.run(*tree, f"M={build.PLACE}/{name}", "KBUILD_MODPOST_WARN=1", "modules", words=f"objects of {name}")
    compile_.run("make", "-s", "-C", f"{build.PLACE}/hooks", "KERNEL=/build/obj", words="programs")
    return folder / "hooks"


def instructions(programs: Path) -> Counts:
    """Count instructions per ACK of each sender's hooks, in slow start and after it, without those of the counting."""
    if not shutil.which("valgrind"):
        raise UserError("valgrind: must be there to count instructions: sudo apt-get install valgrind")
    names = sorted(file.name.removeprefix("run_") for file in programs.glob("run_*"))
    counts = {name: dict(_counts(programs / f"run_{name}")) for name in names}
    empty = counts.pop("none")
    return {
        name: {phase: all_ - empty[phase] for phase, all_ in counts[name].items()}
        for name in sorted(counts, key=lambda name: (name != REFERENCE, name))
    }


def _counts(program: Path) -> Iterator[tuple[str, float]]:
    """Yield a program's instructions per ACK in each phase, but of no slow start that the sender leaves meanwhile."""
    for phase in PHASES:
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]
        done = subprocess.run(
            [*command, "--toggle-collect=bench_count", program, phase, str(ROUNDS)],
            capture_output=True,
            text=True,
            check=False,
        )
        collected = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode or not collected or not int(collected[1]):
            raise UserError(f"callgrind: {program.name} {phase}: {(done.stderr.splitlines() or ['no output'])[-1]}")
        acks, exits = map(int, done.stdout.split())
        if phase != "slow-start" or not exits:
            yield phase, int(collected[1]) / acks


def flow_bytes(kernel: Kernel) -> dict[str, int]:
    """Return the memory of a flow of each version, CUBIC's included, as its module reports it."""
    world, ccas = image.ensure("world").root, load_ccas()
    modules = {name: load_module(ccas[name], kernel, world) for name in VERSIONS}
    values = {name: {p["name"]: p["value"] for p in module["parameters"]} for name, module in modules.items() if module}
    return {name: int(parameters["flow_bytes"]) for name, parameters in values.items()}


def replay_rate(library: Path, name: str, acks: int = ACKS) -> float:
    """Return ACKs per second of one replay, between Python arrays: a flow that doubles, then fills 1 Gb/s."""
    published = version(library, name)
    t_us = np.arange(acks, dtype=np.uint64) * np.uint64(12)
    rtt_us = np.full(acks, 100_000, dtype=np.int32)
    delivered = np.arange(acks, dtype=np.uint64) * np.uint64(1448)
    begun = time.monotonic()
    replay_bins(
        library,
        t_us,
        rtt_us,
        delivered,
        published.params,
        sent_bytes=delivered,
        compact=published.compact,
        stop_at_exit=False,
    )
    return acks / (time.monotonic() - begun)


if __name__ == "__main__":
    measure()
