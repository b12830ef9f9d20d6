# SPDX-License-Identifier: GPL-2.0-or-later
"""Booting the virtual kernel: User Mode Linux in virtual time, in a sandbox, as an ordinary process."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.backends import guest_code
from lab.backends.machine_memory import machine_mb
from lab.base import sandbox
from lab.kernel.build import Kernel
from lab.node.plan import CallPlan, Plan

EPOCH_NS = 1_700_000_000_000_000_000  # the date at which every virtual trial begins: no result depends on today's
GUEST = "lab.node.guest"
PATIENCE = 20  # wall seconds allowed per virtual second; a trial takes a fifth of one


class TrialError(Exception):
    """A trial without a result; its text is one line."""


@dataclass(frozen=True)
class Called:
    """The result of a function that ran in the virtual kernel, and everything that this kernel printed."""

    result: Any
    log: str


def run_plan(plan: Plan, folder: Path, kernel: Kernel, world: Path) -> None:
    """Boot a kernel that executes a plan and leaves its raw records in a folder."""
    if plan["memory_mb"] > machine_mb():
        raise TrialError(f"memory_mb={plan['memory_mb']}: must be at most {machine_mb()}, the memory of this machine")
    guest_plan: Plan = {"preload": "/lab/fewer_wakeups.so", **plan}
    options = [f"rng_seed={plan['seed']}", f"mem={plan['memory_mb']}M", "quiet"]
    done = _boot(guest_plan, options, folder, kernel, world, 120 + PATIENCE * plan["flows"][0]["duration_s"])
    _require(folder, "node.json", done)


def call(
    function: Callable[..., Any],
    arguments: dict[str, Any],
    folder: Path,
    kernel: Kernel,
    world: Path,
    *,
    seed: int = 1,
    memory_mb: int = 1024,
    patience_s: int = 300,
) -> Called:
    """Boot a kernel, call a function in it as root, and return its result.

    The function's module must import only the standard library, as all of lab.node does. Arguments and result are
    JSON. The kernel's messages are stored in the folder as kernel.log.
    """
    plan: CallPlan = {"call": {"module": function.__module__, "function": function.__name__, "arguments": arguments}}
    options = [f"rng_seed={seed}", f"mem={memory_mb}M", "loglevel=8"]
    done = _boot(plan, options, folder, kernel, world, patience_s, function.__module__)
    (folder / "kernel.log").write_text(done.stdout)
    _require(folder, "answer.json", done)
    return Called(json.loads((folder / "answer.json").read_text()), done.stdout)


def _require(folder: Path, file: str, done: "subprocess.CompletedProcess[str]") -> None:
    error = folder / "error.txt"
    if error.exists():
        raise TrialError(error.read_text().strip() or f"{folder.parent}: full: the node could not even write its error")
    if not (folder / file).exists():
        raise TrialError(f"virtual kernel: exit status {done.returncode}: {_last_line(done.stdout)}")


def _boot(
    plan: Plan | CallPlan,
    options: list[str],
    folder: Path,
    kernel: Kernel,
    world: Path,
    patience_s: float,
    module: str = GUEST,
) -> "subprocess.CompletedProcess[str]":
    """Boot and wait for the end; standard output is the kernel's console."""
    (folder / "plan.json").write_text(json.dumps(plan))
    sandbox.own_tree(folder)
    bound = {
        **guest_code.bound(world, module),
        kernel.linux: "/lab/linux",
        kernel.preload: "/lab/fewer_wakeups.so",
        kernel.modules: "/usr/lib/modules",
    }
    command = sandbox.command(world, _uml(options), writable={folder: "/trial"}, read_only=bound)
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=patience_s,
            text=True,
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TrialError(f"virtual kernel: no end after {patience_s} s") from None
    finally:
        sandbox.disown_tree(folder)


def _uml(options: list[str]) -> list[str]:
    return [
        "/lab/linux",
        "time-travel=inf-cpu",
        f"time-travel-start={EPOCH_NS}",
        *options,
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "rw",
        "con=null",
        "con0=fd:0,fd:1",
        f"PYTHONPATH={guest_code.ROOT}",
        "init=/usr/bin/python3",
        "--",
        "-S",
        "-m",
        GUEST,
    ]


def _last_line(console: str) -> str:
    lines = [line for line in console.splitlines() if "panic" in line.lower() or "error" in line.lower()]
    return (lines or console.splitlines() or ["the console is empty"])[-1].strip()[:300]
