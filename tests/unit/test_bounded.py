# SPDX-License-Identifier: GPL-2.0-or-later
"""A stranger's build is bounded as a whole: many small parts pass no limit that one large part does not pass."""

import sys
from pathlib import Path

import pytest

from lab.images.steps import bounded
from lab.images.steps.bounded import run_bounded

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
