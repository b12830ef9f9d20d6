# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions in threads end together: the first error, or Ctrl-C, kills the programs of the others."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lab.base.paths import REPO
from lab.base.processes import map_in_threads
from tests.command import running_on, wait_for

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


WORKERS = """
import time
from lab.base.processes import map_in_processes
if __name__ == "__main__":
    map_in_processes(time.sleep, [600] * 2, workers=2)
"""


@pytest.mark.parametrize(
    "sent", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP, signal.SIGINT], ids=lambda each: each.name
)
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
