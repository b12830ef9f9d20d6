# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel's process from its start to its end: bounded in time, in what it writes, and in what it prints."""

import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

from lab.backends.processes import cpu_s, kernel_process, waits, whole_cpu_s
from lab.backends.records import TrialError, require_few
from lab.base import sandbox
from lab.base.processes import on_one_processor
from lab.node.system.tree import limits as limited
from lab.node.system.tree import memory_bytes, processes_of, tasks_of, unlinked_bytes

LOOK_S = 1.0  # between two looks at what it has written
OWN_BYTES = 1 << 30  # of memory, besides the guest's
GAP_BYTES = (1 << 30) + (8 << 20)  # in the file of the kernel's memory, besides the guest's (lab/kernel/patches/0006)
FIRST_CONSOLE_BYTES, MOST_CONSOLE_BYTES = 1 << 20, 4 << 20  # kept: the first ones, and the last ones
END_S = 10.0  # for a sandbox to end its processes
STUCK, LEAST_STUCK_S = 0.1, 20.0  # of the processor time that it may take, without a turn of its programs
LAST_WORDS_S = 2.0  # for a kernel to print where it was
USUAL_START_S = 0.01  # processor time of one start of an interpreter, on the machine on which the limits were set
STARTS = 5
SLEPT = b"BUG: scheduling while atomic"  # what a kernel prints of a hook that sleeps, before nothing of it is sure


@dataclass(frozen=True)
class Limits:
    """What a kernel may take; a kernel in an endless loop takes processor time and no virtual time.

    Times are those of a usual machine; a slower one has more: what ends is decided by the kernel, not by its machine.
    """

    wall_s: float
    processor_s: float
    bytes: int
    memory_mb: int
    programs: bool = False  # processor_s is also of the guest's programs, and not of its kernel alone


def together(limits: list[Limits]) -> Limits:
    """Return what a kernel may take that does several things one after another."""
    return Limits(
        sum(each.wall_s for each in limits),
        sum(each.processor_s for each in limits),
        sum(each.bytes for each in limits),
        max(each.memory_mb for each in limits),
    )


class NoEnd(TrialError):
    """A kernel that took all of its time."""


