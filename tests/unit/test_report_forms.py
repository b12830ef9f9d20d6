# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of the report, and each form they are written in."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.base.format import mean, number, share
from lab.judge.outcome import SCHEMA as OUTCOME
from lab.judge.registry import rules
from lab.judge.summary import summarise
from lab.report import latex, markdown, text
from lab.report.answer import headline
from lab.report.table import Group, Row, Table, tables
from lab.report.table_files import table_files
from lab.report.template import render

CCAS = [{"name": "search", "label": "SEARCH 2.0"}, {"name": "cubic", "label": "CUBIC & HyStart_x"}]
PUBLISHED = [{"cca": "search", "source": "thesis, table 5.3", "early_pct": 3.9, "exit_s": 13.7, "exit_s_sd": 1.7}]


def judged(**classes: Sequence[str | None]) -> pl.DataFrame:
    """Valid trials of each sender with these classes, by whatever heuristic."""
    rows = [
        {"cca": cca, "trial": n, "valid": True, "heuristic": rule, "exit_class": exit_class, "exit_s": 10.0 + n}
        for cca, given in classes.items()
        for n, exit_class in enumerate(given)
        for rule in rules()
    ]
    return pl.DataFrame(rows, schema=OUTCOME)


MIXED = summarise(judged(search=["chokepoint"] * 3 + ["early"], cubic=["early", None]), ["search", "cubic"])
BOTH = tables(MIXED, CCAS, PUBLISHED)


def test_a_share_stands_with_its_interval_a_mean_with_its_deviation_and_nothing_is_a_dash() -> None:
    assert share({"early_pct": 25.0, "early_lo_pct": 4.6, "early_hi_pct": 69.9}, "early") == "25.0 [5–70]"  # noqa: RUF001
    assert share({"early_pct": 3.9}, "early") == "3.9"  # a published one has no interval
    assert mean({"exit_s": 13.7, "exit_s_sd": 1.7}, "exit_s", 1) == "13.7 (1.7)"
    assert mean({"exit_s": 13.7, "exit_s_sd": None}, "exit_s", 1) == "13.7"
    assert number(None, 1) == "–"  # noqa: RUF001
    assert number(0.0, 1) == "0.0"


@pytest.mark.parametrize(
    ("value", "spread", "shown"),
    [
        (0.0079, 0.0023, "0.0079 (0.0023)"),  # of a short round trip: 0.0 (0.0) would be a moment that never was
        (0.01, 0.004, "0.01 (0.004)"),  # published: no digit more than the source has
        (0.36, 0.1, "0.36 (0.10)"),
        (-0.031, 0.0021, "-0.031 (0.002)"),
        (13.7, 0.04, "13.7 (0.04)"),
        (191.3, 2e-14, "191.3 (0.0)"),  # what arithmetic leaves is no spread
        (0.0, 0.0, "0.0 (0.0)"),
    ],
)
def test_a_mean_below_1_keeps_its_first_two_digits(value: float, spread: float, shown: str) -> None:
    assert mean({"exit_s": value, "exit_s_sd": spread}, "exit_s", 1) == shown


def test_a_mean_over_some_of_the_trials_states_their_number_on_both_clocks() -> None:
    rows = judged(search=["chokepoint"] * 3).with_columns(
        data_s=pl.lit(1.5), loss_s=pl.when(trial=0).then(9.0), capacity_s=pl.when(trial=0).then(8.0)
    )
    classes, times = tables(summarise(rows, ["search"]), CCAS[:1], PUBLISHED)
    assert classes.groups[0].rows[0].cells[5] == "8.0 in 1"
    assert [row.cells[2] for row in times.groups[0].rows[:2]] == ["9.0 in 1", "7.5 in 1"]
    assert times.groups[0].rows[0].cells[1] == "11.0 (1.0)"  # of all three


def test_a_third_of_a_retransmission_is_not_none_and_a_whole_one_has_no_decimals() -> None:
    assert mean({"retransmits_pkts": 1 / 3, "retransmits_pkts_sd": None}, "retransmits_pkts", 0) == "0.33"
    assert mean({"retransmits_pkts": 5.0, "retransmits_pkts_sd": 0.0}, "retransmits_pkts", 0) == "5 (0)"


