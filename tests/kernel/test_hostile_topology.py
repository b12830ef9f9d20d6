# SPDX-License-Identifier: GPL-2.0-or-later
"""A topology's lines run as root in the virtual kernel: what they leave in a trial's folder never reaches the host."""

from pathlib import Path

import pytest

from lab.runs.pool import Result, attempt
from tests.conftest import SMALL, Bench, experiment_on

HELD = "held by the host alone"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "secret"
    file.write_text(HELD)
    return file


def attacked(bench: Bench, name: str, *lines: str) -> tuple[Result, Path]:
    """Run a trial whose topology has further lines; return its result and its folder."""
    experiment = experiment_on(SMALL, "cubic", duration_s=1)
    nodes = experiment.topology.topology.nodes
    nodes["server"] = nodes["server"].model_copy(update={"exec": [*nodes["server"].exec, *lines]})
    job = bench.job(experiment, "cubic", name)
    return attempt(job), job.folder


@pytest.mark.parametrize(
    "line",
    [
        "for name in trial.json packets.parquet client.pcapng.zst error.txt; do ln -s {file} /trial/$name; done",
        "ln -s {file} /trial/error.txt",
        "ln -s /etc /trial/formats",
        "mkfifo /trial/trial.json",
    ],
)
def test_what_is_no_plain_file_fails_the_trial(bench: Bench, secret: Path, line: str) -> None:
    result, folder = attacked(bench, f"line-{abs(hash(line))}", line.format(file=secret))
    assert str(result).startswith("trial: ")
    assert str(result).endswith(": must be a plain file or folder")
    assert secret.read_text() == HELD
    assert list(folder.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("sparse", "truncate -s 100G /trial/big"),
        ("many", "mkdir /trial/many && cd /trial/many && seq 100000 | xargs touch"),
    ],
)
def test_what_a_guest_writes_has_a_limit(bench: Bench, what: str, line: str) -> None:
    result, folder = attacked(bench, what, line)
    assert str(result).startswith(("trial: ", "virtual kernel: exit status"))
    assert list(folder.parent.iterdir()) == []


def test_what_else_a_guest_leaves_is_not_stored(bench: Bench) -> None:
    result, folder = attacked(bench, "more", "touch /trial/more /trial/trial.json /trial/SHA256SUMS")
    assert isinstance(result, dict), result
    assert not (folder / "more").exists()
    assert (folder / "trial.json").stat().st_size > 0
