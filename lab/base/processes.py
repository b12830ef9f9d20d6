# SPDX-License-Identifier: GPL-2.0-or-later
"""The processors of this machine, and one function over many inputs in threads that wait for programs."""

import os
import platform
import resource
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from shutil import which
from typing import IO, TypeVar

from lab.base.errors import UserError

LOOK_AGAIN_S = 0.1  # Ctrl-C is taken when a wait ends: a library may have the kernel go on with it (SA_RESTART)
ENDING_WITH_THIS = ("setpriv", "--pdeathsig", "KILL", "--")  # before a program: it ends with the thread that starts it
KILL_AGAIN_S = 0.1  # a thread may go on to its next program
MIB = 1 << 20
CONTAINER = Path("/sys/fs/cgroup/memory.max")  # of a container; "max" without a limit
TOOL_S, TOOL_BYTES = 20.0, 1 << 28  # git archives the checkout in a second, and prints some megabytes
_turns = count(os.getpid())  # so that commands at once do not all begin on the first processor
Given = TypeVar("Given")
Result = TypeVar("Result")


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def next_processor() -> int:
    """Return one of the processors that this process may use, another one at each call."""
    own = sorted(os.sched_getaffinity(0))
    return own[next(_turns) % len(own)]


@contextmanager
def on_one_processor() -> Iterator[None]:
    """Bind this thread, and for good what it starts in the block, to one processor.

    A virtual kernel and its programs take turns, and each turn takes longer where they are on different ones.
    """
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {next_processor()})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def map_in_threads(
    function: Callable[[Given], Result], inputs: Sequence[Given], at_once: int | None = None
) -> list[Result]:
    """Return the function's result of each input, in their order; each input has a thread that waits for programs.

    at_once: how many threads there are, else one for each input. The first error, or Ctrl-C, ends every program that
    the threads have started.
    """
    before = _children()
    with ThreadPoolExecutor(at_once or max(len(inputs), 1)) as pool:
        futures = [pool.submit(function, each) for each in inputs]
        try:
            while wait(futures, LOOK_AGAIN_S).not_done:
                for each in futures:
                    if each.done():
                        each.result()
            return [each.result() for each in futures]
        except BaseException:
            for each in futures:
                each.cancel()
            while wait(futures, KILL_AGAIN_S).not_done:
                for pid in _children() - before:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGTERM)  # of a sandbox, which ends all that it has started
            raise


def run_tool(*argv: str, environment: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[bytes]":
    """Run a small program of this machine, bounded in time and output; where it takes too long, all its group ends.

    What it prints is kept in memory: a pipe would wait for whoever holds it. A timeout is added to its errors.
    """
    command, late = [*(ENDING_WITH_THIS if which(ENDING_WITH_THIS[0]) else ["env"]), *argv], ""
    with _in_memory() as output, _in_memory() as errors:
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=environment, process_group=0
        ) as process:
            with suppress(OSError, ValueError):  # it has ended, is another user's now, or may write less already
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (TOOL_BYTES, TOOL_BYTES))
            try:
                process.wait(TOOL_S)
            except subprocess.TimeoutExpired:
                late = f"{argv[0]}: no end after {TOOL_S:g} s"
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        for each in (output, errors):
            each.seek(0)
        return subprocess.CompletedProcess(argv, process.returncode, output.read(), errors.read() + late.encode())


def ended(done: "subprocess.CompletedProcess[bytes]") -> "subprocess.CompletedProcess[bytes]":
    """Return what a tool printed; UserError where it had to be ended."""
    if done.returncode < 0:
        why = done.stderr.decode(errors="replace").splitlines() or [f"signal {-done.returncode}"]
        raise UserError(f"{done.args[0]}: must end by itself: {why[-1]}")
    return done


def _in_memory() -> IO[bytes]:
    return os.fdopen(os.memfd_create("printed"), "w+b")


def _children() -> set[int]:
    """List the programs that this process has started, by whichever thread."""
    found: set[int] = set()
    for thread in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # a thread that has ended
            found |= {int(pid) for pid in (thread / "children").read_text().split()}
    return found


def processor() -> str:
    """Return the model's name, or the architecture where the system gives no name."""
    info = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    return models[0] if models else platform.machine()


def machine_mb() -> int:
    """Return the machine's memory in MiB, or what a container may use of it."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // MIB
    limit = CONTAINER.read_text().strip() if CONTAINER.exists() else ""
    return min(whole, int(limit) // MIB) if limit.isdecimal() else whole
