# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of all results: what stands where something is missing or cut short, and where nothing changed."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from ack_logs import Gateway, download, text, written
from lab_papers.commands import evaluate
from lab_papers.evaluation import kept
from lab_papers.evaluation.kept import evaluation
from lab_papers.evaluation.write import write_all
from lab_papers.fullest import stored
from lab_papers.index import write
from lab_papers.index.unchanged import keep, page_key, unchanged
from lab_papers.index.write import write_index
from markupsafe import escape
from rich.console import Console
from test_index import results  # noqa: F401  # noqa: F401

from lab.figures.page_figure import Place
from lab.figures.registry import figures
from lab.judge.judged import judged
from lab.tables.stored_run import Run
from tests.brief import folder_at, put
from tests.stored_run import rewrite, sign, store_run
from tests.unit.test_digests import FIXTURE


def test_a_truncated_table_is_one_line_on_the_page_and_the_other_trials_stand(results: Path, tmp_path: Path) -> None:
    file = results / "geo" / "latest" / "trials" / "cubic-001" / "packets.parquet"
    file.write_bytes(file.read_bytes()[:200])
    sign(file)
    page = write_index(results, None, tmp_path).read_text()
    assert "cubic-001/packets.parquet: must be a whole Parquet table" in page
    assert "<b>GEO</b> SEARCH 2.0 + fixes leaves at the right moment in" in page


def test_a_run_of_another_format_is_reported_and_left_out(results: Path, tmp_path: Path) -> None:
    other = store_run(tmp_path / "other", trials=1)
    meta = json.loads((other / "run.json").read_text()) | {"format": 1}
    rewrite(other / "run.json", meta)
    (results / "old").mkdir()
    (results / "old" / "latest").symlink_to(other)
    found, faults = stored(results)
    assert [each.name for each in found] == ["geo"]
    assert len(faults) == 1
    assert "format=1: must be" in faults[0]


def test_a_pipe_in_the_place_of_a_figure_is_a_line_on_the_page(results: Path, tmp_path: Path) -> None:
    for figure in figures(Place.SUMMARY):
        os.mkfifo(results / f"{figure.name}.svg")
        (results / f"{figure.name}.pdf").touch()
    assert ".svg: must be a plain file, no folder, pipe or device" in write_index(results, None, tmp_path).read_text()


def test_an_empty_results_folder_has_a_page_on_which_everything_is_pending(tmp_path: Path) -> None:
    put(folder_at(tmp_path / "results" / "evaluation") / ".claims.csv.12345678.part", "")  # of a killed command
    page = write_index(tmp_path / "results", None, tmp_path).read_text()
    assert "12345678" not in page
    assert "No scenario has been run yet" in page
    assert "Pending: <code>lab evaluate</code> judges the claims." in page


def test_the_page_shows_the_question_of_each_scenario(results: Path, tmp_path: Path) -> None:
    question = Run(results / "geo" / "latest").scenario["question"]
    assert escape(question) in write_index(results, None, tmp_path).read_text()


@pytest.mark.parametrize("without", ["a valid trial", "a place in the summary", "a claim of its own"])
def test_results_of_one_scenario_of_ones_own_have_a_page(tmp_path: Path, without: str) -> None:
    """Of a sender tried on a link, and of a scenario that repeats another one, no rule is scored."""
    run = store_run(tmp_path, trials=1, name="mine", senders=("cubic",))
    meta, trial = json.loads((run / "run.json").read_text()), run / "trials" / "cubic-001" / "trial.json"
    if without == "a valid trial":
        trial.write_text(trial.read_text().replace('"valid": true', '"valid": false'))
        sign(trial)
    elif without == "a place in the summary":
        meta["scenario"]["in_summary"] = False
    else:
        meta["scenario"]["counterfactual_of"] = "geo"
    rewrite(run / "run.json", meta)
    (run.parent / "latest").symlink_to(run.name)
    write_all(tmp_path, None)
    assert "<title>" in write_index(tmp_path, None, tmp_path / "none").read_text()


