# SPDX-License-Identifier: GPL-2.0-or-later
"""A confined program reaches its own folders and nothing else, has no right, and ends with the one that started it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lab.backends.confine import Request
from lab.base import landlock, paths
from tests.command import wait_for

SOON_S = 20
SYSTEM = ["/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache"]


def confined(script: str, own: Path, *, parent: int | None = None, readable: list[str] | None = None) -> list[str]:
    request: Request = {
        "program": "/bin/sh",
        "argv": ["sh", "-c", script],
        "environment": {"PATH": "/usr/bin:/bin"},
        "folder": str(own),
        "readable": [path for path in (*SYSTEM, *(readable or [])) if Path(path).exists()],
        "writable": [str(own)],
        "parent": os.getpid() if parent is None else parent,
    }
    python = [sys.executable, "-S", "-P", "-m", "lab.backends.confine"]
    return ["env", "-i", f"PYTHONPATH={paths.REPO}", *python, json.dumps(request)]


def run(script: str, own: Path, readable: list[str] | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(confined(script, own, readable=readable), capture_output=True, text=True, check=False)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "own").mkdir()
    (tmp_path / "secret").write_text("mine")
    return tmp_path / "own"


def test_a_confined_program_works_in_its_folder_and_does_not_start_when_its_parent_has_gone(own: Path) -> None:
    done = run("mkdir a && echo x >a/b && mv a/b c && rm c && rmdir a && echo whole", own)
    assert done.stdout == "whole\n", done.stderr
    done = subprocess.run(confined("echo started", own, parent=1), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")


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
    watcher = int(process.stdout.readline())
    program = started_by(watcher)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_for(lambda: not any(Path(f"/proc/{each}").exists() for each in (watcher, program)), "end of both", SOON_S)


def started_by(watcher: int) -> int:
    """Return the process that a watcher has started, once it is the program."""
    children = Path(f"/proc/{watcher}/task/{watcher}/children")

    def is_there() -> bool:
        found = children.read_text().split()
        return bool(found) and Path(f"/proc/{found[0]}/comm").read_text() == "sh\n"

    wait_for(is_there, "program", SOON_S)
    return int(children.read_text().split()[0])


@pytest.mark.parametrize("end", [None, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_what_a_confined_program_started_ends_with_it(own: Path, end: signal.Signals | None) -> None:
    stays = "(setsid sleep 300 || sleep 300) & echo $! >pid; "
    process = subprocess.Popen(confined(stays + ("exit 3" if end is None else "sleep 300"), own))
    wait_for(lambda: (own / "pid").exists() and (own / "pid").read_text(), "process that stays", SOON_S)
    if end:
        process.send_signal(end)
    assert process.wait(SOON_S) == (3 if end is None else 128 + signal.SIGKILL)
    assert not Path(f"/proc/{int((own / 'pid').read_text())}").exists()


@pytest.mark.parametrize(
    "attempt",
    [
        "import socket; socket.socket(socket.AF_UNIX)",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
        "import os; os.setsid()",
        "import os; os.setpgid(0, 0)",
        "import resource; resource.prlimit({parent}, resource.RLIMIT_CPU, (1, 1))",
        "import os; os.setpriority(os.PRIO_PROCESS, {parent}, 19)",
        "import os; os.sched_setaffinity({parent}, {{0}})",
        "import os; os.kill({parent}, 0)",
        "import os; os.kill(-1, 0)",
        "import os; os.chmod('../secret', 0o4755)",
        "import os; os.chmod('own', 0o666)",
        "import os; os.utime('../secret', (1, 1))",
        "import os; os.utime('own', (1, 1))",
        "import os; os.setxattr('own', 'user.x', b'1')",
    ],
)
def test_a_confined_program_reaches_no_process_no_socket_and_no_mode(own: Path, attempt: str) -> None:
    (own / "own").write_text("")
    before = (own.parent / "secret").stat()
    code = f"try:\n {attempt.format(parent=os.getpid())}\nexcept OSError as error:\n print('refused', error.errno)"
    done = run(f'{sys.executable} -S -c "{code}"', own, readable=[sys.base_prefix, sys.prefix])
    assert done.stdout.startswith("refused "), done.stdout + done.stderr
    after = (own.parent / "secret").stat()
    assert (after.st_mode, after.st_mtime) == (before.st_mode, before.st_mtime)


def test_a_program_has_none_of_the_keys_of_the_session() -> None:
    """KEYCTL_JOIN_SESSION_KEYRING, add_key(2) of a canary, KEYCTL_SEARCH from a session that was left."""
    code = (
        "import ctypes\n"
        "from lab.base import keyring\n"
        "call = ctypes.CDLL(None).syscall\n"
        "call(250, 1, None)\n"
        "assert call(248, b'user', b'canary', b'x', 1, -3) > 0\n"
        "found = lambda: call(250, 10, -3, b'user', b'canary', 0)\n"
        "before = found()\n"
        "keyring.leave_session()\n"
        "print(before > 0, found() > 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=paths.REPO, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "False"], done.stderr
