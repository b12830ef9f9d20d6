# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of fixed downloads are those that were read and approved (tests/approved.py)."""

from pathlib import Path

import polars as pl
import polars.selectors as cs
import pytest
from ack_logs import Gateway, download, text, written
from lab_papers.evaluation.recorded.comparison import compare_recorded
from lab_papers.evaluation.recorded.tables import sheets
from lab_papers.evaluation.write import write_all

from lab.report.write import write_report
from lab.schema.scenario import load_scenario
from tests.approved import approved
from tests.compared import example, store
from tests.stored_run import change, store_run

REPORT = ("summary.csv", "outcomes.csv")
COMPARED = ("ranks.csv", "trials.csv")
EVALUATED = ("heuristics", "heuristics_constants", "heuristics_trials", "means", "outcomes", "paired", "versions")
CLAIMING = "thesis-geo"  # a scenario with claims of a paper
OF_A_GRID = 10  # one row of so many of a table of a whole grid is read


def assert_approved(found: dict[str, str]) -> None:
    """Compare all texts that are made together in one test: `make mutants` chooses tests by what they execute."""
    expected = {name: approved(name, text) for name, text in found.items()}
    assert {name: text for name, text in found.items() if text != expected[name]} == {}


def as_text(table: pl.DataFrame) -> str:
    """A table in digits that no other order of summation changes."""
    return table.with_columns(cs.float().round_sig_figs(6)).write_csv()


def linked_run(results: Path, name: str, trials: int, library: Path | None = None) -> Path:
    run = store_run(results, trials=trials, name=name, library=library)
    (run.parent / "latest").symlink_to(run.name)
    return run


def test_a_runs_tables_are_the_approved_ones(tmp_path: Path, library: Path) -> None:
    run = store_run(tmp_path, library=library)
    write_report(run)
    assert_approved({f"report-{file}": (run / file).read_text() for file in REPORT})


def test_results_are_evaluated_as_approved(tmp_path: Path, library: Path) -> None:
    run = linked_run(tmp_path, CLAIMING, 5, library)
    scenario = load_scenario(CLAIMING)[1].model_dump(mode="json")
    change(run, scenario={part: scenario[part] for part in ("claims", "tolerance", "heuristic")})
    folder = write_all(tmp_path, library)[0]
    tables = {name: pl.read_parquet(folder / f"{name}.parquet") for name in (*EVALUATED, "sensitivity", "claims")}
    tables["sensitivity"] = tables["sensitivity"].gather_every(OF_A_GRID)
    tables["claims"] = tables["claims"].filter(scenario=CLAIMING)
    assert_approved({f"evaluation-{name}.csv": as_text(table) for name, table in tables.items()})


def test_recorded_and_emulated_downloads_are_compared_as_approved(tmp_path: Path) -> None:
    run = linked_run(tmp_path, "geo-recorded", 5)
    gateways = {"early": Gateway(threshold_bytes=300_000), "late": Gateway(rtt_ms=300, duration_s=6)}
    logs = []
    for name, gateway in gateways.items():
        (tmp_path / name).mkdir()
        logs.append(str(written(tmp_path / name, text(download(gateway).acks))))
    shown = sheets(compare_recorded(run, logs))
    lines = [line for each in shown for line in (each.title, *map(" | ".join, (each.header, *each.rows)), each.note)]
    assert_approved({"recorded.txt": "\n".join(lines).replace(str(tmp_path), "RESULTS") + "\n"})


def test_senders_are_compared_as_approved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["lab", "compare"])
    folder = example(*store(tmp_path, 5))[0]
    assert_approved({f"compare-{file}": (folder / file).read_text() for file in COMPARED})
