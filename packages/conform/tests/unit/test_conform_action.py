# SPDX-License-Identifier: GPL-2.0-or-later
"""The composite action's steps are a shell script: it runs here on a small repository, with a file as bundle."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from lab.base.paths import REPO
from tests.brief import put

ACTION = yaml.safe_load((REPO / "packages/conform/ci/action.yml").read_text())
(STEP,) = ACTION["runs"]["steps"]
BUNDLE = b"all that the lab needs"
MAKEFILE = "setup:\n\tcp $(BUNDLE) installed\n"
LAB = '#!/bin/sh\ncat "$(dirname "$0")/../installed" >arguments && printf " %s" "$@" >>arguments\n'


@pytest.fixture
def commit(tmp_path: Path) -> str:
    """Make a repository whose setup keeps the bundle, and whose `lab` writes its arguments; return its commit."""
    lab = put(tmp_path / "repository/scripts/lab", LAB)
    lab.chmod(0o755)
    (tmp_path / "repository/Makefile").write_text(MAKEFILE)
    (tmp_path / "bundle").write_bytes(BUNDLE)
    (tmp_path / "work").mkdir()
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(tmp_path / "repository")]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "all"]):
        subprocess.run([*git, *words], check=True)
    return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


def run(tmp_path: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """Run the step as the service does: bash with -e and pipefail, with the inputs in its environment."""
    inputs = {"repository": str(tmp_path / "repository"), "bundle": (tmp_path / "bundle").as_uri()}
    inputs |= {"sender": "mine.c", "suite": "rfc9438", "sha256": hashlib.sha256(BUNDLE).hexdigest()} | given
    environment = {name: inputs[text[len("${{ inputs.") : -len(" }}")]] for name, text in STEP["env"].items()}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEP["run"]]
    return subprocess.run(
        command, cwd=tmp_path / "work", env=os.environ | environment, capture_output=True, text=True, check=False
    )


def test_the_action_installs_the_bundle_and_runs_the_suite_on_the_sender(tmp_path: Path, commit: str) -> None:
    done = run(tmp_path, commit=commit)
    assert done.returncode == 0, done.stderr
    arguments = (tmp_path / "work/arguments").read_text()
    assert arguments == f"{BUNDLE.decode()} conform mine.c --suite rfc9438 --junit conform.xml --out conform-page"


def test_the_environment_of_the_action_names_each_input() -> None:
    named = {text[len("${{ inputs.") : -len(" }}")] for text in STEP["env"].values()}
    assert named == {*ACTION["inputs"]}


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"sha256": "0" * 64}, "did NOT match"),
        ({"commit": "0" * 40}, "0000"),
        ({"bundle": "file:///no/such/bundle"}, "curl"),
    ],
)
def test_the_action_stops_at_what_is_unstated(wrong: dict[str, str], reason: str, tmp_path: Path, commit: str) -> None:
    done = run(tmp_path, **{"commit": commit} | wrong)
    assert done.returncode != 0
    assert reason in done.stdout + done.stderr
    assert not (tmp_path / "work/arguments").exists()
