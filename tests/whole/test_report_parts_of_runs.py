# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of pages made of stored runs: the matrix and certificates."""

from pathlib import Path

import polars as pl
import pytest
from lab_compare.matrix.matrix import Linked, Matrix, matrix
from lab_compare.matrix.readings import Reading
from lab_compare.results import LinkResult

from lab.base.format import NONE
from lab.evaluation.measures import MEASURES, PRIMARY, RULE
from lab.judge.representative import representatives
from lab.judge.stored import Stored
from lab.report import trust
from lab.report.published import published, ran, short_label
from lab.tables.stored_run import Run
from tests.brief import present
from tests.compared import store
from tests.stored_run import TOLERANCE, change, store_run

TRIALS = 2
LABELS = {"search": "SEARCH", "cubic": "CUBIC", "cubic_plain": "plain", "bbr": "BBR"}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[LinkResult]:
    return store(tmp_path_factory.mktemp("results"), TRIALS)[1]


@pytest.fixture(scope="module")
def stored(found: list[LinkResult]) -> Stored:
    assert found[0].stored
    return found[0].stored


@pytest.fixture(scope="module")
def ranked(found: list[LinkResult]) -> Matrix:
    return matrix([Linked(each) for each in found], LABELS, ["search"], lambda stored: f"{stored.name}.html")


def nowhere(_: Stored) -> None:
    """The page of a run that has none."""


def test_a_cell_has_the_capture_of_its_trial_with_the_median_exit_where_it_is_stored(found: list[LinkResult]) -> None:
    stored = found[0].stored
    assert stored
    number = representatives(stored.judged.outcomes)["cubic"]
    capture = stored.run.path / "trials" / f"cubic-{number:03d}" / "client.pcapng.zst"
    capture.touch()
    row = matrix([Linked(found[0])], LABELS, ["search"], lambda _: "../run/report.html").rows[0]
    capture.unlink()
    assert row.cells["cubic"].capture == f"../run/trials/cubic-{number:03d}/client.pcapng.zst"
    assert row.cells["search"].capture is None


def reading(ranked: Matrix, cca: str, measure: str) -> Reading:
    return ranked.rows[0].cells[cca].readings[measure]


def test_a_row_has_a_cell_per_sender_with_a_reading_of_each_measure_that_has_a_value(ranked: Matrix) -> None:
    row = ranked.rows[0]
    assert list(row.cells) == list(LABELS)
    assert (row.page, row.subject, row.trials) == ("compare-geo.html", "search", "1 to 2 of 2 trials each")
    for cell in row.cells.values():
        assert set(cell.readings) | set(cell.lacking) == {each.name for each in MEASURES}
        assert set(cell.readings).isdisjoint(cell.lacking)
        assert (cell.run, cell.page) == ("", row.page)
    assert row.cells["search"].lacking["harm"] == "not run"
    assert row.cells["search"].lacking["object_20000000"] == "no download was so long"
    assert "throughput" in row.cells["search"].readings
    assert ranked.shares == [PRIMARY, RULE]
    assert ranked.reference == "SEARCH"


def test_a_reading_has_value_bar_and_the_difference_from_the_subject(ranked: Matrix) -> None:
    assert reading(ranked, "search", PRIMARY).value == "2/2"
    assert reading(ranked, "search", PRIMARY).bar == {"early": 0.0, "chokepoint": 100.0, "late": 0.0}
    assert reading(ranked, "search", PRIMARY).versus == ""
    assert reading(ranked, "cubic", PRIMARY).bar == {"early": 100.0, "chokepoint": 0.0, "late": 0.0}
    # trials 1 and 2 have 6 and 7 Mb/s; the last one of BBR is invalid
    assert reading(ranked, "bbr", "throughput").value == "6.0 Mb/s"
    assert reading(ranked, "cubic", "throughput").bar == {"amount": 100.0}
    assert reading(ranked, "bbr", "throughput").bar["amount"] == pytest.approx(100 * 6 / 6.5)
    spoken = reading(ranked, "cubic", PRIMARY).spoken
    assert spoken.startswith("CUBIC, GEO, modelled: 0 of 2, 100 % early")


def test_a_published_share_stands_below_the_bar_of_the_measure_that_it_is_of(ranked: Matrix) -> None:
    theirs = reading(ranked, "cubic", RULE)
    assert theirs.published is not None
    assert (theirs.published.value, theirs.published_text) == (0.0, "0 %")
    assert "paper 0 %" in theirs.small
    assert reading(ranked, "cubic_plain", RULE).published is None
    assert reading(ranked, "cubic_plain", RULE).published_text == NONE
    assert reading(ranked, "cubic", "queueing").published is None


