# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab verify`: a line for each claim, why some differ, and nothing written."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
import typer
from counterfactuals import BECAUSE, explained
from lab_papers.commands.verify import CHARS, lines, verify
from lab_papers.evaluation.claims import rows
from lab_papers.evaluation.claims.verdict import AGREES, COUNTED, EXPLAINED, UNJUDGED
from lab_papers.evaluation.kept import evaluation, newer_runs
from lab_papers.evaluation.write import write_all
from rich.console import Console
from test_counterfactual import kept, losses_s, runs

from lab.base import paths
from lab.base.errors import UserError
from lab.tables.digests import write_digests
from tests.brief import error_of, put

__all__ = ["runs"]  # a fixture


@pytest.fixture(scope="module")
def evaluated(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two claims of `mine` that ours agrees with, one that differs and is explained, and their evaluated runs."""
    folder = tmp_path_factory.mktemp("claims")
    (folder / "scenarios").mkdir()
    values = {"late_pct": 100, "loss_s": losses_s(runs, "faster")[0]}
    near = {"loss_s": losses_s(runs, "mine")[0] * 1.015}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "SCENARIOS", folder / "scenarios")
        second = explained(source="paper, figure 2", row="Near", values=near)
        kept(runs, folder / "scenarios", explained("faster", values=values), second)
        shutil.copytree(runs, folder / "results", symlinks=True)
        write_all(folder / "results", None)
    return folder


@pytest.fixture
def stored(evaluated: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The results, to be read."""
    monkeypatch.setattr(paths, "SCENARIOS", evaluated / "scenarios")
    monkeypatch.setenv("LAB_RESULTS", str(evaluated / "results"))
    return evaluated / "results"


@pytest.fixture
def results(stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The results, to be changed."""
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    return shutil.copytree(stored, tmp_path / "results", symlinks=True)


def printed(*names: str, table: str | None = None, width: int = 300) -> str:
    console = Console(record=True, width=width)
    verify(names, table, console)
    return console.export_text()


def files(results: Path) -> dict[Path, tuple[int, int]]:
    """Every file and folder with its time of change and size."""
    return {path: (path.lstat().st_mtime_ns, path.lstat().st_size) for path in results.rglob("*")}


def grown(results: Path) -> None:
    """Let the latest run of `mine` be newer than the tables."""
    trials, table = results / "mine" / "latest" / "trials", results / "evaluation" / "claims.parquet"
    os.utime(trials, (table.stat().st_mtime + 1,) * 2)


def test_reading_writes_nothing_whether_the_tables_are_up_to_date_or_not(results: Path) -> None:
    before = files(results)
    assert "judged now" not in printed()
    assert files(results) == before
    for file in results.glob("mine/*/outcomes.parquet*"):
        file.unlink()
    grown(results)
    before = files(results)
    assert "judged now, and not stored: newer than the tables: mine: lab evaluate" in printed()
    assert files(results) == before


def test_claims_that_a_stranger_has_judged_are_judged_again(results: Path) -> None:
    right = [line for line in printed().splitlines() if " agree; " in line]
    table = results / "evaluation" / "claims.parquet"
    pl.read_parquet(table).with_columns(verdict=pl.lit("agrees")).write_parquet(table)
    write_digests(table.parent)
    shown = printed()
    assert "judged now, and not stored: lab evaluate" in shown
    assert [line for line in shown.splitlines() if " agree; " in line] == right
    with pytest.raises(UserError, match=r"made by this user's lab .*, of the runs that are stored here: run `lab eval"):
        evaluation(results, "claims")


def test_what_is_stored_is_read_and_what_is_newer_is_judged(results: Path) -> None:
    shutil.rmtree(results / "mine" / "latest" / "trials")
    assert newer_runs(results) == []
    assert "2 agree; 1 differ, explained" in printed()
    (results / "mine" / "latest" / "trials").mkdir()
    assert newer_runs(results) == ["mine"]
    assert newer_runs(results, ["faster"]) == []
    assert "0 agree" in printed()


@pytest.mark.usefixtures("stored")
def test_each_status_is_counted_and_what_the_counterfactual_gave_is_shown(runs: Path) -> None:
    shown = printed()
    assert (
        "2 agree; 1 differ, explained by a run; 0 differ, partly explained by a run; 0 differ, not explained; 0 open; "
        "0 cannot be judged here"
    ) in shown
    assert "of the 2 that agree, 1 published values lie in our 95 % interval" in shown
    assert "differs, explained: mine\n" in shown
    assert f"why: {BECAUSE} (faster gives {losses_s(runs, 'faster')[0]:.3g}" in shown
    assert "times count from the first data segment in: paper" in shown


@pytest.mark.usefixtures("stored")
def test_a_claim_that_differs_is_a_sentence_with_both_values(runs: Path) -> None:
    ours, published = losses_s(runs, "mine")[0], losses_s(runs, "faster")[0]
    assert f"Mine, loss_s: {ours:.3g} s here, {published:.3g} s published: " in printed()


@pytest.mark.usefixtures("stored")
def test_a_claim_that_our_interval_excludes_is_marked_though_it_agrees() -> None:
    marked = [line for line in printed().splitlines() if line.endswith("agrees*")]
    assert [line.split()[0] for line in marked] == ["loss_s"]
    assert "* within the tolerance, but our 95 % interval excludes the published value" in printed()


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("table", ["1", "table 1"])
def test_one_table_alone(table: str) -> None:
    shown = printed("mine", table=table)
    assert "paper, table 1, Mine: CUBIC without HyStart (mine)" in shown
    assert "figure 2" not in shown


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("names", "table", "words"),
    [
        (["nobody"], None, "command line: scenario=nobody: must be a known scenario with claims: mine"),
        (["mine"], "5.3", "command line: table=5.3: must be one of 1, 2"),
    ],
)
def test_a_name_that_is_not_there_is_one_line(names: list[str], table: str, words: str) -> None:
    assert error_of(verify, names, table, Console(width=300)) == words


def test_a_damaged_table_is_no_claim(results: Path) -> None:
    table = results / "evaluation" / "claims.parquet"
    table.write_bytes(table.read_bytes()[:-1])
    assert "run `lab evaluate` again" in error_of(printed)


def test_a_run_that_cannot_be_read_is_a_line_and_exit_status_1(results: Path) -> None:
    grown(results)
    put(results / "mine" / "latest" / "trials" / "search-001" / "trial.json", "{")
    with pytest.raises(typer.Exit) as end:
        verify([], None, Console(width=300))
    assert end.value.exit_code == 1


def test_without_any_run_the_scenarios_that_could_run_are_named() -> None:
    nothing = dict.fromkeys(rows.SCHEMA) | {"verdict": UNJUDGED, "why": rows.NOT_RUN}
    table = pl.DataFrame([nothing | {"scenario": name} for name in ("first", "second")], schema=rows.SCHEMA)
    assert [text.plain for text in lines(table, CHARS)] == [
        "not run yet: first, second",
        "run them: lab reproduce first second",
    ]


def test_without_any_run_there_is_a_command_exit_status_1_and_nothing_is_counted(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stored.exists()
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "nothing"))
    with pytest.raises(typer.Exit) as end:
        verify([], None, Console(width=300))
    assert end.value.exit_code == 1
    assert capsys.readouterr().out.splitlines() == ["not run yet: mine", "run them: lab reproduce mine"]


@pytest.mark.parametrize("verdict", COUNTED)
@pytest.mark.parametrize("value", [123456.789, 0.0123456, -0.0123456, 297.69])
def test_a_claim_fits_80_characters(value: float, verdict: str) -> None:
    about = {"metric": "exit_bitrate_mbps", "unit": "Mb/s", "document": "thesis", "place": "table 5.1", "row": "x" * 90}
    numbers = {"published": value, "tolerance": abs(value) / 3, "ours": value * 2, "lo": value, "hi": value * 3}
    row = about | numbers | {"form": "CUBIC", "scenario": "thesis-geo", "verdict": verdict, "trials": 1000}
    row["lo"], row["hi"] = sorted((value * 1.9, value * 3))
    table = pl.DataFrame([dict.fromkeys(rows.SCHEMA) | row], schema=rows.SCHEMA)
    assert max(len(text.plain) for text in lines(table, CHARS)) <= CHARS


def verdicts_of(results: Path) -> Iterator[str]:
    yield from pl.read_parquet(results / "evaluation" / "claims.parquet")["verdict"]


def test_the_lines_have_the_verdicts_of_the_stored_table(stored: Path) -> None:
    assert sorted(verdicts_of(stored)) == sorted([AGREES, AGREES, EXPLAINED])
    words = [line.split()[-1] for line in printed().splitlines() if line.startswith(("loss_s", "late_pct"))]
    assert sorted(words) == ["agrees!", "agrees*", "explained"]
