# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the kernel runs, `virtual`: User Mode Linux in virtual time, in a sandbox, as an ordinary process."""

import json
import subprocess
from pathlib import Path
from typing import Any

from lab import paths, sandbox
from lab.kernel.build import Kernel

EPOCH_NS = 1_700_000_000_000_000_000  # when every virtual trial begins: no result depends on today
PATIENCE = 60  # wall seconds allowed for a virtual second; a trial takes a fifth of one


class TrialError(Exception):
    """A trial that gave no result; its text is one line."""


def run_plan(plan: dict[str, Any], folder: Path, kernel: Kernel, world: Path) -> None:
    """Boot a kernel that executes a plan and leaves its raw records in a folder."""
    guest_plan = {"preload": "/lab/fewer_wakeups.so"} | plan
    (folder / "plan.json").write_text(json.dumps(guest_plan))
    sandbox.own_tree(folder)
    try:
        code, console = _boot(plan, folder, kernel, world)
    finally:
        sandbox.disown_tree(folder)
    error = folder / "error.txt"
    if error.exists():
        raise TrialError(error.read_text().strip() or f"{folder.parent}: full: the node could not write even why")
    if not (folder / "node.json").exists():
        raise TrialError(f"virtual kernel: exit status {code}: {_last_words(console)}")


def _boot(plan: dict[str, Any], folder: Path, kernel: Kernel, world: Path) -> tuple[int, str]:
    command = sandbox.command(
        world,
        _uml(plan),
        writable={folder: "/trial"},
        read_only={
            paths.LAB: "/lab/lab",
            kernel.linux: "/lab/linux",
            kernel.preload: "/lab/fewer_wakeups.so",
            kernel.modules: "/usr/lib/modules",
        },
    )
    seconds = max((flow["duration_s"] for flow in plan["flows"]), default=0)
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120 + PATIENCE * seconds,
            text=True,
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TrialError(f"virtual kernel: no end after {120 + PATIENCE * seconds} s") from None
    return done.returncode, done.stdout


def _uml(plan: dict[str, Any]) -> list[str]:
    return [
        "/lab/linux",
        "time-travel=inf-cpu",
        f"time-travel-start={EPOCH_NS}",
        f"rng_seed={plan['seed']}",
        f"mem={plan['memory_mb']}M",
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "rw",
        "con=null",
        "con0=fd:0,fd:1",
        "quiet",
        "PYTHONPATH=/lab",
        "init=/usr/bin/python3",
        "--",
        "-S",
        "-m",
        "lab.node.guest",
    ]


def _last_words(console: str) -> str:
    lines = [line for line in console.splitlines() if "panic" in line.lower() or "error" in line.lower()]
    return (lines or console.splitlines() or ["it said nothing"])[-1].strip()[:300]
