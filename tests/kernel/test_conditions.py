# SPDX-License-Identifier: GPL-2.0-or-later
"""Under odd conditions a trial has the packets that it always has."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.base import paths, sandbox_mode
from lab.kernel.build import Kernel
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from tests.brief import put
from tests.command import ENOUGH_S, lab_ok, scenario_file, start
from tests.hostile.escapes import ordinary

FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
JUMPS = ("-40d", "+90d", "-1s")


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel) -> Trial:
    """The trial as it always is."""
    assert kernel
    folder = tmp_path_factory.mktemp("usual")
    lab_ok(folder / "results", "run", str(scenario_file(folder, trials=1)), "--jobs", "1")
    return only_trial(folder / "results")


def only_trial(results: Path) -> Trial:
    (trial,) = Run(results / "mine" / "latest").trials
    return trial


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("mode", sandbox_mode.MODES)
def test_another_user_reads_the_kernel_and_world_that_root_has_made(kernel: Kernel, expected: Trial, mode: str) -> None:
    with ordinary.open_folder() as place:
        words = [sys.executable, "-m", "lab", "run", str(scenario_file(place, trials=1)), "--jobs", "1"]
        done = subprocess.run(
            ordinary.command(kernel, place / "user", words),
            cwd=paths.REPO,
            env=os.environ | {"LAB_RESULTS": str(place / "user/results"), sandbox_mode.VARIABLE: mode},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        trial = only_trial(place / "user/results")
        assert trial.meta["sandbox"].startswith(mode)
        assert trial.packets.equals(expected.packets)


@pytest.mark.parametrize("mask", [0o027, 0o077])
def test_a_umask_that_shuts_others_out_changes_no_packet(tmp_path: Path, expected: Trial, mask: int) -> None:
    words = [sys.executable, "-m", "lab", "run", str(scenario_file(tmp_path, trials=1)), "--jobs", "1"]
    environment = os.environ | {"LAB_RESULTS": str(tmp_path / "results")}
    done = subprocess.run(
        words, cwd=paths.REPO, env=environment, umask=mask, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert only_trial(tmp_path / "results").packets.equals(expected.packets)


def test_two_runs_of_one_scenario_at_once_do_not_disturb_each_other(tmp_path: Path, expected: Trial) -> None:
    words = ("run", str(scenario_file(tmp_path, trials=1)), "--jobs", "1")
    both = [start(tmp_path / "results", *words) for _ in range(2)]
    for process in both:
        printed, errors = process.communicate(timeout=ENOUGH_S)
        assert process.returncode == 0, errors + printed
    runs = [each for each in (tmp_path / "results" / "mine").iterdir() if not each.is_symlink()]
    assert len(runs) == 2
    assert all(trial.packets.equals(expected.packets) for run in runs for trial in Run(run).trials)


@pytest.mark.skipif(not FAKETIME.exists(), reason="faketime is not installed")
def test_a_clock_that_jumps_changes_no_packet(tmp_path: Path, expected: Trial) -> None:
    jump = put(tmp_path / "jump", JUMPS[0])
    faked = {"LD_PRELOAD": str(FAKETIME), "FAKETIME_TIMESTAMP_FILE": str(jump), "FAKETIME_CACHE_DURATION": "1"}
    process = start(
        tmp_path / "results",
        *("run", str(scenario_file(tmp_path, trials=1)), "--jobs", "1"),
        **faked,
        FAKETIME_DONT_FAKE_MONOTONIC="1",  # only the wall clock jumps
    )
    number = 0
    while process.poll() is None:
        number += 1
        jump.write_text(JUMPS[number % len(JUMPS)])
        time.sleep(0.7)
    printed, errors = process.communicate(timeout=ENOUGH_S)
    assert process.returncode == 0, errors + printed
    assert number > 2
    assert only_trial(tmp_path / "results").packets.equals(expected.packets)
