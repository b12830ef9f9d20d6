# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables for a paper: how many columns stand next to each other, and a source's table with what was replayed."""

import os
from pathlib import Path
from typing import cast

import polars as pl
import pytest
from lab_compare.record import FOLDER as COMPARISONS
from lab_papers.artifact import facts
from lab_papers.evaluation.claims.estimate import IN_POINTS
from lab_papers.evaluation.claims.numbered import numbered
from lab_papers.evaluation.claims.rows import SCHEMA
from lab_papers.evaluation.claims.verdict import AGREES
from lab_papers.evaluation.kept import sign
from lab_papers.index.write import write_index

from lab.judge.judged import OUTCOMES, TRIALS
from lab.judge.stored import Stored
from lab.report import latex
from lab.report.table import Group, Row, Table, tables
from lab.report.text import render
from lab.schema.scenario import load_scenario
from lab.tables.stored_run import Run
from tests.stored_run import store_run

PAGE_LETTERS, COLUMN_LETTERS = 77, 39  # of a table for a page and for a column, without its first column


def numbers(columns: int, letters: int, header: str = "x") -> Table:
    """Return a table of one row: a name, and numbers of so many letters."""
    cells = ("here", *["9" * letters] * columns)
    return Table("t", "A table.", ("From", *[header] * columns), (Group("all", (Row(cells),)),))


def columns_of_blocks(written: str) -> list[int]:
    """Return how many columns of numbers stand in each part of a table."""
    parts = written.split(r"\begin{tabular*}")[1:]
    return [part.splitlines()[0].count("r", part.splitlines()[0].rindex(r"\fill}}")) for part in parts]


@pytest.mark.parametrize(("columns", "parts"), [(7, [7]), (8, [7, 1]), (15, [7, 7, 1])])
def test_a_table_of_a_page_continues_below_itself_where_its_letters_do_not_fit(columns: int, parts: list[int]) -> None:
    each = PAGE_LETTERS // 7 - 1  # and a gap
    assert columns_of_blocks(latex.render(numbers(columns, each))) == parts


def test_a_column_is_as_wide_as_the_longest_line_of_its_header() -> None:
    wide = numbers(8, 1, "a throughput")  # two lines, of which the second has ten letters
    assert columns_of_blocks(latex.render(wide)) == [7, 1]


def test_in_a_column_headers_are_turned_and_take_the_width_of_their_lines() -> None:
    narrow = numbers(12, 1, "a long header of two lines")
    turned = 2 * latex.TURNED_CHARS + 1
    fit = int(COLUMN_LETTERS // turned)
    assert columns_of_blocks(latex.render(narrow, column=True)) == [fit, 12 - fit]
    assert latex.render(narrow, column=True).count(r"\rotatebox{90}") == 12


def test_the_number_of_published_trials_is_whole() -> None:
    published = [{"cca": "search", "source": "thesis, table 5.3", "trials": 77, "early_pct": 3.9}]
    summary = pl.DataFrame(schema={"cca": pl.String})
    classes, _ = tables(summary, [{"name": "search", "label": "SEARCH"}], published)
    assert classes.groups[0].rows[0].cells[1:3] == ("77", "3.9")


def test_the_tolerance_of_a_claim_is_in_points_for_shares_and_relative_for_all_else(tmp_path: Path) -> None:
    lines = facts.lines(tmp_path, pl.DataFrame(schema=SCHEMA))
    for claim, line in zip(numbered(), lines, strict=True):
        tolerance = load_scenario(claim.scenario)[1].tolerance
        values = [each for row in claim.rows if not row.bound for each in row.values.items()]
        shares = [cast("float", value) for metric, value in values if metric in IN_POINTS]
        kinds = {True for share in shares if not 0 < share <= tolerance.share_points}
        kinds |= {False for metric, _ in values if metric not in IN_POINTS}
        assert (f"{tolerance.share_points:g} points" in line.tolerance) == (True in kinds)
        assert (f"{tolerance.relative_pct:g} %" in line.tolerance) == (False in kinds)


def test_the_index_links_the_files_of_a_run_that_are_there(tmp_path: Path) -> None:
    results = tmp_path / "results"
    run = store_run(results, 1, senders=("search",), latest=True)
    page = write_index(results, None, tmp_path / "none").read_text()
    for name in ("summary.csv", "outcomes.csv", OUTCOMES, TRIALS):
        assert f'href="geo/{run.name}/{name}"' in page
    assert 'href="geo/20250101T000000Z/' not in page


def test_the_index_writes_the_page_of_a_run_that_changed_since_and_leaves_the_others(tmp_path: Path) -> None:
    pages = {}
    for name, age_s in (("changed", -10), ("same", 10)):
        run = store_run(tmp_path, 1, name=name, senders=("search",), latest=True)
        Stored.of(Run(run))
        pages[name] = run / "report.html"
        pages[name].write_text("written before")
        at_s = max((run / file).stat().st_mtime for file in (OUTCOMES, "run.json")) + age_s
        os.utime(pages[name], (at_s, at_s))
    write_index(tmp_path, None, tmp_path / "none")
    assert [page.read_text() == "written before" for page in pages.values()] == [False, True]


def test_the_index_links_comparisons_the_newest_first(tmp_path: Path) -> None:
    for began in ("2026-01-01T00-00-00Z", "2026-03-01T00-00-00Z", "2026-02-01T00-00-00Z"):
        page = tmp_path / COMPARISONS / began / "compare.html"
        page.parent.mkdir(parents=True)
        page.touch()
    written = write_index(tmp_path, None, tmp_path / "none").read_text()
    places = [written.index(f"{COMPARISONS}/2026-0{month}-01T00-00-00Z/compare.html") for month in (3, 2, 1)]
    assert places == sorted(places)


def test_the_index_shows_the_claims_and_the_states_that_were_evaluated(tmp_path: Path) -> None:
    (tmp_path / "evaluation").mkdir()
    row = dict.fromkeys(SCHEMA) | {"claim": "A claim of mine.", "scenario": "geo", "document": "thesis"}
    row |= {"place": "table 9", "row": "GEO", "metric": "exit_s", "verdict": AGREES, "form": "SEARCH", "unit": "s"}
    row |= {"published": 1.0, "tolerance": 0.1, "ours": 1.0, "clock": "data"}
    pl.DataFrame([row], schema=SCHEMA).write_parquet(tmp_path / "evaluation" / "claims.parquet")
    state = {"scenario": "a-link", "state": "unfinished", "question": "What is left?"}
    pl.DataFrame([state]).write_parquet(tmp_path / "evaluation" / "status.parquet")
    sign(tmp_path / "evaluation")
    page = write_index(tmp_path, None, tmp_path / "none").read_text()
    for shown in ("A claim of mine.", "thesis, table 9", "What is left?", "unfinished"):
        assert shown in page


def test_a_text_table_has_its_notes_below_it() -> None:
    table = Table("t", "A table.", ("From", "x"), (Group("all", (Row(("here", "1")),)),), ("A note.",))
    shown = render(("Answer.",), [table])
    assert shown.index("Answer.") < shown.index("here") < shown.index("A note.")
