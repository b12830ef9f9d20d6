# SPDX-License-Identifier: GPL-2.0-or-later
"""A place where plans are executed, and how: in the virtual kernel, on this machine's own, or on another machine's."""

import getpass
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Any, Protocol

from lab.backends.boot import TrialError
from lab.base import paths
from lab.schema.topology import topology_files

ENGINES = ("netns", "containerlab", "mininet", "pair")
REAL_TIME: dict[str, Any] = {"clock": "real", "preload": None}
GRACE_S = 300  # beyond a download's own time: bringing containers up on a slow machine, and taking them down


class Place(Protocol):
    """What a trial needs of it."""

    @property
    def backend(self) -> str:
        """Where the kernel runs."""

    @property
    def engine(self) -> str:
        """What builds the network."""

    def worded(self, plan: dict[str, Any]) -> dict[str, Any]:
        """Return a plan as it is executed here."""

    def run_plan(self, plan: dict[str, Any], folder: Path) -> None:
        """Execute a plan and leave its raw records in a folder; TrialError where there are none."""


def in_real_time(plan: dict[str, Any], engine: str) -> dict[str, Any]:
    """Return a plan as a real kernel executes it, with an engine."""
    shapes = [shape | {"spec": _punctual(shape["spec"])} for shape in plan["shapes"]]
    return plan | REAL_TIME | {"engine": engine, "holder": holder(), "shapes": shapes}


def _punctual(spec: dict[str, Any]) -> dict[str, Any]:
    """Word a constant rate for timers that are late: tbf forgets the time it lost, `replay` keeps to its own clock.

    Under software emulation, where timers are half a millisecond late, tbf of 10 Mb/s carries 9.2 and `replay` 10.0.
    """
    if spec["kind"] != "tbf":
        return spec
    rate = {"kind": "replay", "mode": "rate", "start_bps": spec["rate_bps"], "overhead_bytes": 0}
    return rate | {"limit_bytes": spec["limit_bytes"], "child": None}


def holder() -> str:
    """Name this command, for whoever finds it in his way."""
    words = " ".join(["lab", *sys.argv[1:]])
    return f"'{words}' of {getpass.getuser()} on {platform.node()}, process {os.getpid()}"


def add_topology(folder: Path, engine: str, name: str) -> None:
    """Put a topology's files into a trial's folder, for the engines that bring up the files themselves."""
    if engine in ("containerlab", "mininet"):
        shutil.copytree(topology_files()[name].parent, folder / "topology")
        shutil.copy(paths.TOPOLOGIES / "mininet.py", folder / "topology")


def patience_s(plan: dict[str, Any]) -> float:
    """Return after how long an execution is given up."""
    return float(GRACE_S + 2 * plan["flows"][0]["duration_s"])


def require_records(folder: Path, where: str, said: str) -> None:
    """Raise what a node told, or that it left nothing."""
    error = folder / "error.txt"
    if error.exists():
        raise TrialError(error.read_text().strip() or f"{folder.parent}: full: the node could not write even why")
    if not (folder / "node.json").exists():
        lines = said.strip().splitlines() or ["it was killed, or went away"]
        raise TrialError(f"{where}: no result: {lines[-1][:300]}")
