# SPDX-License-Identifier: GPL-2.0-or-later
"""A small program of this machine, bounded in time and output: git, bwrap, apt-get, docker or vagrant may hang."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from shutil import which
from typing import IO

from lab.base.errors import UserError
from lab.base.processes import ENDING_WITH_THIS

MOST_S, MOST_BYTES = 20.0, 1 << 28  # git archives the checkout in a second, and prints some megabytes
LOOK_AGAIN_S = 0.02  # at what it has printed; a tool writes some 5 GB/s at most


def run_tool(
    *argv: str,
    environment: Mapping[str, str] | None = None,
    limit_s: float | None = None,
    given: IO[bytes] | int = subprocess.DEVNULL,
) -> "subprocess.CompletedProcess[bytes]":
    """Run a small program of this machine, bounded in time and output; where either is too much, all its group ends.

    What it prints is kept in memory: a pipe would wait for whoever holds it. Why it had to be ended is added to its
    errors. No limit of its files bounds its output, because what it starts would inherit that: Vagrant starts the lab.
    limit_s: of a program that is no small one. given: a file that it reads as its standard input.
    """
    command, late = [*(ENDING_WITH_THIS if which(ENDING_WITH_THIS[0]) else ["env"]), *argv], ""
    with in_memory() as output, in_memory() as errors:
        process = subprocess.Popen(command, stdin=given, stdout=output, stderr=errors, env=environment, process_group=0)
        try:
            late = too_much(process, (output, errors), limit_s or MOST_S)
        finally:
            end_group(process)
        for each in (output, errors):
            each.seek(0)
        why = f"{argv[0]}: {late}".encode() if late else b""
        status = -signal.SIGKILL if process.returncode is None else process.returncode
        return subprocess.CompletedProcess(argv, status, output.read(), errors.read() + why)


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """End a tool that leads its group, and all of that, where it has not ended."""
    if process.poll() is None:
        with suppress(PermissionError):  # sudo is root's by now: nobody waits for it
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def too_much(
    process: "subprocess.Popen[bytes]",
    printed: tuple[IO[bytes], ...],
    most_s: float,
    look_again_s: float = LOOK_AGAIN_S,
) -> str:
    """Wait for a tool; return why it must be ended, or nothing where it has ended."""
    limit_s = time.monotonic() + most_s
    while process.poll() is None:
        if time.monotonic() > limit_s:
            return f"no end after {most_s:g} s"
        if any(os.fstat(each.fileno()).st_size > MOST_BYTES for each in printed):
            return f"more than {MOST_BYTES} bytes printed"
        with suppress(subprocess.TimeoutExpired):
            process.wait(look_again_s)
    return ""


def ended(done: "subprocess.CompletedProcess[bytes]") -> "subprocess.CompletedProcess[bytes]":
    """Return what a tool printed; UserError where it had to be ended."""
    if done.returncode < 0:
        why = done.stderr.decode(errors="replace").splitlines() or [f"signal {-done.returncode}"]
        raise UserError(f"{done.args[0]}: must end by itself: {why[-1]}")
    return done


def in_memory() -> IO[bytes]:
    """Return a file that lies in no folder."""
    return os.fdopen(os.memfd_create("printed"), "w+b")
