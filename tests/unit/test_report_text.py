# SPDX-License-Identifier: GPL-2.0-or-later
"""The report on a terminal: no cell is cut, whatever the width."""

import pytest
from rich.console import Console

from lab.report.table import Group, Row, Table, short
from lab.report.text import NARROW_CHARS, shown

FIGURES = tuple(f"Time {number} of 12 (ms)" for number in range(9))
CELLS = tuple(f"+{number}00 [+90 to +110]*" for number in range(9))
OF_ONE_ROW = Table("costs", "What it costs.", FIGURES, (Group("CUBIC", (Row(CELLS),)), Group("SEARCH", (Row(CELLS),))))
OF_TWO_ROWS = Table(
    "classes",
    "Where senders leave.",
    ("Judged by", *FIGURES),
    (Group("CUBIC", (Row(("the truth", *CELLS)), Row(("the time rule", *CELLS)))),),
)


def printed(table: Table, width: int) -> list[str]:
    console = Console(record=True, width=width)
    console.print(shown([], [table], width))
    return console.export_text().splitlines()


@pytest.mark.parametrize("width", [48, 80, NARROW_CHARS, 150, 300])
@pytest.mark.parametrize("table", [OF_ONE_ROW, OF_TWO_ROWS], ids=["one row", "two rows"])
def test_every_cell_is_whole_at_every_width(table: Table, width: int) -> None:
    lines = printed(table, width)
    assert max(map(len, lines)) <= width
    assert not [line for line in lines if "…" in line]
    cells = [short(cell) if width < NARROW_CHARS else cell for cell in CELLS]
    words = " ".join(lines)
    assert all(words.count(cell) == sum(len(group.rows) for group in table.groups) for cell in cells)


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_a_table_without_a_figure_names_its_senders(rows: int) -> None:
    names = ("CUBIC", "SEARCH")[:rows]
    table = Table("ranks", "No trial was valid.", ("Sender",), (Group("GEO", tuple(Row((name,)) for name in names)),))
    text = " ".join(printed(table, 80))
    assert "No trial was valid." in text
    assert all(name in text for name in names)


def test_each_part_of_a_wide_table_names_senders_and_rows_down_to_a_column_a_part() -> None:
    lines = [line.split() for line in printed(OF_TWO_ROWS, 80)]
    parts = [line for line in lines if line and line[-1].startswith("+") and "truth" in line]
    assert len(parts) > 1
    assert all(line[:3] == ["CUBIC", "the", "truth"] for line in parts)
    cells = ("a" * 30, "b" * 30, "c" * 30)
    table = Table("t", "A table.", ("x", "y", "z"), (Group("all", (Row(cells),)),))
    narrow = printed(table, 60)
    assert max(map(len, narrow)) <= 60
    assert [sum(cell in line for line in narrow) for cell in cells] == [1, 1, 1]


def test_a_cell_without_its_interval_keeps_its_star() -> None:
    cells = ("+100 [+90 to +110]*", "+100 [+90 to +110]", "13.7 (1.7)")
    assert [short(cell) for cell in cells] == ["+100*", "+100", "13.7"]
