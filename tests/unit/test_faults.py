# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever goes wrong gets one clear line and a failing exit status, and nothing that is stored is lost."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lab.__main__ import main
from lab.commands.cli import app
from lab.tables.stored_trial import FORMAT
from tests.command import lab, scenario_file
from tests.stored_run import store_run


def refused(done: "subprocess.CompletedProcess[str]") -> str:
    """Return the one line that a refused command printed as its error."""
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.strip()


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder of the system's tools, from which a test takes one away."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("bwrap", "mmdebstrap", "setpriv", "git", "apt-get", "true"):
        found = shutil.which(tool)
        if found:
            (folder / tool).symlink_to(found)
    return folder


def test_without_bwrap_a_run_names_it_and_the_command_that_tells_more(tmp_path: Path, tools: Path) -> None:
    (tools / "bwrap").unlink()
    done = lab(tmp_path / "results", "run", str(scenario_file(tmp_path)), PATH=str(tools))
    assert refused(done) == "sandbox: bwrap: not installed: run 'lab doctor'"


def test_without_mmdebstrap_the_first_run_names_it(tmp_path: Path, tools: Path) -> None:
    (tools / "mmdebstrap").unlink(missing_ok=True)
    cache = tmp_path / "cache"
    done = lab(tmp_path / "results", "run", str(scenario_file(tmp_path)), PATH=str(tools), LAB_CACHE=str(cache))
    assert refused(done) == "mmdebstrap: not installed: run 'make setup'"
    assert not [folder for folder in cache.iterdir() if folder.is_dir()]


def test_doctor_names_what_is_missing_and_what_mends_it(tmp_path: Path, tools: Path) -> None:
    (tools / "bwrap").unlink()
    done = lab(tmp_path / "results", "doctor", PATH=str(tools), LAB_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 1
    assert any(
        line.startswith("MISSING  sandbox (bwrap)") and "make setup" in line for line in done.stdout.splitlines()
    )


@pytest.fixture
def refusal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run the command here, and return the one line that it printed as its error."""

    def run(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["lab", *words])
        with pytest.raises(SystemExit) as end:
            main()
        told = capsys.readouterr().err
        assert (end.value.code, told.count("\n")) == (2, 1), told
        return told.strip()

    return run


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_run(tmp_path_factory.mktemp("whole"), trials=1)


@pytest.fixture
def stored(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "run"))


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("run.json", json.dumps({"format": 99}).encode(), f"format=99: must be {FORMAT}"),
        ("run.json", b'{"format": 2, "comp', "must be whole JSON"),
        ("run.json", b"[]", "must be a JSON object"),
        ("trials/cubic-001/trial.json", json.dumps({"format": 1}).encode(), f"format=1: must be {FORMAT}"),
        ("trials/cubic-001/trial.json", b"", "must be whole JSON"),
        ("trials/cubic-001/packets.parquet", None, "must be a whole Parquet table"),
        ("trials/cubic-001/acks.parquet", b"", "must be a whole Parquet table"),
        ("trials/cubic-001/qdisc.parquet", b"not a table", "must be a whole Parquet table"),
    ],
)
def test_a_damaged_run_is_refused_by_file(
    stored: Path, refusal: Callable[..., str], file: str, content: bytes | None, words: str
) -> None:
    damaged = stored / file
    damaged.write_bytes(damaged.read_bytes()[:-100] if content is None else content)
    assert refusal("report", str(stored)).startswith(f"{damaged}: {words}")


COMMANDS = [
    *"list check doctor run reproduce evaluate verify report page agree clean bench".split(),
    "kernel build",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(command: str) -> None:
    done = CliRunner().invoke(app, [*command.split(), "--help"], env={"COLUMNS": "200"})
    assert done.exit_code == 0
    assert f"Example: lab {command}" in done.stdout.replace("`", "")


def test_every_command_is_among_those() -> None:
    named = [str(known.name or getattr(known.callback, "__name__", "")) for known in app.registered_commands]
    assert sorted([*named, "kernel build"]) == sorted(COMMANDS)
