# SPDX-License-Identifier: GPL-2.0-or-later
"""The `lab` command as a copy of a process that has imported it, which starts sooner than a new one.

Python's forkserver forks each one. So nothing that a command does reaches the test, nor another command.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired

from lab.base.paths import REPO

IMPORTED = ["tests.warm_command", "lab.commands.cli", "lab.commands.run", "lab_compare.command", "polars"]
FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(IMPORTED)

STARTED_WITH = dict(os.environ)
READ_AT_START = ("PYTHON", "LD_")  # by Python, and by the loader of programs


def fits(environment: Mapping[str, str]) -> bool:
    """Return whether a copy can be what a new process with this environment would be."""
    before, now = (
        {name: each[name] for name in each if name.startswith(READ_AT_START)} for each in (STARTED_WITH, environment)
    )
    return before == now


def run(words: tuple[str, ...], environment: Mapping[str, str], timeout_s: float) -> "CompletedProcess[str]":
    """Run `lab` to its end, as the leader of a process group."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        process = FORKING.Process(target=_command, args=(words, dict(environment), out, err))
        process.start()
        assert process.pid is not None
        try:
            process.join(timeout_s)
            if process.exitcode is None:
                raise TimeoutExpired(["lab", *words], timeout_s)
        except BaseException:
            with suppress(ProcessLookupError):  # it leads no group yet
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            raise
        return CompletedProcess(["lab", *words], process.exitcode, out.read_text(), err.read_text())


def _command(words: tuple[str, ...], environment: dict[str, str], out: Path, err: Path) -> None:
    """Be the command: what it has of the process that it is a copy of is replaced first."""
    os.setsid()
    os.chdir(REPO)
    os.environ.clear()
    os.environ.update(environment)
    for file, number in ((out, 1), (err, 2)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), number)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["lab", *words]
    from lab.__main__ import command

    command()
