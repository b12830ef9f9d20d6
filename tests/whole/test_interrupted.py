# SPDX-License-Identifier: GPL-2.0-or-later
"""The first error, or Ctrl-C, ends all; the terminal names what goes on, and a real machine is as it was before."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from lab_try.threads import map_in_threads
from lab_vm import real
from rich.console import Console

from lab.backends.backend import Description, Site
from lab.base.errors import Interrupted, going_on
from lab.base.paths import REPO
from lab.commands import run
from lab.kernel.recipe import Recipe
from lab.runs.options import RunOptions
from tests.command import running_on, wait_for


def test_it_names_the_command_that_goes_on() -> None:
    with pytest.raises(Interrupted, match=r"^lab report RUN$"), going_on(lambda: "lab report RUN"):
        raise KeyboardInterrupt


def test_it_names_none_before_a_run_was_begun() -> None:
    with pytest.raises(KeyboardInterrupt), going_on(lambda: None):
        raise KeyboardInterrupt


def test_an_error_without_ctrl_c_stays_what_it_is() -> None:
    with pytest.raises(ImportError), going_on(lambda: "lab report RUN"):
        raise ImportError


ENDS = """
import os, sys, time
from contextlib import ExitStack, suppress
from lab import __main__
from lab.base import workers
from lab.base.scratch import scratch_folder
from lab_try.threads import map_in_threads

def use(seconds):
    with scratch_folder() as folder:
        (folder / "begun").touch()
        time.sleep(seconds)

def lose():
    with suppress(BaseException):
        use(60)
    time.sleep(60)

def end_slowly():
    with ExitStack() as stack:
        stack.callback(print, "slowly")
        stack.callback(time.sleep, 2)
        use(60)

if __name__ == "__main__":
    workers.processors = lambda: 2
    __main__.main = lambda: eval(sys.argv[1])
    __main__.command()
"""
WORK = ["use(60)", "map_in_threads(use, [1, 1])", "workers.map_in_processes(use, [60, 60])"]
SENT = [[signal.SIGINT], [signal.SIGTERM], [signal.SIGHUP, signal.SIGHUP], [signal.SIGHUP, signal.SIGTERM]]


def ends(folder: Path, work: str, temporary: Path, how: str = "--default-signal=HUP,INT") -> "subprocess.Popen[str]":
    (folder / "ends.py").write_text(ENDS)
    words = [
        "env",
        how,
        f"PYTHONPATH={REPO}:{REPO}/packages/try",
        f"TMPDIR={temporary}",
        sys.executable,
        str(folder / "ends.py"),
        work,
    ]
    both = subprocess.PIPE
    return subprocess.Popen(words, stdout=both, stderr=both, text=True, start_new_session=True)


@pytest.mark.parametrize("sent", SENT, ids=lambda each: "+".join(number.name for number in each))
@pytest.mark.parametrize("work", WORK)
def test_ctrl_c_a_closed_terminal_and_sigterm_end_every_block_once(
    tmp_path: Path, sent: list[signal.Signals], work: str
) -> None:
    (temporary := tmp_path / "temporary").mkdir()
    with ends(tmp_path, work, temporary) as process:
        wait_for(lambda: len(list(temporary.rglob("begun"))) == 1 + ("map" in work), "scratch folders", 60)
        for number in sent:  # a shell sends a second SIGHUP, systemd both
            os.killpg(process.pid, number)
            time.sleep(0.01)
        process.communicate(timeout=60)
    assert process.returncode == 128 + sent[0]
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(("work", "printed"), [("lose()", ""), ("end_slowly()", "slowly\n")])
def test_sigterm_is_raised_again_where_lost_and_not_while_blocks_end(tmp_path: Path, work: str, printed: str) -> None:
    (temporary := tmp_path / "temporary").mkdir()
    with ends(tmp_path, work, temporary) as process:
        wait_for(lambda: list(temporary.rglob("begun")), "scratch folder", 60)
        process.terminate()
        assert process.communicate(timeout=50) == (printed, "")
    assert process.returncode == 128 + signal.SIGTERM


def test_what_is_ignored_below_nohup_ends_no_command(tmp_path: Path) -> None:
    (temporary := tmp_path / "temporary").mkdir()
    with ends(tmp_path, "os.kill(os.getpid(), 1) or use(60)", temporary, "--ignore-signal=HUP") as process:
        wait_for(lambda: list(temporary.rglob("begun")), "command that goes on", 60)
        process.terminate()
    assert list(temporary.iterdir()) == []


@pytest.fixture
def settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collect the machines that the command waited for; in place of one over ssh, which `make test-vm` has."""
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    machines: list[Any] = []
    kernel = {"kernel_source": "Linux 6.12", "cpu": "2 of a processor"}
    monkeypatch.setattr(real, "real_backend", lambda _choice: "a machine")
    monkeypatch.setattr(real, "alone", lambda _backend: nullcontext())
    site = Site("a machine", Description(kernel, "", {}, {}))  # type: ignore[arg-type]
    monkeypatch.setattr(real, "inspect", lambda *_: site)
    monkeypatch.setattr(real, "settle", machines.append)
    return machines


