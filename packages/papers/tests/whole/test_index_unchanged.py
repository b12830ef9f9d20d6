# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of all results is left as it was where nothing changed, and is written again where anything did."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from lab_papers.commands import evaluate
from lab_papers.index import write
from lab_papers.index.unchanged import keep, page_key, unchanged
from lab_papers.index.write import write_index
from rich.console import Console
from test_index import results  # noqa: F401

NOTEBOOK = "# %% [markdown]\n# # What does it show?\n# %%\n# It hands over by Artefacts.into(None).\n"


@pytest.fixture
def notebooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    own = tmp_path / "scenarios"
    own.mkdir()
    monkeypatch.setenv("LAB_SCENARIOS", str(own))
    folder = tmp_path / "notebooks"
    folder.mkdir()
    (folder / "01-shown.py").write_text(NOTEBOOK)
    return folder


def trial(results: Path) -> Path:
    return results / "geo" / "latest" / "trials" / "cubic-001"


def another_run(results: Path) -> None:
    latest = results / "geo" / "latest"
    shutil.copytree(latest.resolve(), results / "geo" / "2030-01-01T00-00-00Z")


def another_latest(results: Path) -> None:
    (results / "geo" / "latest").unlink()
    (results / "geo" / "latest").symlink_to("2031-01-01T00-00-00Z")


def overwrite(name: str, results: Path, _notebooks: Path) -> None:
    (results / name).write_text("mine")


def remove(name: str, results: Path, _notebooks: Path) -> None:
    (results / name).unlink()


WRITTEN = ("index.html", "exits.svg", "notebooks/01-shown/01-shown.ipynb", "geo/latest/report.html")
CHANGES: dict[str, Callable[[Path, Path], object]] = {
    "a trial is damaged": lambda results, _: (trial(results) / "packets.parquet").write_bytes(b"PAR1"),
    "a trial is gone": lambda results, _: shutil.rmtree(trial(results)),
    "a run goes on": lambda results, _: os.utime(results / "geo" / "latest" / "run.json"),
    "there is another run": lambda results, _: another_run(results),
    "the latest run is another": lambda results, _: another_latest(results),
    "the claims are judged": lambda results, _: (results / "evaluation" / "claims.csv").write_text("a,b\n"),
    "a notebook is another": lambda _, folder: (folder / "01-shown.py").write_text(f"{NOTEBOOK}2\n"),
    "the user has a scenario": lambda _, folder: (folder.parent / "scenarios" / "mine.yml").write_text("question: ?\n"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_it_is_written_again_where(results: Path, notebooks: Path, change: str) -> None:
    (results / "evaluation").mkdir()
    key = page_key(results, None, notebooks)
    for name in WRITTEN:
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_text(name)
    keep(results, key)
    assert unchanged(results, None, notebooks) == results / "index.html"
    CHANGES[change](results, notebooks)
    assert unchanged(results, None, notebooks) is None


def test_it_is_written_again_where_a_notebook_had_a_fault(results: Path, notebooks: Path) -> None:
    (notebooks / "01-shown.py").write_text(f"{NOTEBOOK}1 / 0\n")
    failed: list[str] = []
    write_index(results, None, notebooks, failed.append)
    assert failed == [f"{results}/notebooks/01-shown/01-shown.ipynb: ZeroDivisionError: division by zero"]
    assert unchanged(results, None, notebooks) is None


def test_the_command_names_a_notebook_that_fails_with_exit_status_1(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_results: Path, _library: None, failed: Callable[[str], object]) -> str:
        failed("01-shown.ipynb: ZeroDivisionError: division by zero")
        return "index.html"

    monkeypatch.setattr(evaluate, "replay_library", lambda: None)
    monkeypatch.setattr(evaluate, "newer_runs", lambda _results: [])
    monkeypatch.setattr(write, "write_index", broken)
    with pytest.raises(typer.Exit) as end:
        evaluate.page(results, Console(width=200))
    assert end.value.exit_code == 1
    shown = ["page      index.html", "01-shown.ipynb: ZeroDivisionError: division by zero"]
    assert capsys.readouterr().out.splitlines()[1:] == shown


def test_the_command_leaves_it_as_it_was(
    results: Path,
    notebooks: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = write_index(results, None, notebooks)
    monkeypatch.setattr(evaluate, "replay_library", lambda: None)
    monkeypatch.setattr(evaluate, "newer_runs", lambda _results: [])
    monkeypatch.setattr(evaluate, "unchanged", lambda results, library: unchanged(results, library, notebooks))
    before = page.stat().st_mtime_ns
    evaluate.page(results, Console(width=200))
    assert capsys.readouterr().out == f"page      {page}, as it was: nothing changed\n"
    assert page.stat().st_mtime_ns == before
