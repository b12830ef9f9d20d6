# SPDX-License-Identifier: GPL-2.0-or-later
"""The first page's matrix of all runs, its sentences, and what `lab kick-tires` and `lab paper` name."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from lab_papers.artifact import tires
from lab_papers.index import links, sentences
from lab_papers.paper import _plain

from lab.evaluation.compare.measures import MEASURES, RULE
from lab.evaluation.compare.results import LinkResult
from lab.judge.registry import TRUTH
from lab.judge.stored import Stored
from lab.report.matrix.matrix import Linked, Matrix, matrix
from lab.tables.run_json import RunJson
from lab.tables.stored_run import Run
from tests.compared import SENDERS, store
from tests.stored_run import rewrite, store_run

LABELS = {"search": "SEARCH", "cubic": "CUBIC", "cubic_plain": "plain", "bbr": "BBR"}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[LinkResult]:
    return store(tmp_path_factory.mktemp("results"), 2)[1]


@pytest.fixture(scope="module")
def ranked(found: list[LinkResult]) -> Matrix:
    return matrix([Linked(each) for each in found], LABELS, ["search"], lambda stored: f"{stored.name}.html")


def test_each_kind_of_link_has_a_sentence_and_the_furthest_from_the_papers_comes_first(ranked: Matrix) -> None:
    given = sentences.sentences(ranked)
    assert {each.kind for each in given} == {row.kind for row in ranked.rows}
    apart = [-1 if each.apart is None else each.apart for each in given]
    assert apart == sorted(apart, reverse=True)
    assert [row.kind for row in sentences.in_order(ranked).rows] == [each.kind for each in given]
    geo = next(each for each in given if each.kind == ranked.rows[0].kind)
    assert geo.found.startswith("SEARCH leaves at the right moment in 2 of 2 trials")
    assert geo.found.endswith(" in 0 of 2.")
    assert "By the papers' rule, " in geo.compared
    assert "; published: " in geo.compared


def test_a_share_lies_as_far_from_the_published_one_as_their_difference(ranked: Matrix) -> None:
    for row in ranked.rows:
        for cca, cell in row.cells.items():
            theirs, values = cell.readings[RULE].published, cell.found.values[RULE][cca]
            known = [value for value in values if value is not None]
            apart = sentences._apart(cell)
            if theirs is None or not known:
                assert apart is None
            else:
                assert apart == pytest.approx(abs(100 * sum(known) / len(known) - theirs.value))
    cell = ranked.rows[0].cells["cubic"]
    assert sentences._apart(cell) is not None
    assert sentences._apart(replace(cell, readings={})) is None


def test_senders_that_have_not_separated_from_the_best_are_named_as_tied(ranked: Matrix) -> None:
    counts = {"search": (3, 3), "cubic": (0, 3), "bbr": (1, 2)}
    text = sentences._found(ranked.rows, counts, LABELS)
    assert text.startswith("SEARCH leaves at the right moment in 3 of 3 trials")
    assert text.endswith(", CUBIC in 0 of 3.")
    assert sentences._found([], {}, LABELS) == "no trial left slow start."
    assert sentences._found([], {"cubic": (1, 3)}, LABELS) == "CUBIC leaves at the right moment in 1 of 3 trials."


def test_the_matrix_of_all_runs_has_a_row_per_link_and_the_senders_of_search_first(found: list[LinkResult]) -> None:
    runs = [each.stored for each in found if each.stored]
    given = links.linked(runs, lambda _: None)
    assert sorted(row.found.link.profile for row in given.rows) == ["geo-viasat", "wired-clean"]
    assert next(iter(given.senders)) == "search"
    assert set(given.senders) == set(SENDERS)
    assert [each.name for each in given.measures] == [
        each.name for each in MEASURES if any(each.name in row.found.values for row in given.rows)
    ]


def test_the_fullest_run_of_a_link_is_ranked_and_another_fills_in_the_sender_that_it_lacks(tmp_path: Path) -> None:
    few = Stored.of(Run(store_run(tmp_path, 1, name="few", senders=("search", "bbr"))))
    more = Stored.of(Run(store_run(tmp_path, 2, name="more", senders=("search", "cubic"))))
    (row,) = links.linked([few, more], lambda stored: stored.name).rows
    assert row.page == "more"
    assert {cca: cell.page for cca, cell in row.cells.items()} == {"search": "more", "cubic": "more", "bbr": "few"}
    assert row.cells["bbr"].run.startswith("few, ")
    assert links.fullness(more) == (True, 4)
    assert links._filling([more, more, few]) == [few]


def test_kick_tires_shows_what_the_only_trial_gave(tmp_path: Path) -> None:
    run = store_run(tmp_path, 1, senders=("search",))
    meta: RunJson = json.loads((run / "run.json").read_text())
    rewrite(run / "run.json", meta | {"scenario": meta["scenario"] | {"heuristic": TRUTH}})
    shown = tires.row(Stored.of(Run(run)))
    link, sender, exit_s, kind, mbps, certificate = shown.cells
    assert (link, kind, mbps, certificate) == ("geo", "chokepoint", "6.0", "valid")
    assert (shown.title, shown.valid) == ("A link in theory", True)
    assert float(exit_s) > 0
    assert shown.line.split() == (
        f"geo {sender} leaves slow start after {exit_s} s (chokepoint), 6.0 Mb/s; certificate valid".split()
    )


def test_a_recording_gives_its_file_a_plain_name(tmp_path: Path) -> None:
    file = tmp_path / "a b.csv"
    file.touch()
    assert _plain(str(file)) == "a-b.csv"
    assert _plain("geo_viasat-1.5/input") == "geo_viasat-1.5-input"
    assert _plain("..a*") == "a"
