# SPDX-License-Identifier: GPL-2.0-or-later
"""Booting the virtual kernel: User Mode Linux in virtual time, as an ordinary process, sandboxed where possible."""

import json
import math
import re
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lab.backends import guest_code, records, unprivileged
from lab.backends.guest_tree import LINUX, GuestTree
from lab.backends.watched import Limits, NoEnd, Watched, together
from lab.base import enter, ptrace, sandbox, sandbox_mode, scratch
from lab.base.errors import UserError
from lab.base.plain_file import read_plain
from lab.base.processes import machine_mb
from lab.base.remove import remove
from lab.kernel.build import Kernel
from lab.node.guest import BEGINS
from lab.node.measure.splats import PLACE
from lab.node.plan import CallPlan, Plan, SeveralPlans
from lab.node.qdiscs.qdisc_kind import FRAME_BYTES

EPOCH_NS = 1_700_000_000_000_000_000  # the date at which every virtual trial begins: no result depends on today's
GUEST = "lab.node.guest"
FEW_BYTES = 16 << 20  # of a kernel that was ended
ROOM = "guest"  # below a trial's folder: all that the guest may write
ANSWER = "answer.json"  # of a call
MOST_ANSWER_BYTES = 512 << 20
NO_PTRACE = re.compile(r"^ptrace: |check_ptrace : ", re.MULTILINE)  # arch/um/os-Linux/start_up.c
SILENT = "it printed nothing: env, bwrap, prlimit and setpriv of PATH must be the system's"
PATIENCE = 20  # wall seconds allowed per virtual second; a trial takes a fifth of one
PER_PACKET_S = 2e-4  # the same per packet that the link can carry, where that is more: above 240 Mb/s
PROCESSOR = 4  # processor seconds of the kernel's process allowed per virtual second; a trial takes a tenth of one
PROGRAMS = 4  # times as much where the programs of a user's stack count, too: Python has them


@dataclass(frozen=True)
class Called:
    """The result of a function that ran in the virtual kernel, and everything that this kernel printed."""

    result: Any
    log: str


@dataclass(frozen=True)
class Work:
    """What a kernel is booted for."""

    plan: Plan | CallPlan | SeveralPlans
    options: list[str]  # on the kernel's command line
    limits: Limits
    folder: Path  # of its inputs and its records
    module: str = GUEST  # whose package it imports
    more: Mapping[str, Path] = field(default_factory=dict)
    parts: Sequence[Path] = ()  # folders of several plans: each is below its room while it runs
    channel: socket.socket | None = None  # of a prompt: the kernel's second terminal
    calls: str = enter.KERNEL  # of enter.KERNELS


def run_plan(
    plan: Plan,
    folder: Path,
    kernel: Kernel,
    world: Path,
    processor_s: float | None = None,
    more: Mapping[str, Path] | None = None,
) -> None:
    """Boot a kernel that executes a plan and leaves its raw records in a folder.

    processor_s: what the kernel's process may take at most; default: what no trial of the lab needs. With programs of
    a user, theirs counts, too. more: folders of the host that the guest can read, by its path for each.
    """
    limits = replace(_limits(plan), programs="stack" in plan["flows"][0])
    if limits.programs:
        limits = replace(limits, processor_s=PROGRAMS * limits.processor_s)
    if processor_s is not None:
        limits = replace(limits, processor_s=processor_s)
    options = _options(plan["seed"], limits.memory_mb)
    try:
        done = _boot(Work(_in_guest(plan), options, limits, folder, _module(plan), more or {}), kernel, world)
    except NoEnd as error:
        raise NoEnd(f"{error}{_place((folder / records.LOG).read_text(), plan)}") from None
    records.require(folder, "node.json", _no_result(done))


def _place(log: str, plan: Plan) -> str:
    """Return the innermost function of a user's module in the first call trace of a kernel that was ended."""
    own = {module["name"] for module in plan["modules"] if "file" in module}
    found = (f", in {name}+0x{offset} of {module}" for name, offset, module in PLACE.findall(log) if module in own)
    return next(found, "")


def run_plans(plans: Mapping[Path, Plan], folder: Path, kernel: Kernel, world: Path) -> None:
    """Boot one kernel that executes several plans one after another, each as if the kernel had booted for it.

    plans: by the folder of each one's inputs and records; folder: an empty one, for the kernel itself. TrialError
    where the kernel has not come to its end; a plan that failed, or was not begun, has left no node.json.
    """
    for each, plan in plans.items():
        (each / "plan.json").write_text(json.dumps(_in_guest(plan)))
    first, *_ = plans.values()
    limits = together([_limits(plan) for plan in plans.values()])
    several: SeveralPlans = {"several": [each.name for each in plans]}
    options = _options(first["seed"], limits.memory_mb)
    calls = enter.TRAPPING if kernel.traps else enter.KERNEL  # here, no module or program is a user's
    work = Work(several, options, limits, folder, parts=[*plans], calls=calls)
    done = _boot(work, kernel, world)
    if done.returncode:
        raise records.TrialError(_no_result(done))


