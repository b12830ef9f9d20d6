# SPDX-License-Identifier: GPL-2.0-or-later
"""Ctrl-C while an extension module runs, which may lose what is raised: the command ends all the same, in a line."""

import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from lab import __main__
from lab.base.paths import REPO

LOSES_WHAT_IS_RAISED = """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
except BaseException:  # as Cython's modules, and some of Rust, do while they are loaded
    pass
"""
REPORTS_WHAT_IS_RAISED = """
import os, signal
class Late:
    def __del__(self):  # Python prints what is raised here, and goes on; and so in a callback of Cython
        os.kill(os.getpid(), signal.SIGINT)
"""
COMMAND = """
import time
from lab import __main__

def main():
    import loses
    getattr(loses, "Late", int)()
    time.sleep(60)
    print("went on")

__main__.main = main
__main__.command()
"""


@pytest.mark.parametrize("raised", [SystemExit("text"), SystemExit(None), SystemExit(0), ValueError("1")])
def test_what_else_a_module_loses_is_printed_as_usual_and_ends_nothing(
    raised: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed: list[object] = []
    monkeypatch.setattr(sys, "__unraisablehook__", printed.append)
    __main__._take_lost(cast("sys.UnraisableHookArgs", lost := SimpleNamespace(exc_value=raised)))
    assert printed == [lost]
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def interrupted(code: str, path: str) -> str:
    """Run code that Ctrl-C ends in one line, and return what it printed before."""
    words = ["env", "--default-signal=INT", f"PYTHONPATH={path}", sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    line = "interrupted: stored trials are whole; run the command again\n"
    assert (done.returncode, done.stderr) == (130, line)
    return done.stdout


@pytest.mark.parametrize("module", [LOSES_WHAT_IS_RAISED, REPORTS_WHAT_IS_RAISED])
def test_ctrl_c_in_a_module_that_loses_what_is_raised_ends_the_command_in_a_line(tmp_path: Path, module: str) -> None:
    (tmp_path / "loses.py").write_text(module)
    assert interrupted(COMMAND, f"{REPO}:{tmp_path}") == ""


STARTS = """
import os, signal
from lab import __main__

def main():
    code = "os.kill(os.getpid(), signal.SIGINT); print('whole')"
    exec(compile(code, "multiprocessing/popen_spawn_posix.py", "exec"), globals())
    signal.pause()

__main__.main = main
__main__.command()
"""


def test_ctrl_c_waits_until_a_worker_is_started_whole_or_it_would_print_a_traceback() -> None:
    """A thread may take the signal, whatever the one that starts the worker has blocked."""
    assert interrupted(STARTS, f"{REPO}") == "whole\n"
