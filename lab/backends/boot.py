# SPDX-License-Identifier: GPL-2.0-or-later
"""Booting the virtual kernel: User Mode Linux in virtual time, as an ordinary process, sandboxed where possible."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.backends import guest_code, records, unprivileged
from lab.backends.guest_tree import LINUX, GuestTree
from lab.backends.machine_memory import machine_mb
from lab.backends.watched import Watched
from lab.base import ptrace, sandbox, sandbox_mode, scratch
from lab.kernel.build import Kernel
from lab.node.plan import CallPlan, Plan

EPOCH_NS = 1_700_000_000_000_000_000  # the date at which every virtual trial begins: no result depends on today's
GUEST = "lab.node.guest"
ROOM = "guest"  # below a trial's folder: all that the guest may write
NO_PTRACE = re.compile(r"^ptrace: |check_ptrace : ", re.MULTILINE)  # arch/um/os-Linux/start_up.c
PATIENCE = 20  # wall seconds allowed per virtual second; a trial takes a fifth of one


@dataclass(frozen=True)
class Called:
    """The result of a function that ran in the virtual kernel, and everything that this kernel printed."""

    result: Any
    log: str


def run_plan(plan: Plan, folder: Path, kernel: Kernel, world: Path) -> None:
    """Boot a kernel that executes a plan and leaves its raw records in a folder."""
    if plan["memory_mb"] > machine_mb():
        raise records.TrialError(
            f"memory_mb={plan['memory_mb']}: must be at most {machine_mb()}, the memory of this machine"
        )
    guest_plan: Plan = {"preload": "/lab/fewer_wakeups.so", **plan}
    options = [f"rng_seed={plan['seed']}", f"mem={plan['memory_mb']}M", "quiet"]
    patience_s = 120 + PATIENCE * plan["flows"][0]["duration_s"]
    done = _boot(guest_plan, options, plan["memory_mb"], folder, kernel, world, patience_s)
    records.require(folder, "node.json", _no_result(done))


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
    done = _boot(plan, options, memory_mb, folder, kernel, world, patience_s, function.__module__)
    (folder / "kernel.log").write_text(done.stdout)
    records.require(folder, "answer.json", _no_result(done))
    return Called(json.loads((folder / "answer.json").read_text()), done.stdout)


def _boot(
    plan: Plan | CallPlan,
    options: list[str],
    memory_mb: int,
    folder: Path,
    kernel: Kernel,
    world: Path,
    patience_s: float,
    module: str = GUEST,
) -> "subprocess.CompletedProcess[str]":
    """Boot, wait for the end and take the records; standard output is the kernel's console."""
    (folder / "plan.json").write_text(json.dumps(plan))
    most = records.most_bytes(plan)
    with _room(folder) as room:
        tree = GuestTree(kernel, world, guest_code.ensure(world, guest_code.package_of(module)), room.absolute())
        with _command(tree, _uml(options)) as command:
            done = Watched(command, room, most, memory_mb).run(patience_s)
        records.take(room, folder, most)
    return done


@contextmanager
def _command(tree: GuestTree, argv: list[str]) -> Iterator[list[str]]:
    """Yield the command that runs a kernel, in a sandbox or without one."""
    if sandbox_mode.mode() == sandbox_mode.NONE:
        with unprivileged.command(tree, argv) as command:
            yield command
    else:
        sandbox.own_tree(tree.room)
        read_only, writable, environment = tree.bound()
        yield sandbox.command(tree.world, argv, read_only=read_only, writable=writable, environment=environment)


@contextmanager
def _room(folder: Path) -> Iterator[Path]:
    """Copy a folder into one that a guest may write, removed when the block ends."""
    room = folder / ROOM
    shutil.copytree(folder, room, ignore=shutil.ignore_patterns(ROOM))
    try:
        yield room
    finally:
        scratch.remove(room)


def _uml(options: list[str]) -> list[str]:
    return [
        LINUX,
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


def _no_result(done: "subprocess.CompletedProcess[str]") -> str:
    if NO_PTRACE.search(done.stdout):
        return f"virtual kernel: ptrace: {ptrace.ADVICE}"
    return f"virtual kernel: exit status {done.returncode}: {_last_line(done.stdout)}"


def _last_line(console: str) -> str:
    lines = [line for line in console.splitlines() if "panic" in line.lower() or "error" in line.lower()]
    return (lines or console.splitlines() or ["the console is empty"])[-1].strip()[:300]
