# SPDX-License-Identifier: GPL-2.0-or-later
"""Small parts of pages: a rank in words, the page of `lab kick-tires`, a table of recorded downloads."""

from lab.base.format import NONE
from lab.evaluation.compare.ranks import Place
from lab.evaluation.recorded.tables import EMULATED, Sheet
from lab.report.artifact import tires
from lab.report.artifact.tires import HEADER, Tire
from lab.report.index import recorded
from lab.report.matrix.texts import rank_text


def test_a_rank_is_a_number_or_from_the_best_to_the_worst_that_it_may_be() -> None:
    assert [rank_text(place) for place in (Place(2, 2), Place(1, 3), None)] == ["2", f"1{NONE}3", NONE]


def test_the_page_of_kick_tires_has_one_line_per_link() -> None:
    rows = [
        Tire((link, "SEARCH", "1.2", "chokepoint", "9.5", "valid"), f"the link {link}", True) for link in ("geo", "leo")
    ]
    page = tires.render(rows)
    assert all(name in page for name in HEADER)
    assert [page.count(f"the link {link}") > 0 for link in ("geo", "leo")] == [True, True]


def test_a_table_of_recorded_downloads_is_named_after_its_title_and_groups_the_emulated_ones() -> None:
    rows: list[tuple[str, ...]] = [("a log", "1"), (f"{EMULATED} trial", "2")]
    found = recorded._table(Sheet("Marks on the way", ("", "Time (s)"), rows, "a note"))
    assert (found.name, found.header) == ("recorded-marks-on-the-way", ("Download", "Time (s)"))
    assert (found.caption, found.notes) == ("Marks on the way", ("a note",))
    assert [(group.label, group.rows[0].cells) for group in found.groups] == [
        ("Recorded", rows[0]),
        ("Emulated", rows[1]),
    ]
