# SPDX-License-Identifier: GPL-2.0-or-later
"""A topology's lines run as root in the virtual kernel: what they leave in a trial's folder never reaches the host."""

from pathlib import Path

import pytest

from lab.runs.pool import Result, attempt
from tests.conftest import SMALL, Bench, experiment_on

HELD = "held by the host alone"
PLAIN = "must be a plain file or folder"


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


@pytest.mark.parametrize("name", ["trial.json", "packets.parquet", "client.pcapng.zst", "error.txt"])
def test_a_link_to_a_file_of_the_host_fails_the_trial(bench: Bench, secret: Path, name: str) -> None:
    result, folder = attacked(bench, f"link-{name}", f"ln -s {secret} /trial/{name}")
    assert result == f"trial: {name}: {PLAIN}"
    assert secret.read_text() == HELD
    assert list(folder.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("trial.json", "mkfifo /trial/trial.json"),
        ("formats", "rmdir /trial/formats; ln -s /etc /trial/formats"),
        ("link", "mv /trial/link /trial/old; ln -s /etc /trial/link"),
        ("twin", "touch /trial/one && ln /trial/one /trial/twin"),
    ],
)
def test_a_fifo_or_a_linked_folder_fails_the_trial(bench: Bench, name: str, line: str) -> None:
    result, folder = attacked(bench, f"other-{name}", line)
    assert str(result).endswith((PLAIN, "File exists"))
    assert list(folder.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("sparse", "truncate -s 100G /trial/big"),
        ("many", "mkdir /trial/many && cd /trial/many && seq 100000 | xargs touch"),
        ("full", "for i in $(seq 99); do head -c 900M /dev/zero >/trial/$i; done"),
        (
            "console",
            "chmod 0 /trial/link; head -c 20M /dev/zero | tr '\\0' 'x' >/dev/console; ln -s / /trial/error.txt",
        ),
    ],
)
def test_what_a_guest_writes_has_a_limit(bench: Bench, what: str, line: str) -> None:
    result, folder = attacked(bench, what, line)
    assert isinstance(result, str)
    assert result.startswith(("trial: ", "virtual kernel: exit status"))
    assert list(folder.parent.iterdir()) == []


def test_what_else_a_guest_leaves_is_not_stored(bench: Bench) -> None:
    result, folder = attacked(bench, "more", "touch /trial/more /trial/trial.json /trial/SHA256SUMS")
    assert isinstance(result, dict), result
    assert not (folder / "more").exists()
    assert (folder / "trial.json").stat().st_size > 0
