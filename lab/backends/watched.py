# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel's process from its start to its end: bounded in time, in what it writes, and in what it prints."""

import os
import select
import subprocess
import time
from pathlib import Path
from typing import IO, Any

from lab.backends.records import TrialError, require_few

LOOK_S = 1.0  # between two looks at what it has written
MOST_CONSOLE_BYTES = 4 << 20  # the last ones are kept
GAP_BYTES = (1 << 30) + (8 << 20)  # in the file of the kernel's memory, besides the guest's (lab/kernel/patches/0006)


class Watched:
    """A process whose only writable folder is `room`, with its console."""

    def __init__(self, command: list[str], room: Path, most_bytes: int, memory_mb: int) -> None:
        self.room, self.most_bytes = room, most_bytes
        self.console = bytearray()
        largest = max(most_bytes, GAP_BYTES) + (memory_mb << 20)  # the kernel's memory is a file, too
        self.command = ["prlimit", f"--fsize={largest}", *command]

    def run(self, patience_s: float) -> "subprocess.CompletedProcess[str]":
        """Run it to its end; TrialError where it does not end, or writes too much."""
        pipe = subprocess.PIPE
        with subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=subprocess.STDOUT) as process:
            assert process.stdout
            os.set_blocking(process.stdout.fileno(), False)
            try:
                self._watch(process, process.stdout, patience_s)
            finally:
                process.kill()
        return subprocess.CompletedProcess(self.command, process.returncode, self.console.decode(errors="replace"))

    def _watch(self, process: "subprocess.Popen[bytes]", console: IO[bytes], patience_s: float) -> None:
        end_s = time.monotonic() + patience_s
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
                if time.monotonic() > end_s:
                    raise TrialError(f"virtual kernel: no end after {patience_s} s")
                if time.monotonic() > look_s:
                    require_few(self.room, self.most_bytes)
                    look_s = time.monotonic() + LOOK_S
        finally:
            os.close(ended)
        while self._read(console):
            pass
        process.wait()

    def _read(self, console: IO[bytes]) -> bool:
        """Read what has been printed; return whether there may be more."""
        chunk = console.read(1 << 16)
        self.console += chunk or b""
        del self.console[:-MOST_CONSOLE_BYTES]
        return bool(chunk)
