# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever goes wrong gets one clear line and a failing exit status, and nothing that is stored is lost."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lab.__main__ import main
from lab.commands.cli import app
from lab.tables.stored_trial import FORMAT
from tests.stored_run import store_run


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
    *"list check doctor run reproduce evaluate verify report page agree clean bench data-dictionary".split(),
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