def test_published_values_stand_beside_ours_also_from_the_syn() -> None:
    for table in BOTH:
        assert [row.published for row in table.groups[0].rows][-1]
        assert table.groups[0].rows[-1].cells[0] == "thesis, table 5.3, SEARCH 2.0"
        assert {len(row.cells) for group in table.groups for row in group.rows} == {len(table.header)}
    assert [group.rows[0].cells[1] for group in BOTH[0].groups[:2]] == ["4 of 4", "2 of 2, 1 judged"]
    published = [PUBLISHED[0] | {"clock": "syn", "capacity_s": 11.8}]
    classes, times = tables(MIXED, CCAS, published)
    assert [row.cells[0] for row in times.groups[0].rows] == ["this run", "thesis, table 5.3, SEARCH 2.0, from the SYN"]
    assert classes.groups[0].rows[-1].cells[-2:] == ("11.8", "–")  # noqa: RUF001


@pytest.mark.parametrize(
    ("published", "is_on_both"), [([], False), (PUBLISHED, True), ([PUBLISHED[0] | {"clock": "syn"}], False)]
)
def test_the_caption_names_the_clocks_that_its_rows_have(published: list[dict[str, Any]], is_on_both: bool) -> None:
    rows = judged(search=["chokepoint"] * 2).with_columns(data_s=pl.lit(1.5))
    _, times = tables(summarise(rows, ["search"]), CCAS[:1], published)
    shown = [row.cells[0] for row in times.groups[0].rows]
    assert ("from the first data segment" in times.caption) == ("this run, from the data" in shown) == is_on_both


def test_ours_stand_on_the_clock_of_the_published_times_too() -> None:
    rows = judged(search=["chokepoint"] * 2).with_columns(data_s=pl.lit(1.5), capacity_s=pl.lit(9.0))
    classes, times = tables(summarise(rows, ["search"]), CCAS[:1], PUBLISHED)
    assert [row.cells[:2] for row in times.groups[0].rows] == [
        ("this run", "10.5 (0.7)"),
        ("this run, from the data", "9.0 (0.7)"),
        ("thesis, table 5.3, SEARCH 2.0", "13.7 (1.7)"),
    ]
    assert classes.groups[0].rows[0].cells[-2:] == ("9.0 (0.0)", "7.5 (0.0)")


def test_the_headline_names_the_best_sender_first_and_how_the_others_missed() -> None:
    true, _ = headline(MIXED, CCAS, "latency_offset")
    assert "SEARCH 2.0 left slow start at the right moment in 3 of 4 trials (1 early)" in true
    assert true.index("SEARCH") < true.index("CUBIC & HyStart_x in 0 of 1 trial (1 early; 1 more not judged)")
    nothing = summarise(judged(search=[None]), ["search"])
    assert headline(nothing, CCAS[:1], "latency_offset") == ("No valid trial left slow start: this run has no answer.",)


def test_another_judge_names_only_the_senders_that_it_finds_otherwise() -> None:
    rows = judged(search=["chokepoint", "early"], cubic=["late"])
    assert headline(summarise(rows, ["search", "cubic"]), CCAS, "latency_offset")[1:] == (
        "Judged as in the papers, by latency offset: the same.",
    )
    at_once = pl.col("heuristic").is_in(["latency_offset"]) & (pl.col("cca") == "search")
    other = rows.with_columns(exit_class=pl.when(at_once).then(pl.lit("early")).otherwise("exit_class"))
    (paper,) = headline(summarise(other, ["search", "cubic"]), CCAS, "latency_offset")[1:]
    assert paper == "Judged as in the papers, by latency offset: the same, but SEARCH 2.0 in 0 of 2 trials (2 early)."


def test_a_table_has_a_file_per_form_and_plain_text_and_markdown_hold_every_cell() -> None:
    written = latex.figure_environment("one", "pdf", "One at 1.5 s. Two! Three of 3. Four.", across=False)
    assert r"\caption{One at 1.5 s. Two!}" in written
    assert r"\labdetails{Three of 3. Four.}" in written
    assert r"\providecommand{\labdetails}[1]{}" in written
    assert r"\labdetails{" not in latex.figure_environment("one", "pdf", "One. Two.", across=False)
    assert set(table_files(BOTH[0])) == {"classes.csv", "classes.md", "classes.tex", "classes-column.tex"}
    shown = text.render(("Answer.",), BOTH)
    for table in BOTH:
        for group in table.groups:
            assert all(cell in shown for row in group.rows for cell in (group.label, *row.cells))
    lines = [line for line in markdown.render("A | b", ("Answer.",), BOTH).splitlines() if line.startswith("|")]
    columns = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
    assert columns == {len(table.header) + 2 for table in BOTH}