def test_a_table_of_the_evaluation_that_is_cut_short_is_reported(results: Path, tmp_path: Path) -> None:
    (results / "evaluation").mkdir()
    (results / "evaluation" / "claims.parquet").write_bytes(b"PAR1")
    kept.sign(results / "evaluation")
    assert "claims.parquet: must be a whole Parquet table" in write_index(results, None, tmp_path).read_text()
    assert evaluation(results, "status") is None


def test_the_page_names_the_commands_that_recorded_downloads_wait_for(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache"))
    page = write_index(results, None, tmp_path).read_text()
    assert "<code>lab run geo-recorded</code>, then <code>lab traces fetch geo-viasat-logs" in page
    assert not (results / "recorded_downloads.svg").exists()


def test_the_page_shows_recorded_downloads_beside_emulated_ones(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (results / "geo").rename(results / "geo-recorded")
    log = written(tmp_path, text(download(Gateway()).acks))
    monkeypatch.setattr("lab_papers.index.recorded.fetched", lambda: [str(log)])
    page = write_index(results, None, tmp_path).read_text()
    assert "Recorded downloads (lines) and 1 emulated ones of cubic_plain" in page
    assert "Share of time inside the band of 1 trial of cubic_plain (geo-recorded, " in page
    assert (results / "recorded_downloads.pdf").exists()


@pytest.mark.parametrize("at", ["write_report", "drawn"], ids=["without a page", "with a page that looks fresh"])
def test_a_run_that_cannot_be_drawn_is_named_and_the_others_stand(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """No stored value is known that passes every check and breaks a figure: the figure is broken here."""
    strange = Path(shutil.copytree(FIXTURE, tmp_path / "strange" / "format-2"))
    if at == "drawn":
        judged(Run(strange))
        (strange / "report.html").write_text("made elsewhere")
    (results / "strange").mkdir()
    (results / "strange" / "latest").symlink_to(strange)
    function = getattr(write, at)

    def broken(*given: Any, **named: Any) -> Any:
        runs = [each.run.path for part in given if isinstance(part, list) for each in part]
        if strange in (given[0], *runs):
            raise ValueError("no figure of it")
        return function(*given, **named)

    monkeypatch.setattr(write, at, broken)
    monkeypatch.setattr("lab.base.workers.processors", lambda: 1)  # another process would draw it
    page = write_index(results, None, tmp_path / "none").read_text()
    assert f"{strange}: left out, it cannot be shown: " in page
    assert "<b>GEO</b> SEARCH 2.0 + fixes leaves at the right moment in" in page


NOTEBOOK = "# %% [markdown]\n# # What does it show?\n# %%\n# It hands over by Artefacts.into(None).\n"


@pytest.fixture
def notebooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    own = folder_at(tmp_path / "scenarios")
    monkeypatch.setenv("LAB_SCENARIOS", str(own))
    folder = folder_at(tmp_path / "notebooks")
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


@pytest.mark.parametrize("meanwhile", [True, False])
def test_the_page_reads_the_runs_again_where_one_changed_while_they_were_evaluated(
    results: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: bool
) -> None:
    def evaluated(_results: Path, _library: None, _known: object) -> tuple[Path, list[str]]:
        if meanwhile:
            next(results.glob("*/latest/trials")).touch()
        return results / "evaluation", []

    monkeypatch.setattr(evaluate, "write_all", evaluated)
    known, faults = evaluate._write_tables(results, None, Console())
    assert (known is None, faults) == (meanwhile, [])


def test_the_command_names_a_notebook_that_fails_with_exit_status_1(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_results: Path, _library: None, failed: Callable[[str], object], **_known: None) -> str:
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
    results: Path, notebooks: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = write_index(results, None, notebooks)
    monkeypatch.setattr(evaluate, "replay_library", lambda: None)
    monkeypatch.setattr(evaluate, "newer_runs", lambda _results: [])
    monkeypatch.setattr(evaluate, "unchanged", lambda results, library: unchanged(results, library, notebooks))
    before = page.stat().st_mtime_ns
    evaluate.page(results, Console(width=200))
    assert capsys.readouterr().out == f"page      {page}, as it was: nothing changed\n"
    assert page.stat().st_mtime_ns == before
