# SPDX-License-Identifier: GPL-2.0-or-later
"""`make setup` takes no working environment away before it has a whole one to put in its place."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from lab.base.paths import REPO
from tests.command import wait_for

SHELL = ["bash", "-euc"]
BEGUN = ". scripts/environment; begin_environment python3"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose path has characters that sed reads, with an environment of another lock."""
    folder = tmp_path / "a|b & c"
    shutil.copytree(REPO / "scripts", folder / "scripts")
    (folder / "requirements.lock").write_text("numpy==0.0 --hash=sha256:00\n")
    (folder / ".venv").mkdir()
    (folder / ".venv" / "works").touch()
    return folder


def test_without_network_the_environment_of_before_stays(checkout: Path) -> None:
    alone = os.environ | {"PIP_NO_INDEX": "1"}
    done = subprocess.run(["scripts/setup"], cwd=checkout, env=alone, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "installing the locked Python packages" in done.stdout
    assert (checkout / ".venv" / "works").exists()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_setup_that_is_ended_leaves_the_environment_of_before(checkout: Path, sent: signal.Signals) -> None:
    code = "trap - INT; . scripts/environment; mkdir .venv.new; sleep 60; take_environment"
    with subprocess.Popen(
        ["env", "--default-signal=INT", *SHELL, code], cwd=checkout, start_new_session=True
    ) as process:
        wait_for((checkout / ".venv.new").exists, "new environment")
        os.killpg(process.pid, sent)
    assert (checkout / ".venv" / "works").exists()


def test_a_new_environment_works_at_its_place_and_the_old_one_is_gone(checkout: Path) -> None:
    subprocess.run([*SHELL, f"{BEGUN}; take_environment"], cwd=checkout, check=True)
    assert not (checkout / ".venv" / "works").exists()
    assert [each.name for each in checkout.glob(".venv*")] == [".venv"]
    done = subprocess.run([".venv/bin/pip", "--version"], cwd=checkout, capture_output=True, text=True, check=True)
    assert f"{checkout}/.venv/lib" in done.stdout


def test_an_environment_that_a_killed_setup_put_away_comes_back(checkout: Path) -> None:
    (checkout / ".venv").rename(checkout / ".venv.old")
    subprocess.run([*SHELL, ". scripts/environment; restore_environment"], cwd=checkout, check=True)
    assert (checkout / ".venv" / "works").exists()