@pytest.mark.parametrize(
    ("first", "line", "names"), [("this run", "| --- | --- | ---: |", 1), ("12 of 12", "| --- | ---: | ---: |", 0)]
)
def test_a_second_column_of_figures_is_right_aligned_with_its_header_and_one_of_names_is_not(
    first: str, line: str, names: int, tmp_path: Path
) -> None:
    rows = (Row((first, "3")),)
    table = Table("one", "One.", ("Second", "Third"), (Group("CUBIC", rows),))
    assert line in markdown.render("One", (), (table,)).splitlines()
    (tmp_path / "one.html.j2").write_text("{% from 'parts.html.j2' import data_table %}{{ data_table(table) }}")
    page = render("one.html.j2", tmp_path, table=table)
    assert page.count('<th scope="col" class="name">Second</th>') == page.count('<th scope="row">') == names
    (row,) = (line for line in text.render((), (table,)).splitlines() if first in line)
    (header,) = (line for line in text.render((), (table,)).splitlines() if "Second" in line)
    place = str.index if names else lambda line, word: line.index(word) + len(word)
    assert place(row, first) == place(header, "Second")


def test_a_half_is_rounded_away_from_zero() -> None:
    halves = [(0.5, 0), (12.5, 0), (13.5, 0), (-2.5, 0), (2.25, 1)]
    assert [number(*half) for half in halves] == ["1", "13", "14", "-3", "2.3"]
    assert [number(value, 0) for value in (0, 12, 12.4)] == ["0", "12", "12"]


def test_a_latex_table_has_equal_columns_in_every_row_balanced_environments_and_its_caption_and_label() -> None:
    for table in BOTH:
        written = latex.render(table)
        assert rf"\caption{{{latex.escape(table.caption)}}}" in written
        assert rf"\label{{tab:{table.name}}}" in written
        parts = re.findall(r"\\begin{tabular\*}(.*?)\\end{tabular\*}", written, re.DOTALL)
        assert len(parts) == written.count(r"\begin{tabular*}") == written.count(r"\end{tabular*}") >= 1
        columns = 0
        for part in parts:  # a table that is too wide continues below itself, with its first column again
            body = [line for line in part.splitlines() if line.endswith(r"\\") and not line.startswith(r"\multicolumn")]
            (cells,) = {len(re.findall(r"(?<!\\)&", line)) + 1 for line in body}
            columns += cells - 1
        assert columns == len(table.header) - 1


def test_a_table_for_a_column_leaves_intervals_out_and_keeps_every_row_and_column() -> None:
    classes = BOTH[0]
    column = latex.render(classes, column=True)
    assert "3 of 4" in column
    assert "{[}" not in column
    for name in classes.header:
        assert all(latex.escape(word) in column for word in name.split())
    for row in classes.groups[0].rows:
        assert latex.escape(row.cells[0]) in column


@given(st.text(alphabet=st.characters(codec="ascii", exclude_categories=["Cc"])))
def test_latex_escapes_every_special_character_exactly_once(printed: str) -> None:
    written = latex.escape(printed)
    bare = re.sub(
        r"\\textbackslash\{\}|\\textasciitilde\{\}|\\textasciicircum\{\}|\\text(?:less|greater|bar)\{\}|\\[%&$#_{}]|\{[\[\]]\}",
        "",
        written,
    )
    assert not set(bare) & set("\\%&$#_{}~^[]")


@pytest.mark.parametrize("cell", ["50 % of a_b", "[x]", "a|b"])
def test_every_form_takes_any_text_in_a_cell(cell: str) -> None:
    odd = Table("odd", cell, ("From", cell), (Group(cell, (Row((cell, cell)), Row((cell, cell), published=True))),))
    assert cell in text.render((cell,), [odd])
    assert markdown.render(cell, (cell,), [odd])
    assert latex.render(odd)