def run_prompt(plan: Plan, folder: Path, kernel: Kernel, world: Path, channel: socket.socket) -> None:
    """Boot a kernel that executes what comes over a channel until its other end closes; this end is closed here.

    Nothing bounds its time: it lasts as long as its user wants.
    """
    with channel:
        limits = replace(_limits(plan), wall_s=math.inf, processor_s=math.inf)
        options = _options(plan["seed"], limits.memory_mb)
        work = Work(_in_guest(plan), options, limits, folder, _module(plan), channel=channel)
        done = _boot(work, kernel, world)
    records.require(folder, "node.json", _no_result(done))


def _module(plan: Plan) -> str:
    """Return the module that does a plan's work, where that is a package's."""
    return plan.get("work", "").rpartition(".")[0] or GUEST


def _in_guest(plan: Plan) -> Plan:
    return {"preload": "/lab/fewer_wakeups.so", **plan}


def _options(seed: int, memory_mb: int) -> list[str]:
    return [f"rng_seed={seed}", f"mem={memory_mb}M", "quiet"]


def _limits(plan: Plan) -> Limits:
    if plan["memory_mb"] > machine_mb():
        raise records.TrialError(
            f"memory_mb={plan['memory_mb']}: must be at most {machine_mb()}, the memory of this machine"
        )
    duration_s = plan["flows"][0]["duration_s"]
    busy = plan["link"]["rate_mbps"] * 1e6 / 8 / FRAME_BYTES * PER_PACKET_S
    wall_s, processor_s = 120 + max(PATIENCE, busy) * duration_s, 60 + max(PROCESSOR, busy) * duration_s
    return Limits(wall_s, processor_s, records.most_bytes(plan), plan["memory_mb"])


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
    work = Work(plan, options, limits, folder, function.__module__, more or {})
    done = _boot(work, kernel, world)
    records.require(folder, ANSWER, _no_result(done))
    try:
        return Called(json.loads(read_plain(folder / ANSWER, MOST_ANSWER_BYTES)), done.stdout)
    except (ValueError, RecursionError, UserError):
        raise records.TrialError(f"virtual kernel: {ANSWER}: must be whole JSON") from None


def _boot(work: Work, kernel: Kernel, world: Path) -> "subprocess.CompletedProcess[str]":
    """Boot, wait for the end and take the records; standard output is the kernel's console, stored as its log."""
    (work.folder / "plan.json").write_text(json.dumps(work.plan))
    with _room(work) as room:
        code = guest_code.ensure(world, guest_code.package_of(work.module))
        tree = GuestTree(kernel, world, code, room.absolute(), work.more)
        with _command(tree, _uml(work), work.calls) as command:
            home = room.parent / unprivileged.HOME  # without bubblewrap
            rooms = [room, home] if home.exists() else [room]
            watched = Watched(command, rooms, work.limits, work.channel)
            try:
                done = watched.run()
            except records.TrialError:
                with suppress(records.TrialError):  # what there is may show where it was
                    records.take(room, work.folder, FEW_BYTES)
                raise
            finally:
                _keep_log(work, watched.log)
        for part in work.parts:
            records.take(room / part.name, part, work.limits.bytes)
        if not work.parts:
            records.take(room, work.folder, work.limits.bytes)
    return done


def _keep_log(work: Work, log: str) -> None:
    """Store the log; each of several plans gets what was printed from its begin to the next one's."""
    (work.folder / records.LOG).write_text(log)
    sections = {name.rstrip(): printed for name, _, printed in (each.partition("\n") for each in log.split(BEGINS))}
    for part in work.parts:
        (part / records.LOG).write_text(sections.get(part.name, ""))


@contextmanager
def _command(tree: GuestTree, argv: list[str], calls: str) -> Iterator[list[str]]:
    """Yield the command that runs a kernel, in a sandbox or without one."""
    if sandbox_mode.mode() == sandbox_mode.NONE:
        with unprivileged.command(tree, argv, calls) as command:
            yield command
    else:
        sandbox.own_tree(tree.room)
        read_only, writable, environment = tree.bound()
        yield sandbox.command(
            tree.world, argv, read_only=read_only, writable=writable, environment=environment, calls=calls
        )


@contextmanager
def _room(work: Work) -> Iterator[Path]:
    """Copy the folders of a work into one that a guest may write, removed when the block ends."""
    room = work.folder / ROOM
    scratch.copy_folder(work.folder, room, ROOM)
    try:
        for part in work.parts:
            scratch.copy_folder(part, room / part.name)
        yield room
    finally:
        remove(room)


def _uml(work: Work) -> list[str]:
    real = work.plan.get("clock") == "real"
    return [
        LINUX,
        *([] if real else ["time-travel=inf-cpu", f"time-travel-start={EPOCH_NS}"]),
        *work.options,
        *(["seccomp=auto"] if work.calls == enter.TRAPPING else []),  # by ptrace where the host refuses filters
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "rw",
        "con=null",
        "con0=fd:0,fd:1",
        *([f"con1=fd:{work.channel.fileno()}"] if work.channel else []),
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
    printed = done.stdout.splitlines()
    errors = [line for line in printed if "panic" in line.lower() or "error" in line.lower()]
    last = (errors or printed or [SILENT])[-1]
    return f"virtual kernel: exit status {done.returncode}: {last.strip()[:300]}"
