# SPDX-License-Identifier: GPL-2.0-or-later
"""A confined program reaches its own folders and nothing else, has no right, and ends with the one that started it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.backends.confine import Request
from lab.base import landlock, paths

SYSTEM = ["/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache"]


def confined(script: str, own: Path, *, parent: int | None = None) -> list[str]:
    request: Request = {
        "program": "/bin/sh",
        "argv": ["sh", "-c", script],
        "environment": {"PATH": "/usr/bin:/bin"},
        "folder": str(own),
        "readable": [path for path in SYSTEM if Path(path).exists()],
        "writable": [str(own)],
        "parent": os.getpid() if parent is None else parent,
    }
    python = [sys.executable, "-S", "-P", "-m", "lab.backends.confine"]
    return ["env", "-i", f"PYTHONPATH={paths.REPO}", *python, json.dumps(request)]


def run(script: str, own: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(confined(script, own), capture_output=True, text=True, check=False)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "own").mkdir()
    (tmp_path / "secret").write_text("mine")
    return tmp_path / "own"


def test_a_confined_program_works_in_its_folder(own: Path) -> None:
    done = run("mkdir a && echo x >a/b && mv a/b c && rm c && rmdir a && echo whole", own)
    assert done.stdout == "whole\n", done.stderr


@pytest.mark.parametrize(
    "attempt",
    [
        "cat ../secret",
        "echo x >../secret",
        "echo x >../new",
        "ls /",
        "rm ../secret",
        "mv ../secret .",
        "ln -s .. up; ls up",
    ],
)
def test_a_confined_program_reaches_nothing_else(own: Path, attempt: str) -> None:
    assert landlock.abi(), "this kernel has no Landlock"
    done = run(attempt, own)
    assert done.returncode != 0
    assert (own.parent / "secret").read_text() == "mine"
    assert sorted(path.name for path in own.parent.iterdir()) == ["own", "secret"]


def test_a_confined_program_has_no_right_and_gains_none(own: Path) -> None:
    request = json.loads(confined("cat /proc/self/status", own)[-1])
    request["readable"].append("/proc")
    command = [*confined("", own)[:-1], json.dumps(request)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    status = dict(line.split(":\t", 1) for line in done.stdout.splitlines())
    assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
    assert status["NoNewPrivs"] == "1"


def test_a_confined_program_ends_with_its_parent(own: Path) -> None:
    code = (
        "import json, os, subprocess, sys\n"
        "command = json.loads(sys.argv[1])\n"
        "request = json.loads(command[-1]) | {'parent': os.getpid()}\n"
        "child = subprocess.Popen([*command[:-1], json.dumps(request)])\n"
        "print(child.pid, flush=True)\n"
        "child.wait()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, json.dumps(confined("sleep 300", own))], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    child = int(process.stdout.readline())
    while Path(f"/proc/{child}/comm").read_text() != "sh\n":
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    while Path(f"/proc/{child}").exists():
        time.sleep(0.01)


def test_a_confined_program_does_not_start_when_its_parent_has_gone(own: Path) -> None:
    done = subprocess.run(confined("echo started", own, parent=1), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
