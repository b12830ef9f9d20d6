# SPDX-License-Identifier: GPL-2.0-or-later
"""The host's end of a prompt in a virtual kernel (node/shell.py has the other one).

The kernel is stopped while there is no line for it: its clock stands, and it takes no processor time.
"""

import json
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lab.backends import boot
from lab.backends.processes import kernel_process
from lab.backends.records import TrialError
from lab.base.errors import field_error
from lab.kernel.build import Kernel
from lab.node.plan import Plan
from lab.node.system.task import Task
from lab_shell.node.shell import INTERRUPT, PIECE_BYTES, TAKEN

AGAIN_S = 0.1  # between two attempts to end a kernel that may not have started yet
MOST_HEAD_BYTES = 32
MOST_LINE_BYTES = 3000  # the kernel's terminal holds 4096, and User Mode Linux does not go on once it was full


class Gone(TrialError):
    """The kernel has ended."""


class Prompt:
    """A network that is up, and executes a line at a time."""

    def __init__(self, channel: socket.socket, stops: bool) -> None:
        self._channel, self._stops = channel.makefile("rb"), stops
        self._send = channel.sendall
        self._kernel = 0
        self._until_ended(lambda _output: None)

    def run(self, node: str, command: str, take: Callable[[bytes], None]) -> int:
        """Execute a command in a node, and return its exit status; `take` gets its output as it comes."""
        line = json.dumps([node, command]).encode() + b"\n"
        if len(line) > MOST_LINE_BYTES:
            raise field_error("prompt", "bytes", len(line), f"at most {MOST_LINE_BYTES} in one line")
        self.signal(signal.SIGCONT)
        self._send(line)
        return self._until_ended(take)

    def interrupt(self) -> None:
        """Interrupt the command that runs, as Ctrl-C does."""
        self._send(INTERRUPT)

    def _until_ended(self, take: Callable[[bytes], None]) -> int:
        """Pass output on until a command's status comes; the guest may send anything, so each length is bounded."""
        while True:
            kind, _, number = self._channel.readline(MOST_HEAD_BYTES).decode("ascii", "replace").partition(" ")
            if not kind:
                raise Gone("virtual kernel: it has ended")
            if kind not in ("o", "s") or not number.strip().isdigit() or int(number) > PIECE_BYTES:
                raise TrialError("virtual kernel: its prompt: must send output or a status")
            if kind == "s":
                self._kernel = self._kernel or kernel_process(os.getpid()) or 0
                self.signal(signal.SIGSTOP)
                return int(number)
            take(self._channel.read(int(number)))
            self._send(TAKEN)

    def signal(self, number: int) -> None:
        """Stop the kernel's process, or let it go on; never in real time."""
        if self._stops and self._kernel:
            with suppress(ProcessLookupError):
                os.kill(self._kernel, number)


@contextmanager
def opened(plan: Plan, folder: Path, kernel: Kernel, world: Path) -> Iterator[Prompt]:
    """Boot a kernel whose network is up for a prompt; whatever ends the block ends it, and leaves its files behind."""
    ours, theirs = socket.socketpair()
    task = Task(boot.run_prompt, plan, folder, kernel, world, theirs)
    try:
        prompt = Prompt(ours, plan.get("clock") != "real")
        yield prompt
        prompt.signal(signal.SIGCONT)
        ours.shutdown(socket.SHUT_RDWR)
    except Gone:
        task.result()
        raise
    except BaseException:
        _kill(task)
        raise
    finally:
        ours.close()
    task.result()


def _kill(task: Task) -> None:
    while task.is_alive():
        if kernel := kernel_process(os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(kernel, signal.SIGKILL)
        task.join(AGAIN_S)
