# SPDX-License-Identifier: GPL-2.0-or-later
"""A command of a stranger, such as a build: bounded in time, memory, files, processes and output, as a whole."""

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lab.node.system.tree import BLOCK_BYTES, limits, memory_bytes, processes_of, tasks_of, unlinked_bytes

MOST_OUTPUT_BYTES = 1 << 20
FILE_BYTES, MEMORY_BYTES = 256 << 20, 4 << 30
CHUNK_BYTES = 1 << 16
MOST_PROCESSES, MOST_FILES, MOST_FILES_BYTES = 200, 10_000, 1 << 30  # of all that a command starts; a build has tens
MOST_THREADS = 1000  # a linker has one for each processor
MOST_PATH_BYTES = 3000  # the system finds none above 4096
LOOK_S = 0.2  # between two looks at them


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


def run_steps(
    steps: Sequence[Step], most_s: float, wrapped: Callable[[list[str]], list[str]] = list, room: Path | None = None
) -> list[Done]:
    """Run steps up to the first that fails; each may take most_s, and runs as `wrapped` returns it."""
    done: list[Done] = []
    for step in steps:
        done.append(run_bounded(wrapped([*step.argv]), most_s, step.most_bytes, room))
        if done[-1].status:
            break
    return done


def run_bounded(
    command: list[str], most_s: float, most_bytes: int = MOST_OUTPUT_BYTES, room: Path | None = None
) -> Done:
    """Run a command to its end; one that passes a limit is killed, and its last line names the limit.

    room: the only folder that it may write, if the whole of its processes is bounded, too. In a virtual kernel the
    machine's memory bounds them.
    """
    bounds, pipe = [*limits(FILE_BYTES), f"--as={MEMORY_BYTES}"], subprocess.PIPE
    with subprocess.Popen(
        [*bounds, *command], stdin=subprocess.DEVNULL, stdout=pipe, stderr=subprocess.STDOUT
    ) as process:
        try:
            output, passed = _read(process, most_s, most_bytes, room)
        finally:
            if process.returncode is None:
                for pid in processes_of(process.pid):
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
    text = output.decode(errors="replace")
    return Done(1, f"{text}\n{passed}\n") if passed else Done(process.returncode, text)


def _read(process: "subprocess.Popen[bytes]", most_s: float, most_bytes: int, room: Path | None) -> tuple[bytes, str]:
    """Return the output, and the limit that was passed, if any."""
    assert process.stdout
    end_s, look_s, output = time.monotonic() + most_s, time.monotonic(), bytearray()
    while True:
        now_s = time.monotonic()
        if now_s >= end_s:
            return bytes(output), f"no end after {most_s:.0f} s"
        if room and now_s >= look_s:
            if passed := _passed(process.pid, room):
                return bytes(output), passed
            look_s = time.monotonic() + LOOK_S
        patience_s = end_s - now_s if room is None else min(end_s - now_s, LOOK_S)
        if not select.select([process.stdout], [], [], patience_s)[0]:
            continue
        chunk = os.read(process.stdout.fileno(), CHUNK_BYTES)
        if not chunk:
            process.wait()
            return bytes(output), _passed(process.pid, room) if room else ""
        output += chunk
        if len(output) > most_bytes:
            return bytes(output), f"more than {most_bytes} bytes of output"


def _passed(pid: int, room: Path) -> str:
    """Name the limit that a command and all that it has started have passed together, if any."""
    pids = processes_of(pid)
    if len(pids) > MOST_PROCESSES:
        return f"more than {MOST_PROCESSES} processes"
    if len(tasks_of(pids)) > MOST_THREADS:
        return f"more than {MOST_THREADS} threads"
    if memory_bytes(pids) > MEMORY_BYTES:
        return f"more than {MEMORY_BYTES} bytes of memory"
    files, taken = 0, unlinked_bytes(pids, FILE_BYTES)
    for path, size in _named(room):
        files, taken = files + 1, taken + size
        if files > MOST_FILES:
            return f"more than {MOST_FILES} files"
        if len(os.fsencode(path)) > MOST_PATH_BYTES:
            return f"a path of more than {MOST_PATH_BYTES} bytes"
        if taken > MOST_FILES_BYTES:
            break
    return f"more than {MOST_FILES_BYTES} bytes in files" if taken > MOST_FILES_BYTES else ""


def _named(room: Path) -> Iterator[tuple[str, int]]:
    """Yield the path and the bytes of each file and folder below a folder; no link is followed.

    What lies behind a path that the system finds too long is not found: its user bounds paths.
    """
    left = [str(room)]
    while left:
        with suppress(OSError), os.scandir(left.pop()) as found:  # removed meanwhile
            for entry in found:
                with suppress(OSError):
                    yield entry.path, entry.stat(follow_symlinks=False).st_blocks * BLOCK_BYTES
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
