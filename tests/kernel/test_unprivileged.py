# SPDX-License-Identifier: GPL-2.0-or-later
"""Without bubblewrap and without any right the same trial has the same packets, and lab try works."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lab.base import landlock, paths, sandbox_mode
from lab.kernel.build import Kernel
from lab.tables.stored_run import Run
from lab.tables.stored_trial import TABLES, Trial
from tests import command
from tests.command import (
    ENOUGH_S,
    Done,
    lab,
    lab_ok,
    press_ctrl_c,
    running_on,
    scenario_file,
    start,
    status_of,
    wait_for,
)
from tests.conftest import SMALL, Bench, experiment_on
from tests.own_cache import cache_with
from tests.own_modules import source, written

NO_RIGHTS = "bwrap --dev-bind / / --unshare-user --uid 12345 --gid 12345 --disable-userns --cap-drop ALL --".split()


@pytest.fixture(scope="module", params=["cubic", "bbr", "search"])
def both(request: pytest.FixtureRequest, bench: Bench) -> tuple[Trial, Trial]:
    trials = []
    for mode in sandbox_mode.MODES:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(sandbox_mode.VARIABLE, mode)
            trials.append(bench.run(experiment_on(SMALL, request.param), request.param, f"sandbox-{mode}"))
    return trials[0], trials[1]


@pytest.mark.parametrize("table", TABLES)
def test_every_table_is_the_same_in_both_modes(both: tuple[Trial, Trial], table: str) -> None:
    with_, without = (trial.table(table) for trial in both)
    assert with_.equals(without)


def test_a_trial_records_the_mode_that_it_ran_in(both: tuple[Trial, Trial]) -> None:
    expected = "none, with Landlock" if landlock.abi() else "none"
    assert [trial.meta["sandbox"] for trial in both] == ["bubblewrap", expected]


def start_without_rights(results: Path, *words: str, **environment: str) -> "subprocess.Popen[str]":
    """Start `lab` as a user without a capability or user namespaces, with no_new_privs: bubblewrap cannot work."""
    settings = {"LAB_RESULTS": str(results), "COLUMNS": "200"} | environment
    return subprocess.Popen(
        [command.ENV, "--default-signal=HUP,INT", *NO_RIGHTS, sys.executable, "-m", "lab", *words],
        cwd=paths.REPO,
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.fixture(scope="module")
def without_rights(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel) -> tuple[Path, str]:
    """A whole run of such a user: its results, and what it printed."""
    assert kernel
    folder = tmp_path_factory.mktemp("without-rights")
    process = start_without_rights(folder / "results", "run", str(scenario_file(folder, trials=1)), "--jobs", "1")
    printed, errors = process.communicate(timeout=3 * ENOUGH_S)
    assert process.returncode == 0, errors + printed
    return folder / "results", printed


def test_a_user_without_any_right_runs_trials_with_the_same_packets_and_is_told_so(
    without_rights: tuple[Path, str], tmp_path: Path
) -> None:
    run = Run(without_rights[0] / "mine" / "latest")
    assert run.complete
    assert run.meta["sandbox"].startswith("none")
    lines = [line for line in without_rights[1].splitlines() if line.startswith("sandbox none, since bwrap: ")]
    assert len(lines) == 1
    lab_ok(tmp_path / "results", "run", str(scenario_file(tmp_path, trials=1)), LAB_SANDBOX="bubblewrap")
    (here,), (there,) = (Run(at / "mine" / "latest").trials for at in (tmp_path / "results", without_rights[0]))
    assert here.packets.equals(there.packets)


def test_bubblewrap_that_is_requested_and_cannot_work_is_refused(tmp_path: Path) -> None:
    process = start_without_rights(tmp_path / "results", "run", str(scenario_file(tmp_path)), LAB_SANDBOX="bubblewrap")
    _, errors = process.communicate(timeout=ENOUGH_S)
    assert process.returncode == 2
    assert errors.startswith("sandbox: bwrap: ")
    assert errors.count("\n") == 1


def end(process: "subprocess.Popen[str]", by: signal.Signals) -> None:
    """End a command by Ctrl-C or SIGKILL, and require the status that shells give for that."""
    if by == signal.SIGINT:
        press_ctrl_c(process)
    else:
        os.kill(process.pid, by)
    process.communicate(timeout=ENOUGH_S)
    assert status_of(process) == 128 + by


@pytest.fixture(params=[signal.SIGKILL, signal.SIGINT])
def ended(request: pytest.FixtureRequest, tmp_path: Path, kernel: Kernel) -> Path:
    """A run of two at once, without bubblewrap, that is killed or interrupted while both kernels run."""
    assert kernel
    process = command.start_two_trials(tmp_path, LAB_SANDBOX="none")
    assert len(running_on(tmp_path / "results")) > 6  # main, two workers, two kernels, and what runs inside
    end(process, request.param)
    return tmp_path / "results"


def test_a_run_that_ends_takes_its_kernels_and_their_processes_along(ended: Path) -> None:
    wait_for(lambda: not running_on(ended), f"end of {running_on(ended)}", ENOUGH_S)
    assert lab(ended, "clean").returncode == 0
    assert not list(ended.glob("mine/*/trials/.*"))


def lab_without_ptrace(results: Path, *words: str) -> Done:
    return subprocess.run(
        [sys.executable, "-m", "tests.no_ptrace", sys.executable, "-m", "lab", *words],
        cwd=paths.REPO,
        env=os.environ | {"LAB_RESULTS": str(results), "LAB_SANDBOX": "none", "COLUMNS": "400"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_where_ptrace_is_forbidden_one_line_states_it_and_doctor_names_it(tmp_path: Path, kernel: Kernel) -> None:
    assert kernel
    done = lab_without_ptrace(tmp_path / "results", "run", str(scenario_file(tmp_path, trials=1)))
    assert done.returncode == 1
    assert "cubic_plain-001: virtual kernel: ptrace: a seccomp profile or yama forbids it" in done.stdout
    done = lab_without_ptrace(tmp_path / "results", "doctor")
    assert any(line.startswith("MISSING  ptrace") for line in done.stdout.splitlines())


MANY = 6000  # functions: gcc takes longer for them than a busy machine lets a test wait
OPTIONS = ("--links", "wired", "--against", "cubic", "--trials", "1", "--duration", "2", "--jobs", "1")
BUILDING = "tmp/search-lab-scratch-*/work/guest/own/own/own.c"


@pytest.fixture
def environment(tmp_path: Path, kernel: Kernel) -> dict[str, str]:
    """A cache without modules, and a folder for temporary files."""
    (tmp_path / "tmp").mkdir()
    return {"LAB_CACHE": str(cache_with(kernel, tmp_path / "cache")), "TMPDIR": str(tmp_path / "tmp")}


def trials_csv(results: Path) -> str:
    (file,) = (results / "comparisons").glob("[0-9]*/trials.csv")
    return file.read_text()


def test_it_builds_tests_and_compares_a_module_to_the_same_result(tmp_path: Path, environment: dict[str, str]) -> None:
    words = ("try", str(written(tmp_path, source())), *OPTIONS)
    process = start_without_rights(tmp_path / "results", *words, **environment)
    printed, errors = process.communicate(timeout=10 * ENOUGH_S)
    assert process.returncode == 0, errors + printed
    assert "smoke test passed" in printed
    assert printed.count("sandbox none, since bwrap: ") == 1
    assert list((tmp_path / "tmp").iterdir()) == []
    lab_ok(tmp_path / "other", *words, LAB_SANDBOX="bubblewrap")
    assert trials_csv(tmp_path / "results") == trials_csv(tmp_path / "other")


def test_a_build_error_is_named_as_everywhere(tmp_path: Path, environment: dict[str, str]) -> None:
    file = written(tmp_path, source(code="static void broken(void)\n{\n\tnowhere(1);\n}\n"))
    process = start_without_rights(tmp_path / "results", "try", str(file), *OPTIONS, **environment)
    _, errors = process.communicate(timeout=5 * ENOUGH_S)
    assert process.returncode == 2
    assert errors.startswith(f"{file}:8:9: error: implicit declaration of function 'nowhere'")
    assert errors.count("\n") == 1


@pytest.fixture(params=[signal.SIGINT, signal.SIGKILL])
def ended_build(
    request: pytest.FixtureRequest, tmp_path: Path, environment: dict[str, str]
) -> "tuple[subprocess.Popen[str], Path]":
    """A command that is ended while its module is built in a virtual kernel, which takes it some seconds."""
    slow = "".join(f"int f{n}(int a);\nint f{n}(int a) {{ return a / {n + 1}; }}\n" for n in range(MANY))
    words = ("try", str(written(tmp_path, source(code=slow))), *OPTIONS)
    process = start(tmp_path / "results", *words, LAB_SANDBOX="none", **environment)
    wait_for(lambda: list(tmp_path.glob(BUILDING)), "build", 5 * ENOUGH_S)
    end(process, request.param)
    return process, tmp_path


def test_a_build_that_is_ended_takes_its_kernel_along(ended_build: "tuple[subprocess.Popen[str], Path]") -> None:
    folder = ended_build[1]
    wait_for(lambda: not running_on(folder), "end of all its processes")
    assert not [path for path in (folder / "cache").glob("own-*") if path.is_dir()]
    shutil.rmtree(folder / "tmp")
