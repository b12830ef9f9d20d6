# SPDX-License-Identifier: GPL-2.0-or-later
"""A confined program reaches its own folders and nothing else; a stranger's build is bounded as a whole."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lab_try.node import bounded
from lab_try.node.bounded import run_bounded

from lab.backends import boot
from lab.backends.confine import Request
from lab.base import enter, landlock, paths
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
        "calls": enter.KERNEL,
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
        "from lab.base import enter\n"
        "call = ctypes.CDLL(None).syscall\n"
        "call(250, 1, None)\n"
        "assert call(248, b'user', b'canary', b'x', 1, -3) > 0\n"
        "found = lambda: call(250, 10, -3, b'user', b'canary', 0)\n"
        "before = found()\n"
        "enter.leave_session()\n"
        "print(before > 0, found() > 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=paths.REPO, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "False"], done.stderr


HOLD = "; import time; time.sleep(60)"
SLEEPER = "subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(60)'])"
FORK = f"import subprocess, sys; [{SLEEPER} for _ in range(9)]"
REMOVED = "import os; files = [open(str(n), 'wb') for n in range(6)]"
REMOVED += "; [(each.write(bytes(300_000)), each.flush(), os.unlink(each.name)) for each in files]"
DEEP = "import os; [(os.mkdir('x' * 250), os.chdir('x' * 250)) for _ in range(18)]"
THREADS = "import threading, time; [threading.Thread(target=time.sleep, args=[60]).start() for _ in range(9)]"
MAPPED = """
import ctypes, os
for n in range(6):
    file = os.memfd_create("x")
    os.write(file, bytes(300_000))
    ctypes.CDLL(None).mmap(None, 4096, 3, 1, file, 0)
    os.close(file)
"""
OF_A_THREAD = """
import ctypes, os, threading, time
def take():
    ctypes.CDLL(None).unshare(0x400)  # CLONE_FILES
    files = [os.memfd_create("x") for _ in range(6)]
    [os.write(file, bytes(300_000)) for file in files]
    time.sleep(60)
threading.Thread(target=take).start()
"""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small limits: what they bound is the same."""
    monkeypatch.setattr(bounded, "MOST_PROCESSES", 8)
    monkeypatch.setattr(bounded, "MOST_THREADS", 8)
    monkeypatch.setattr(bounded, "MOST_FILES", 20)
    monkeypatch.setattr(bounded, "MOST_FILES_BYTES", 1_000_000)


@pytest.mark.parametrize(
    ("code", "limit"),
    [
        (f"{FORK}{HOLD}", "more than 8 processes"),
        (f"[open(str(n), 'w').close() for n in range(21)]{HOLD}", "more than 20 files"),
        ("[open(str(n), 'w').close() for n in range(21)]", "more than 20 files"),
        (f"[open(str(n), 'wb').write(bytes(300_000)) for n in range(6)]{HOLD}", "more than 1000000 bytes in files"),
        (f"{REMOVED}{HOLD}", "more than 1000000 bytes in files"),
        (DEEP, "a path of more than 3000 bytes"),
        (f"{THREADS}{HOLD}", "more than 8 threads"),
        (f"{MAPPED}0{HOLD}", "more than 1000000 bytes in files"),
        (OF_A_THREAD, "more than 1000000 bytes in files"),
        ("import os; os.mkdir('a'); open('a/b', 'w').close()", ""),
    ],
    ids=[
        "processes",
        "files",
        "files of a short build",
        "bytes",
        "bytes of removed files",
        "a path that is too long",
        "threads",
        "files that are only mapped",
        "files of a thread",
        "an honest build",
    ],
)
def test_a_build_that_passes_a_limit_in_all_is_killed_and_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, limit: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run_bounded([sys.executable, "-S", "-c", code], 30, room=tmp_path)
    assert (done.status, done.last_line) == ((1, limit) if limit else (0, "exit status 0"))


def test_memory_is_that_of_all_processes_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MEMORY_BYTES", 150 << 20)
    half = "x = bytearray(100 << 20); import time; time.sleep(60)"
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-S', '-c', '{half}']); {half}"
    done = run_bounded([sys.executable, "-S", "-c", code], 30, room=tmp_path)
    assert done.last_line == f"more than {150 << 20} bytes of memory"


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("Linux version 6.12\nKernel panic - not syncing\nlast\n", "Kernel panic - not syncing"),
        ("Linux version 6.12\nlast\n", "last"),
        ("", "it printed nothing: env, bwrap, prlimit and setpriv of PATH must be the system's"),
    ],
)
def test_a_kernel_without_a_result_is_named_with_what_it_printed(printed: str, reason: str) -> None:
    done = subprocess.CompletedProcess(["linux"], 3, printed, "")
    assert boot._no_result(done) == f"virtual kernel: exit status 3: {reason}"
