# SPDX-License-Identifier: GPL-2.0-or-later
"""The `lab` command as a user starts it, with results of its own; and what of it still runs."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from lab.base.paths import REPO
from tests import warm_command
from tests.brief import put

Done = subprocess.CompletedProcess[str]
ENOUGH_S = 300.0  # on a machine that is busy with much else
LONG_S = 120  # of a trial that is to be under way still when another one begins
ENV = shutil.which("env") or "env"  # found before a test takes tools away


def scenario_file(folder: Path, **changes: object) -> Path:
    content = {
        "question": "What does a test see?",
        "topology": "path",
        "profile": "geo-viasat",
        "ccas": ["cubic_plain"],
        "trials": 2,
        "duration_s": 3,
        "seed": 7,
    }
    return put(folder / "mine.yml", yaml.safe_dump(content | changes))


def start(results: Path, *words: str, **environment: str) -> "subprocess.Popen[str]":
    """Start `lab` as the leader of a process group, like a shell does."""
    return subprocess.Popen(
        [ENV, "--default-signal=HUP,INT", sys.executable, "-m", "lab", *words],  # nohup and `&` ignore them
        cwd=REPO,
        env=_environment(results) | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def start_two_trials(folder: Path, **environment: str) -> "subprocess.Popen[str]":
    """Start a run of two long trials at once; return when both kernels run. Its results are in `folder`/results."""
    scenario = scenario_file(folder, duration_s=LONG_S)
    process = start(folder / "results", "run", str(scenario), "--jobs", "2", **environment)
    captures = "results/mine/*/trials/.*/guest/client.pcapng"
    wait_for(lambda: len(list(folder.glob(captures))) == 2 or process.poll() is not None, "two kernels")
    assert process.poll() is None, process.communicate()
    return process


def lab(results: Path, *words: str, **environment: str) -> Done:
    """Run `lab` to its end: as a new process where a variable differs that Python reads as it starts."""
    given = _environment(results) | environment
    if not warm_command.fits(given):
        return _ended(start(results, *words, **environment))
    return warm_command.run(words, given, 3 * ENOUGH_S)


def lab_ok(results: Path, *words: str, **environment: str) -> Done:
    """Run `lab` to its end, which is a good one."""
    done = lab(results, *words, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def _ended(process: "subprocess.Popen[str]") -> Done:
    try:
        out, err = process.communicate(timeout=3 * ENOUGH_S)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def _environment(results: Path) -> dict[str, str]:
    return os.environ | {"LAB_RESULTS": str(results), "COLUMNS": "200"}


def refused(done: Done) -> str:
    """Return the one line that a refused command printed as its error."""
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.strip()


def status_of(process: "subprocess.Popen[str]") -> int:
    """Return the exit status as a shell shows it: 128 and the signal's number where one ended the process."""
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def press_ctrl_c(process: "subprocess.Popen[str]") -> None:
    """A terminal interrupts the whole foreground group."""
    os.killpg(process.pid, signal.SIGINT)


def wait_for(condition: Callable[[], object], what: str, patience_s: float = ENOUGH_S) -> None:
    end = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < end, f"no {what} within {patience_s} s"
        time.sleep(0.02)


def running_on(results: Path) -> list[str]:
    """Name the processes that were started for these results, run in a folder of them, or have one mounted."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        if process.name != str(os.getpid()) and _concerns(process, str(results).encode()):
            found.append(f"{process.name} {_read(process / 'cmdline').replace(bytes(1), b' ')[:80]!r}")
    return found


def _concerns(process: Path, results: bytes) -> bool:
    if any(results in _read(process / part) for part in ("environ", "cmdline", "mountinfo")):
        return True
    try:
        return results in bytes((process / "cwd").readlink())  # a virtual kernel without a sandbox, and its processes
    except OSError:
        return False


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:  # ended meanwhile, or another user's
        return b""
