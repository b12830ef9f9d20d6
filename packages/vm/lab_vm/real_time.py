# SPDX-License-Identifier: GPL-2.0-or-later
"""What the backends `host` and `vm` have in common: plans for a real clock, and what a node leaves behind."""

import getpass
import os
import platform
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import yaml

from lab.backends import records
from lab.base import paths
from lab.node.plan import Plan, Shape, Spec
from lab.schema.topology import Topology

TIMER_LATE_S = 0.0005  # under software emulation
GRACE_S = 300  # beyond a download's own time: bringing containers up on a slow machine, and taking them down


@dataclass(frozen=True)
class RealTime:
    """A backend whose kernel runs already: one trial at a time, by this machine's own worker."""

    kind: ClassVar[str]
    required_files: ClassVar[list[Path]] = []
    engine: str
    own_modules: Mapping[str, Path] = field(default_factory=dict, kw_only=True)

    def adapt(self, plan: Plan, folder: Path, topology: Topology) -> Plan:
        """Return the plan for real time."""
        add_topology(folder, self.engine, topology)
        return in_real_time(plan, self.engine)


def in_real_time(plan: Plan, engine: str) -> Plan:
    """Return a plan as a real kernel executes it, with its engine."""
    punctual = roomy if plan.get("shaper") == "netem" else _punctual
    shapes: list[Shape] = [{**shape, "spec": punctual(shape["spec"])} for shape in plan["shapes"]]
    return {**plan, "clock": "real", "preload": None, "engine": engine, "holder": holder(), "shapes": shapes}


def _punctual(spec: Spec) -> Spec:
    """Return a constant rate in the form that suits late timers: tbf loses the time, `replay` keeps its own clock.

    Under software emulation, where timers are half a millisecond late, tbf of 10 Mb/s carries 9.2 and `replay` 10.0.
    """
    if spec["kind"] != "tbf":
        return spec
    rate = {"kind": "replay", "mode": "rate", "start_bps": spec["rate_bps"], "overhead_bytes": 0}
    return rate | {"limit_bytes": spec["limit_bytes"], "child": None}


def roomy(spec: Spec) -> Spec:
    """Return tbf with a bucket for what passes while its timer is late: tc alone has nothing better."""
    if spec["kind"] != "tbf":
        return spec
    return spec | {"burst_bytes": spec["burst_bytes"] + round(spec["rate_bps"] / 8 * TIMER_LATE_S)}


def holder() -> str:
    """Name this command, user, machine and process, for a command that finds the machine in use."""
    command = " ".join(["lab", *sys.argv[1:]])
    return f"'{command}' of {getpass.getuser()} on {platform.node()}, process {os.getpid()}"


def add_topology(folder: Path, engine: str, topology: Topology) -> None:
    """Put a topology's file into a trial's folder, for the engines that bring up the file themselves.

    It holds what the lab read, and nothing that it passed over.
    """
    if engine in ("containerlab", "mininet"):
        (folder / "topology").mkdir()
        text = yaml.safe_dump(topology.plain(), sort_keys=False)
        (folder / "topology" / "topology.clab.yml").write_text(text)
        shutil.copy(paths.TOPOLOGIES / "mininet.py", folder / "topology")


def patience_s(plan: Plan) -> float:
    """Return the wall time after which an execution is stopped."""
    return float(GRACE_S + 2 * plan["flows"][0]["duration_s"])


def require_records(folder: Path, where: str, output: str) -> None:
    """Raise TrialError with the node's own error, or if it left no records."""
    lines = output.strip().splitlines() or ["the node was killed, or the connection was lost"]
    records.require(folder, "node.json", f"{where}: no result: {lines[-1][:300]}")