def test_a_version_of_search_that_a_source_did_not_run_is_named() -> None:
    assert ran("thesis, table 5.1", "cubic") is None
    assert ran("thesis, table 5.1", "search2") is None
    assert ran("thesis, table 5.1", "search1") == short_label("SEARCH 2.0 (x)")
    assert ran("another paper", "search1") is None
    assert ran("poster, table", "search2") == "SEARCH 1.0"
    assert ran("poster, figure 1", "not there") is None


def test_the_first_published_value_of_a_sender_counts_and_a_claim_of_a_replay_does_not(tmp_path: Path) -> None:
    run = store_run(tmp_path, 1)
    claim = {"cca": "bbr", "source": "a source, a place", "row": "a row", "values": {"exit_s": [3.0, 0.5]}}
    claims = [claim | {"replayed": "search2", "values": {"exit_s": 9.0}}, claim]
    change(run, scenario={"claims": claims, "tolerance": TOLERANCE})
    one = Stored.of(Run(run))
    theirs = present(published(one, "bbr", "exit_s"))
    assert (theirs.value, theirs.source, theirs.ran) == (3.0, "a source, a place", None)
    theirs = present(published(one, "cubic", "early_pct"))
    assert (theirs.value, theirs.source) == (100.0, "thesis, table 5.3")
    assert published(one, "cubic", "exit_s") is None


def test_the_trials_that_are_left_out_stand_with_the_checks_that_failed(stored: Stored) -> None:
    (left_out,) = trust.invalid(stored.run.trials)
    assert (left_out.cca, left_out.trial) == ("bbr", TRIALS)
    assert [check["name"] for check in left_out.failed] == ["capture drops"]
    (check,) = trust.checks(stored.run.trials)
    assert (check.name, check.requested, check.measured) == ("capture drops", "0", "0 to 7")
    assert (check.unit, check.tolerance, check.passed, check.trials) == ("packets", "0", 7, 8)


def test_a_range_of_values_is_from_the_smallest_to_the_largest_or_lists_what_is_no_number() -> None:
    assert trust._range([3, None, 1.5]) == "1.5 to 3"
    assert trust._range([2, 2.0]) == "2"
    assert trust._range(["b", "a", "b", None]) == "a, b"
    assert trust._range([True, 1]) == "1, True"
    assert trust._range([None]) == ""


def test_a_valid_trial_whose_loss_no_drop_explains_is_named_once() -> None:
    rows = [("a", 1, True, False), ("a", 1, True, False), ("b", 2, False, False), ("c", 3, True, True)]
    outcomes = pl.DataFrame(rows, schema=["cca", "trial", "valid", "loss_agrees"], orient="row")
    assert trust.losses(outcomes) == (
        "The first loss in the capture does not follow from a drop at the bottleneck in: a-001."
        " Of a link that loses packets itself (loss_pct) that is to be expected."
    )


def test_of_a_stack_whose_losses_do_not_show_none_is_said_to_agree_with_the_drops() -> None:
    rows = [("a", 1, True, True), ("stack", 1, True, None), ("stack", 2, True, None)]
    outcomes = pl.DataFrame(rows, schema=["cca", "trial", "valid", "loss_agrees"], orient="row")
    unseen = "The capture does not show the losses of: stack."
    assert trust.losses(outcomes.filter(cca="stack")) == unseen
    assert trust.losses(outcomes).startswith(
        f"{unseen} In every other valid trial the first loss in the capture agrees"
    )
    assert unseen not in trust.losses(outcomes.filter(cca="a"))


def test_the_subject_of_a_row_is_the_first_sender_that_its_run_has(found: list[LinkResult]) -> None:
    given = matrix([Linked(found[0])], {"none": "None", "bbr": "BBR", "search": "SEARCH"}, [], nowhere)
    (row,) = given.rows
    assert (row.subject, list(row.cells)) == ("bbr", ["bbr", "search"])
    assert given.reference == "BBR"
    empty = LinkResult(found[0].link, None, {}, {}, {})
    (without,) = matrix([Linked(empty)], LABELS, ["search"], nowhere).rows
    assert (without.page, without.trials, without.cells) == (None, "no trial has a result", {})
