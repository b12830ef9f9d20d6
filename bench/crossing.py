# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets sent over one link at given times, in the virtual kernel or in the running one, and what became of them.

What runs in the kernel is bench/node/crossing.py.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from lab_vm.machine import Machine

from bench.node import crossing
from lab.backends import boot
from lab.backends.records import TrialError
from lab.base import paths
from lab.base.errors import UserError
from lab.kernel.build import Kernel
from lab.node.plan import Spec

Record = dict[str, Any]  # what bench/node/crossing.py takes and reports
Run = Callable[[Record, Path], Record]  # plan and folder in, what the node reports out
Packets = npt.NDArray[np.uint64]
FULL_BYTES = 1514
MEMORY_MB = 512
PATIENCE, MOST_PATIENCE_S = 60, 3600  # wall seconds allowed for a second of the link, and in all


@dataclass(frozen=True)
class Arrivals:
    """What arrived: packets with sent_s and received_s since t = 0, and what the qdisc reported."""

    packets: pl.DataFrame  # number, frame_bytes, sent_s, received_s (null: lost); in the order of sending
    order: pl.Series  # numbers in the order of arrival
    record: Record

    @property
    def statistics(self) -> Record:
        """Return what the lab's own qdisc counted."""
        counted: Record = next(iter(self.record["statistics"].values()))
        return counted

    @property
    def received(self) -> pl.DataFrame:
        return self.packets.drop_nulls()

    @property
    def reordered_pkts(self) -> int:
        """Count packets that came after one that was sent later."""
        return int((self.order < self.order.cum_max()).sum())


def at_pace(rate_mbps: float, from_s: float, to_s: float, frame_bytes: int = FULL_BYTES) -> Packets:
    """List packets of one size at a constant rate: rows of (ns, bytes)."""
    step_ns = frame_bytes * 8e3 / rate_mbps
    times = np.arange(from_s * 1e9, to_s * 1e9, step_ns).astype(np.uint64)
    return np.column_stack([times, np.full_like(times, frame_bytes)])


def in_virtual(kernel: Kernel, world: Path) -> Run:
    """Return how a link is measured in the virtual kernel."""

    def run(plan: Record, folder: Path) -> Record:
        arguments = {"plan": plan, "folder": "/trial"}
        patience_s = round(min(PATIENCE * (2 + plan["duration_s"]), MOST_PATIENCE_S))
        called = boot.call(crossing.cross, arguments, folder, kernel, world, memory_mb=MEMORY_MB, patience_s=patience_s)
        answer: Record = called.result
        return answer

    return run


def here(plan: Record, folder: Path) -> Record:
    """Measure a link in the running kernel, in real time; UserError where that is not root's."""
    if os.geteuid():
        raise UserError("--where host: must be run as root: it makes network namespaces and qdiscs")
    (folder / "crossing.json").write_text(json.dumps(plan | {"clock": "real"}))
    done = subprocess.run(
        [sys.executable, "-m", "bench.node.crossing", str(folder)],
        cwd=paths.REPO,
        capture_output=True,
        text=True,
        timeout=120 + 2 * plan["duration_s"],
        check=False,
    )
    if done.returncode:
        raise TrialError((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])
    answer: Record = json.loads((folder / "answer.json").read_text())
    return answer


def on(machine: Machine) -> Run:
    """Return how a link is measured on a machine that ssh reaches, in real time."""

    def run(plan: Record, folder: Path) -> Record:
        (folder / "crossing.json").write_text(json.dumps(plan | {"clock": "real"}))
        output = machine.execute("bench.node.crossing", folder, 300 + 2 * plan["duration_s"])
        if not (folder / "answer.json").exists():
            raise TrialError(f"{machine.name}: {(output.strip().splitlines() or ['no answer'])[-1]}")
        answer: Record = json.loads((folder / "answer.json").read_text())
        return answer

    return run


def cross(
    run: Run,
    folder: Path,
    spec: Spec,
    packets: Packets,
    duration_s: float,
    file: str | None = None,
    steps: list[Record] | None = None,
) -> Arrivals:
    """Send packets (rows of ns and bytes, in order) over a link; `file`, in the folder, or `steps` change it.

    Raise TrialError with the node's message where a part of it was refused.
    """
    (folder / "sent.bin").write_bytes(packets.astype("<u8").tobytes())
    record = run({"spec": spec, "file": file, "steps": steps, "duration_s": duration_s}, folder)
    return _arrivals(folder, packets, record)


def _arrivals(folder: Path, packets: Packets, record: Record) -> Arrivals:
    log = np.fromfile(folder / "received.bin", dtype="<u8").reshape(-1, 3).astype(np.int64)
    got = pl.DataFrame(
        {
            "number": log[:, 0],
            "sent_s": (log[:, 1] - record["start_ns"]) / 1e9,
            "received_s": (log[:, 2] - record["start_ns"]) / 1e9,
        }
    )
    sent = pl.DataFrame({"number": np.arange(len(packets)), "frame_bytes": packets[:, 1].astype(np.int64)})
    return Arrivals(sent.join(got, on="number", how="left").sort("number"), got["number"], record)
