# SPDX-License-Identifier: GPL-2.0-or-later
"""A command of a stranger, such as a build: bounded in time, memory, size of files and output."""

import os
import select
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MOST_OUTPUT_BYTES = 1 << 20
FILE_BYTES, MEMORY_BYTES = 256 << 20, 4 << 30
CHUNK_BYTES = 1 << 16


@dataclass(frozen=True)
class Step:
    """A command, and the most that it may print."""

    argv: tuple[str, ...]
    most_bytes: int = MOST_OUTPUT_BYTES


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it printed."""

    status: int
    output: str

    @property
    def last_line(self) -> str:
        """Return the last line that is not empty."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        return lines[-1] if lines else f"exit status {self.status}"


def run_steps(steps: Sequence[Step], most_s: float, wrapped: Callable[[list[str]], list[str]] = list) -> list[Done]:
    """Run steps up to the first that fails; each may take most_s, and runs as `wrapped` returns it."""
    done: list[Done] = []
    for step in steps:
        done.append(run_bounded(wrapped([*step.argv]), most_s, step.most_bytes))
        if done[-1].status:
            break
    return done


def run_bounded(command: list[str], most_s: float, most_bytes: int = MOST_OUTPUT_BYTES) -> Done:
    """Run a command to its end; one that passes a limit is killed, and its last line names the limit."""
    limits = ["prlimit", f"--fsize={FILE_BYTES}", f"--as={MEMORY_BYTES}"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*limits, *command], stdin=subprocess.DEVNULL, stdout=pipe, stderr=subprocess.STDOUT
    ) as process:
        try:
            output, passed = _read(process, most_s, most_bytes)
        finally:
            process.kill()
    text = output.decode(errors="replace")
    return Done(1, f"{text}\n{passed}\n") if passed else Done(process.returncode, text)


def _read(process: "subprocess.Popen[bytes]", most_s: float, most_bytes: int) -> tuple[bytes, str]:
    """Return the output, and the limit that was passed, if any."""
    assert process.stdout
    end_s, output = time.monotonic() + most_s, bytearray()
    while True:
        ready, _, _ = select.select([process.stdout], [], [], max(end_s - time.monotonic(), 0))
        if not ready:
            return bytes(output), f"no end after {most_s:.0f} s"
        chunk = os.read(process.stdout.fileno(), CHUNK_BYTES)
        if not chunk:
            process.wait()
            return bytes(output), ""
        output += chunk
        if len(output) > most_bytes:
            return bytes(output), f"more than {most_bytes} bytes of output"
