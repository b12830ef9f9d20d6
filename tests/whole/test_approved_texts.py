# SPDX-License-Identifier: GPL-2.0-or-later
"""The pages and tables of fixed downloads are those that were read and approved (tests/approved.py)."""

import os
from pathlib import Path

import polars as pl
import polars.selectors as cs
import pytest

from lab.evaluation.recorded.comparison import compare_recorded
from lab.evaluation.recorded.tables import sheets
from lab.evaluation.write import write_all
from lab.report import write
from lab.report.index import heuristics
from lab.report.index.write import write_index
from lab.report.write import write_report
from lab.schema.scenario import load_scenario
from tests.ack_logs import Gateway, download, text, written
from tests.approved import approved, text_of
from tests.compared import example, store
from tests.first_screen import change
from tests.stored_run import store_run

REPORT = ("summary.csv", "summary.md", "summary.txt", "outcomes.csv", "tables/classes.tex", "tables/times-column.tex")
COMPARED = ("ranks.csv", "trials.csv")
EVALUATED = ("heuristics", "heuristics_constants", "heuristics_trials", "means", "outcomes", "paired", "versions")
CLAIMING = "thesis-geo"  # a scenario with claims of a paper
YEAR_2100 = 4_102_444_800
OF_A_GRID = 10  # one row of so many of a table of a whole grid is read
SCENARIOS = "\nScenarios\n"  # what follows depends on all scenarios and sources, as the line of progress does
PROGRESS = " trials of the papers' scenarios are stored"


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


def test_a_run_is_reported_as_approved(tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for form in ("png", "pdf"):  # of its figures, which take most of the time
        monkeypatch.setattr(write, form, lambda _figure: b"")
    run = store_run(tmp_path, library=library)
    page = write_report(run, library).paths.page
    tables = {f"report-{Path(file).name}": (run / file).read_text() for file in REPORT}
    assert_approved({**tables, "report.txt": text_of(page.read_text())})


def test_the_page_of_all_results_begins_as_approved(tmp_path: Path) -> None:
    for name in ("geo", "leo"):
        run = linked_run(tmp_path / "results", name, 2)
        (run / "report.html").touch()
        os.utime(run / "report.html", (YEAR_2100, YEAR_2100))  # its own page is there: the figures take ten seconds
    (tmp_path / "notebooks").mkdir()
    page = text_of(write_index(tmp_path / "results", None, tmp_path / "notebooks").read_text())
    lines = page[: page.rindex(SCENARIOS)].splitlines(keepends=True)
    assert_approved({"index.txt": "".join(line for line in lines if PROGRESS not in line)})


def test_results_are_evaluated_as_approved(tmp_path: Path, library: Path) -> None:
    run = linked_run(tmp_path, CLAIMING, 5, library)
    scenario = load_scenario(CLAIMING)[1].model_dump(mode="json")
    change(run, scenario={part: scenario[part] for part in ("claims", "tolerance", "heuristic")})
    folder = write_all(tmp_path, library)[0]
    tables = {name: pl.read_parquet(folder / f"{name}.parquet") for name in (*EVALUATED, "sensitivity", "claims")}
    tables["sensitivity"] = tables["sensitivity"].gather_every(OF_A_GRID)
    tables["claims"] = tables["claims"].filter(scenario=CLAIMING)
    assert heuristics.write(tmp_path, {CLAIMING: "GEO"})
    rules = {"heuristics.txt": text_of((tmp_path / heuristics.PAGE).read_text())}
    assert_approved({f"evaluation-{name}.csv": as_text(table) for name, table in tables.items()} | rules)


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
    page = text_of((folder / "compare.html").read_text()).replace(folder.name, "TODAY")
    assert_approved({f"compare-{file}": (folder / file).read_text() for file in COMPARED} | {"compare.txt": page})
