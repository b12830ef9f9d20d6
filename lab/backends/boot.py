# SPDX-License-Identifier: GPL-2.0-or-later
"""Booting the virtual kernel: User Mode Linux in virtual time, as an ordinary process, sandboxed where possible."""

import json
import math
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.backends import guest_code, records, unprivileged
from lab.backends.guest_tree import LINUX, GuestTree
from lab.backends.machine_memory import machine_mb
from lab.backends.watched import Limits, Watched
from lab.base import ptrace, sandbox, sandbox_mode, scratch
from lab.base.errors import UserError
from lab.base.plain_file import read_plain
from lab.kernel.build import Kernel
from lab.node.plan import CallPlan, Plan

EPOCH_NS = 1_700_000_000_000_000_000  # the date at which every virtual trial begins: no result depends on today's
GUEST = "lab.node.guest"
FEW_BYTES = 16 << 20  # of a kernel that was ended
ROOM = "guest"  # below a trial's folder: all that the guest may write
ANSWER = "answer.json"  # of a call
MOST_ANSWER_BYTES = 512 << 20
LOG = "kernel.log"  # in a trial's folder: what its kernel printed
NO_PTRACE = re.compile(r"^ptrace: |check_ptrace : ", re.MULTILINE)  # arch/um/os-Linux/start_up.c
PATIENCE = 20  # wall seconds allowed per virtual second; a trial takes a fifth of one
PROCESSOR = 4  # processor seconds of the kernel's process allowed per virtual second; a trial takes a tenth of one


@dataclass(frozen=True)
class Called:
    """The result of a function that ran in the virtual kernel, and everything that this kernel printed."""

    result: Any
    log: str


def run_plan(plan: Plan, folder: Path, kernel: Kernel, world: Path, processor_s: float | None = None) -> None:
    """Boot a kernel that executes a plan and leaves its raw records in a folder.

    processor_s: what the kernel's process may take at most; default: what no trial of the lab needs.
    """
    if plan["memory_mb"] > machine_mb():
        raise records.TrialError(
            f"memory_mb={plan['memory_mb']}: must be at most {machine_mb()}, the memory of this machine"
        )
    guest_plan: Plan = {"preload": "/lab/fewer_wakeups.so", **plan}
    options = [f"rng_seed={plan['seed']}", f"mem={plan['memory_mb']}M", "quiet"]
    duration_s = plan["flows"][0]["duration_s"]
    most_s = 60 + PROCESSOR * duration_s if processor_s is None else processor_s
    limits = Limits(120 + PATIENCE * duration_s, most_s, records.most_bytes(plan), plan["memory_mb"])
    done = _boot(guest_plan, options, limits, folder, kernel, world)
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
    processor_s: float = math.inf,
    programs: bool = False,
    more: Mapping[str, Path] | None = None,
) -> Called:
    """Boot a kernel, call a function in it as root, and return its result.

    The function's module must import only the standard library, as all of lab.node does. Arguments and result are
    JSON.

    programs: count the processor time of the guest's programs, too; more: folders of the host that the guest can
    read, by its path for each.
    """
    plan: CallPlan = {"call": {"module": function.__module__, "function": function.__name__, "arguments": arguments}}
    options = [f"rng_seed={seed}", f"mem={memory_mb}M", "loglevel=8"]
    limits = Limits(patience_s, processor_s, records.most_bytes(plan), memory_mb, programs)
    done = _boot(plan, options, limits, folder, kernel, world, function.__module__, more)
    records.require(folder, ANSWER, _no_result(done))
    try:
        return Called(json.loads(read_plain(folder / ANSWER, MOST_ANSWER_BYTES)), done.stdout)
    except (ValueError, RecursionError, UserError):
        raise records.TrialError(f"virtual kernel: {ANSWER}: must be whole JSON") from None


def _boot(
    plan: Plan | CallPlan,
    options: list[str],
    limits: Limits,
    folder: Path,
    kernel: Kernel,
    world: Path,
    module: str = GUEST,
    more: Mapping[str, Path] | None = None,
) -> "subprocess.CompletedProcess[str]":
    """Boot, wait for the end and take the records; standard output is the kernel's console, stored as its log."""
    (folder / "plan.json").write_text(json.dumps(plan))
    with _room(folder) as room:
        code = guest_code.ensure(world, guest_code.package_of(module))
        tree = GuestTree(kernel, world, code, room.absolute(), more or {})
        with _command(tree, _uml(options)) as command:
            watched = Watched(command, room, limits)
            try:
                done = watched.run()
            except records.TrialError:
                with suppress(records.TrialError):  # what there is may show where it was
                    records.take(room, folder, FEW_BYTES)
                raise
            finally:
                (folder / LOG).write_text(watched.log)
        records.take(room, folder, limits.bytes)
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
    scratch.copy_folder(folder, room, ROOM)
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