class Watched:
    """A process that may write `rooms` only, with its console, and with a channel that it inherits."""

    def __init__(
        self, command: list[str], rooms: Sequence[Path], limits: Limits, channel: socket.socket | None = None
    ) -> None:
        self.rooms, self.limits, self.channel = rooms, limits, channel
        self.console = bytearray()
        self.slept = False
        self.turn = 0, 0.0  # how often the kernel has waited, and the processor time at which that was first seen
        self.largest = max(limits.bytes, GAP_BYTES) + (limits.memory_mb << 20)  # the kernel's memory is a file, too
        self.command = [*limited(self.largest), *command]

    @property
    def log(self) -> str:
        """Return what it has printed."""
        return self.console.decode(errors="replace")

    def run(self) -> "subprocess.CompletedProcess[str]":
        """Run it to its end; TrialError where it does not end, or writes too much."""
        inherited = [self.channel.fileno()] if self.channel else []
        with on_one_processor():
            started = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=inherited,
                start_new_session=bool(inherited),  # a prompt's Ctrl-C is for the command that runs, not the kernel
            )
        with started as process:
            assert process.stdout
            if self.channel:
                self.channel.close()  # the other end sees the process's end
            os.set_blocking(process.stdout.fileno(), False)
            try:
                self._watch(process, process.stdout)
            finally:
                _end(process)
        return subprocess.CompletedProcess(self.command, process.returncode, self.log)

    def _watch(self, process: "subprocess.Popen[bytes]", console: IO[bytes]) -> None:
        begun_s = time.monotonic()
        look_s = time.monotonic() + LOOK_S
        ended = os.pidfd_open(process.pid)
        try:
            open_files: list[Any] = [ended, console]
            while True:
                ready, _, _ = select.select(open_files, [], [], LOOK_S)
                if console in ready and not self._read(console):
                    open_files.remove(console)
                if ended in ready:
                    break
                if _exceeds(time.monotonic() - begun_s, self.limits.wall_s):
                    raise NoEnd(f"virtual kernel: no end after {self.limits.wall_s:g} s")
                if time.monotonic() > look_s:
                    self._require_awake()
                    self._require_little(process.pid)
                    self._require_progress(process.pid, console)
                    look_s = time.monotonic() + LOOK_S
        finally:
            os.close(ended)
        while self._read(console):
            pass
        process.wait()
        self._require_awake()

    def _require_awake(self) -> None:
        """Raise TrialError where a hook slept in the midst of a packet: it may never end, or leave anything behind."""
        if self.slept:
            raise NoEnd("virtual kernel: a hook sleeps (scheduling while atomic)")

    def _require_little(self, pid: int) -> None:
        """Raise TrialError where all processes together hold too much: threads, memory, files with or without name.

        The file of the guest's memory has no name either.
        """
        tree, own = processes_of(pid), self.limits.memory_mb << 20
        if (tasks := len(tasks_of(tree))) > sandbox.MOST_PROCESSES:
            raise TrialError(f"virtual kernel: processes={tasks}: must be at most {sandbox.MOST_PROCESSES}")
        held = memory_bytes(tree, shared=False)
        if held > own + OWN_BYTES:
            raise TrialError(f"virtual kernel: memory_bytes={held}: must be at most {own + OWN_BYTES}")
        require_few(self.rooms, self.limits.bytes, max(unlinked_bytes(tree, self.largest) - own, 0))

    def _require_progress(self, pid: int, console: IO[bytes]) -> None:
        """Raise TrialError where the kernel has taken too much processor time; it first prints where it is."""
        kernel = kernel_process(pid)
        if kernel is None or not (endless := self._endless(kernel)):
            return
        os.kill(kernel, signal.SIGSEGV)  # User Mode Linux takes it for a fault of its own: registers, call trace, panic
        end_s = time.monotonic() + LAST_WORDS_S
        while time.monotonic() < end_s and b"Kernel panic" not in self.console:
            select.select([console], [], [], end_s - time.monotonic())
            if not self._read(console):
                break
        raise NoEnd(f"virtual kernel: {endless} s of processor time")

    def _endless(self, kernel: int) -> str:
        """Return what takes too much processor time; nothing where nothing does."""
        most_s = self.limits.processor_s
        used_s = whole_cpu_s if self.limits.programs else cpu_s
        if _exceeds(used_s(kernel), most_s):
            return f"no end after {most_s:.0f}"
        own_s, turns, stuck_s = cpu_s(kernel), waits(kernel), max(LEAST_STUCK_S, STUCK * most_s)
        if turns != self.turn[0]:
            self.turn = turns, own_s
        return (
            f"a hook does not return: no program ran for {stuck_s:.0f}"
            if _exceeds(own_s - self.turn[1], stuck_s)
            else ""
        )

    def _read(self, console: IO[bytes]) -> bool:
        """Read what has been printed; return whether there may be more."""
        chunk = console.read(1 << 16)
        self.console += chunk or b""
        self.slept |= SLEPT in self.console[-len(chunk or b"") - len(SLEPT) :]
        if (extra := len(self.console) - MOST_CONSOLE_BYTES) > 0:
            del self.console[FIRST_CONSOLE_BYTES : FIRST_CONSOLE_BYTES + extra]
        return bool(chunk)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a sandbox, which takes all that it has started along."""
    process.terminate()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()


def _exceeds(used_s: float, most_s: float) -> bool:
    return used_s >= most_s and used_s >= most_s * slowness()  # measured when a limit is reached, and not before


@cache
def slowness() -> float:
    """Return how many times the usual processor time it takes to start an interpreter here, at least 1.

    Limits are so many times wider: they end programs and no machine. A start is like the work of a virtual kernel:
    system calls and page faults, and little computing.
    """
    return max(1.0, min(_start_s() for _ in range(STARTS)) / USUAL_START_S)


def _start_s() -> float:
    before_s = _children_s()
    subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=True)
    return _children_s() - before_s


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
