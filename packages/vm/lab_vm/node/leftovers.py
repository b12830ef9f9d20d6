# SPDX-License-Identifier: GPL-2.0-or-later
"""What a trial makes of the machine it runs on, written down first, so that it can be removed after a killed one."""

import json
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from lab.node.measure import trace
from lab.node.net import namespace, netns, sysctl
from lab.node.qdiscs import link
from lab.node.system import modules
from lab.node.system.tools import NodeError, run
from lab_vm.node import containerlab
from lab_vm.node.named import let_go

if TYPE_CHECKING:
    from lab.node.plan import Plan

CLAIM = "claim.json"


class Claim(TypedDict):
    """claim.json: the machine as it was, and what a trial makes of it."""

    engine: str
    nodes: list[str]
    sysctls: dict[str, str]  # their values before
    modules: list[str]  # those that were not loaded


def needed(plan: "Plan") -> list[str]:
    """Name every module that a plan loads: its sender's and its qdiscs'."""
    return [*(module["name"] for module in plan["modules"]), *link.modules_of([*plan["shapes"], *plan["egress"]])]


@contextmanager
def claimed(state: Path, plan: "Plan") -> Iterator[None]:
    """Write down what the block will make; NodeError where somebody else's node has a name that it needs."""
    nodes = list(plan["topology"]["nodes"])
    taken = sorted(set(nodes) & set(namespace.named()))
    if taken:
        raise NodeError(f"ip netns: {taken[0]}: must not exist: it is not of this lab: delete or rename it")
    before: Claim = {
        "engine": plan.get("engine", "netns"),
        "nodes": nodes,
        "sysctls": sysctl.read(None, plan["sysctls"]["kernel"]),
        "modules": [name for name in needed(plan) if not modules.loaded(name)],
    }
    (state / CLAIM).write_text(json.dumps(before))
    try:
        yield
    finally:
        (state / CLAIM).unlink()


def clear(state: Path) -> list[str]:
    """Remove what a killed trial left; returns one line for each. The caller holds the lock, so that none runs."""
    if not (state / CLAIM).exists():
        return []
    claim: Claim = json.loads((state / CLAIM).read_text())
    removed = [f"network namespace {name}" for name in claim["nodes"] if name in namespace.named()]
    removed += [f"process {process}" for name in claim["nodes"] for process in _end_processes(name)]
    let_go([name for name in claim["nodes"] if name in namespace.named()])
    netns.unname(claim["nodes"])
    if claim["engine"] == "containerlab" and shutil.which("docker"):
        containerlab.destroy()
        removed.append("containers of containerlab")
    if trace.TRACEFS.exists():
        trace.TRACEFS.rmdir()
        removed.append("trace instance search-lab")
    sysctl.pin(None, claim["sysctls"])
    modules.unload(claim["modules"])
    (state / CLAIM).unlink()
    return removed


def clear_folders(place: Path) -> list[str]:
    """Remove folders that plans were brought in, but for the one that this code came in; returns one line each."""
    left = [folder for folder in sorted(place.glob("search-lab-*")) if folder not in Path(__file__).parents]
    for folder in left:
        shutil.rmtree(folder)
    return [f"folder {folder}" for folder in left]


def _end_processes(node: str) -> Iterator[int]:
    """Kill what still runs in a node: iperf3, dumpcap, Mininet's shell."""
    if node not in namespace.named():
        return
    for process in map(int, run("ip", "netns", "pids", node).split()):
        if process != os.getpid():
            os.kill(process, signal.SIGKILL)
            yield process