def interrupt(monkeypatch: pytest.MonkeyPatch, error: type[BaseException]) -> None:
    def pressed(*_: object) -> None:
        raise error

    monkeypatch.setattr(run, "execute", pressed)
    request = run.Request(scenario="engines-agree")
    where = run.Where("host", "netns", Recipe())
    run.run(request, where, RunOptions(1), resume=False, console=Console(file=io.StringIO()))


@pytest.mark.parametrize(("error", "waits"), [(KeyboardInterrupt, True), (ZeroDivisionError, False)])
def test_ctrl_c_waits_for_the_machine_and_an_error_does_not(
    settled: list[Any], monkeypatch: pytest.MonkeyPatch, error: type[BaseException], waits: bool
) -> None:
    with pytest.raises(error):
        interrupt(monkeypatch, error)
    assert settled == ["a machine"] * waits


LONG = ["sleep", "600"]


def wait_or_fail(seconds: float | None) -> int:
    """Wait for a program, or fail after some time without one."""
    if seconds is None:
        return subprocess.run(LONG, check=False).returncode
    time.sleep(seconds)
    raise ValueError("first")


def test_results_have_the_order_of_the_inputs_and_an_error_ends_the_others() -> None:
    assert map_in_threads(lambda number: number * number, [3, 1, 2]) == [9, 1, 4]
    with pytest.raises(ValueError, match="first"):
        map_in_threads(wait_or_fail, [None, 0.2])


def test_ctrl_c_is_taken_although_a_library_lets_the_kernel_go_on_with_waits() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.siginterrupt(signal.SIGINT, False)  # SA_RESTART, as polars sets it
    pressed = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    pressed.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            map_in_threads(wait_or_fail, [None, None])
    finally:
        pressed.join()
        signal.signal(signal.SIGINT, before)


FAILING = """
from lab.base import workers
def root(number):
    return (number - 2) ** 0.5 // 1
if __name__ == "__main__":
    try:
        workers.processors = lambda: 2
        workers.map_in_processes(root, range(40))
    except TypeError as error:
        print(error)
"""


def test_an_error_in_a_process_is_all_that_is_said(tmp_path: Path) -> None:
    """Each time: what Python said of the other processes depended on how far they were."""
    (tmp_path / "failing.py").write_text(FAILING)
    command = [sys.executable, str(tmp_path / "failing.py")]
    for _ in range(5):
        done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(REPO)}, capture_output=True, check=True)
        assert b"complex" in done.stdout
        assert done.stderr == b""


WORKERS = """
import time
from lab.base import workers
if __name__ == "__main__":
    workers.processors = lambda: 2
    workers.map_in_processes(time.sleep, [600] * 2)
"""


PRESSED = """
import time
from lab.base import workers
if __name__ == "__main__":
    workers.processors = lambda: 2
    try:
        with workers.one_pool():
            workers.map_in_processes(abs, range(4))
            print("idle", flush=True)
            time.sleep(600)
    except KeyboardInterrupt:
        pass
"""


@pytest.mark.parametrize("begun", [b"", b"idle"], ids=["while they start", "while they have no work"])
def test_of_ctrl_c_the_processes_say_nothing(tmp_path: Path, begun: bytes) -> None:
    """A terminal sends it to all of them."""
    (tmp_path / "pressed.py").write_text(PRESSED)
    environment = os.environ | {"LAB_RESULTS": str(tmp_path), "PYTHONPATH": str(REPO)}
    command = ["env", "--default-signal=INT", sys.executable, str(tmp_path / "pressed.py")]
    both = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=both, stderr=both, start_new_session=True) as process:
        wait_for(lambda: len(running_on(tmp_path)) == 4, "two workers, and Python's process that tracks them", 60)
        if begun:
            assert process.stdout
            assert process.stdout.readline().startswith(begun)
        for pid in {int(each.split()[0]) for each in running_on(tmp_path)} - {process.pid}:
            os.kill(pid, signal.SIGINT)  # a while before the command, which ends them in no time
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[1] == b""
        assert process.returncode == 0


ENDING = [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP, signal.SIGINT]


@pytest.mark.parametrize("sent", ENDING, ids=lambda each: each.name)
def test_processes_end_at_once_with_the_command_that_started_them(tmp_path: Path, sent: signal.Signals) -> None:
    """Whether the signal goes to the command alone, as that of `kill`, or to all of a terminal."""
    (tmp_path / "workers.py").write_text(WORKERS)
    environment = os.environ | {"LAB_RESULTS": str(tmp_path), "PYTHONPATH": str(REPO)}
    started = ["env", "--default-signal=HUP,INT", sys.executable, str(tmp_path / "workers.py")]
    with subprocess.Popen(started, env=environment, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            wait_for(lambda: len(running_on(tmp_path)) == 4, "two workers, and Python's process that tracks them", 60)
        finally:
            process.send_signal(sent)
    wait_for(lambda: not running_on(tmp_path), "end of all", 20)
