# SPDX-License-Identifier: GPL-2.0-or-later
"""Small parts of pages: a rank in words, the page of `lab kick-tires`, and a table of recorded downloads."""

from pathlib import Path

import pytest
from lab_compare.matrix.texts import rank_text
from lab_compare.ranks import RankedPlace
from lab_papers.commands import kick_tires as tires
from lab_papers.commands.kick_tires import HEADER, Tire
from lab_papers.evaluation.recorded.tables import EMULATED, Sheet
from lab_papers.index import recorded

from lab.base.errors import UserError
from lab.base.format import NONE
from lab.report.write import write_report
from tests.stored_run import store_run


def test_a_rank_is_a_number_or_from_the_best_to_the_worst_that_it_may_be() -> None:
    assert [rank_text(place) for place in (RankedPlace(2, 2), RankedPlace(1, 3), None)] == ["2", f"1{NONE}3", NONE]


def test_the_page_of_kick_tires_has_one_line_per_link() -> None:
    rows = [Tire((of, "SEARCH", "1.2", "chokepoint", "9.5", "valid"), f"the link {of}", True) for of in ("geo", "leo")]
    rows.append(tires.not_run("lte", "the link lte", "recording not fetched (lab traces fetch x)"))
    page = tires.render(rows, "SAME: 96 trials")
    assert all(name in page for name in (*HEADER, "SAME: 96 trials"))
    assert [page.count(f"the link {link}") > 0 for link in ("geo", "leo", "lte")] == [True, True, True]
    assert rows[-1].line == "lte            not run: recording not fetched (lab traces fetch x)"


def test_a_table_of_recorded_downloads_is_named_after_its_title_and_groups_the_emulated_ones() -> None:
    rows: list[tuple[str, ...]] = [("a log", "1"), (f"{EMULATED} trial", "2")]
    found = recorded._table(Sheet("Marks on the way", ("", "Time (s)"), rows, "a note"))
    assert (found.name, found.header) == ("recorded-marks-on-the-way", ("Download", "Time (s)"))
    assert (found.caption, found.notes) == ("Marks on the way", ("a note",))
    assert [(each.label, each.rows[0].cells) for each in found.groups] == [("Recorded", rows[0]), ("Emulated", rows[1])]


@pytest.mark.parametrize(("damaged", "end"), [(1, "runs the trial again"), (3, "; trials damaged besides it: 2")])
def test_a_report_of_damaged_trials_is_refused_by_the_first_and_a_count(tmp_path: Path, damaged: int, end: str) -> None:
    run = store_run(tmp_path, trials=3, senders=("cubic",))
    for number in range(1, damaged + 1):
        (run / f"trials/cubic-{number:03d}/trial.json").write_text("{")
    with pytest.raises(UserError, match=rf"^{run}/trials/cubic-001/trial.json: .*{end}$"):
        write_report(run)
