# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab try` of a user without any right: no bubblewrap, no namespaces, no_new_privs; and its ends."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from lab.kernel.build import Kernel
from tests.command import ENOUGH_S, lab, press_ctrl_c, running_on, start, status_of, wait_for
from tests.kernel.test_unprivileged import start_without_rights
from tests.own_cache import cache_with
from tests.own_modules import source, written

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
    with_rights = lab(tmp_path / "other", *words, LAB_SANDBOX="bubblewrap")
    assert with_rights.returncode == 0, with_rights.stderr
    assert trials_csv(tmp_path / "results") == trials_csv(tmp_path / "other")


def test_a_build_error_is_named_as_everywhere(tmp_path: Path, environment: dict[str, str]) -> None:
    file = written(tmp_path, source(code="static void broken(void)\n{\n\tnowhere(1);\n}\n"))
    process = start_without_rights(tmp_path / "results", "try", str(file), *OPTIONS, **environment)
    _, errors = process.communicate(timeout=5 * ENOUGH_S)
    assert process.returncode == 2
    assert errors.startswith(f"{file}:8:9: error: implicit declaration of function 'nowhere'")
    assert errors.count("\n") == 1


@pytest.fixture(params=[signal.SIGINT, signal.SIGKILL])
def ended(
    request: pytest.FixtureRequest, tmp_path: Path, environment: dict[str, str]
) -> "tuple[subprocess.Popen[str], Path]":
    """A command that is ended while its module is built in a virtual kernel."""
    words = ("try", str(written(tmp_path, source())), *OPTIONS)
    process = start(tmp_path / "results", *words, LAB_SANDBOX="none", **environment)
    wait_for(lambda: list(tmp_path.glob(BUILDING)), "build", 5 * ENOUGH_S)
    if request.param == signal.SIGINT:
        press_ctrl_c(process)
    else:
        os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=ENOUGH_S)
    assert status_of(process) == (130 if request.param == signal.SIGINT else 128 + signal.SIGKILL)
    return process, tmp_path


def test_a_build_that_is_ended_takes_its_kernel_along(ended: "tuple[subprocess.Popen[str], Path]") -> None:
    folder = ended[1]
    wait_for(lambda: not running_on(folder), "end of all its processes")
    assert not [path for path in (folder / "cache").glob("own-*") if path.is_dir()]
    shutil.rmtree(folder / "tmp")
