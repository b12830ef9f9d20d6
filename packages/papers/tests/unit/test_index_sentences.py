# SPDX-License-Identifier: GPL-2.0-or-later
"""The first sentences and the matrix of the page of all results, and what `lab kick-tires` and `lab paper` name."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lab_compare.results import LinkResult
from lab_papers.commands import kick_tires as tires
from lab_papers.index import links
from lab_papers.index.sentences import _found, _furthest, _sentence
from lab_papers.paper import _plain

from lab.evaluation.measures import MEASURES, PRIMARY, RULE
from lab.judge.registry import TRUTH
from lab.judge.stored import Stored
from lab.tables.stored_run import Run
from tests.compared import SENDERS, store
from tests.stored_run import change, store_run

NAMES = {"search": "SEARCH", "cubic": "CUBIC", "bbr": "BBR"}


def cell(cca: str, hits: int, of: int, published: float, ran: str | None = None) -> Any:
    """A cell of the matrix, with so many exits at the chokepoint by the papers' rule, and a paper's share."""
    values = {RULE: {cca: [1.0] * hits + [0.0] * (of - hits)}}
    theirs = SimpleNamespace(value=published, source=f"paper of {cca}", ran=ran)
    reading = SimpleNamespace(published=theirs, published_text=f"{published:g} %")
    return SimpleNamespace(cca=cca, found=SimpleNamespace(values=values), readings={RULE: reading})


def row(*cells: Any, title: str = "GEO") -> Any:
    return SimpleNamespace(cells={of.cca: of for of in cells}, found=SimpleNamespace(link=SimpleNamespace(title=title)))


def test_the_cell_that_lies_furthest_from_its_paper_is_compared() -> None:
    sentence, apart = _furthest([row(cell("cubic", 1, 10, 20)), row(cell("bbr", 5, 10, 90), title="LEO")], NAMES)
    assert sentence == "By the papers' rule, BBR does so in 5 of 10 on LEO; published: 90 % (paper of bbr)."
    assert apart == pytest.approx(40)


def test_a_paper_about_another_version_is_compared_only_where_there_is_no_other() -> None:
    other, same = cell("search", 0, 10, 90, ran="SEARCH 2.0"), cell("cubic", 1, 10, 20)
    assert "CUBIC does so" in _furthest([row(other, same)], NAMES)[0]
    sentence, apart = _furthest([row(other)], NAMES)
    assert sentence.endswith("published: 90 % (paper of search, SEARCH 2.0).")
    assert apart == pytest.approx(90)


def test_only_senders_that_have_not_separated_from_the_best_are_named_as_ties() -> None:
    pairs = [
        SimpleNamespace(first="search", second="cubic", separated=True),
        SimpleNamespace(first="bbr", second="search", separated=False),
    ]
    ranked: Any = SimpleNamespace(found=SimpleNamespace(pairs={PRIMARY: pairs}, unranked={}))
    counts = {"cubic": (2, 10), "search": (9, 10), "bbr": (8, 10)}
    assert _found([ranked], counts, NAMES) == (
        "SEARCH leaves at the right moment in 9 of 10 trials (not separated: BBR), CUBIC in 2 of 10."
    )
    assert _found([], {}, NAMES) == "no trial left slow start."
    assert _furthest([], NAMES) == ("No paper gives a share.", None)


def link(*cells: Any, other_runs: tuple[str, ...] = ()) -> Any:
    """A link of the matrix, without ranks: its cells by the true queue, some from another run."""
    for each in cells:
        each.found.values[PRIMARY] = each.found.values[RULE]
        each.run = "netdev-geo" if each.cca in other_runs else ""
    made = row(*cells)
    made.found.pairs, made.found.unranked = {}, ()
    return made


def test_trials_of_another_run_are_not_compared_with_those_of_the_link() -> None:
    only = link(cell("cubic", 7, 10, 20), cell("search", 10, 10, 90), other_runs=("search",))
    assert _sentence("GEO", [only], NAMES).found == "CUBIC leaves at the right moment in 7 of 10 trials."


def test_a_sender_that_ran_over_fewer_links_of_a_kind_is_not_compared_over_them() -> None:
    both = [cell("search", 9, 10, 90), cell("cubic", 2, 10, 20)], [cell("search", 9, 10, 90), cell("cubic", 1, 10, 20)]
    links = [link(*both[0], cell("bbr", 10, 10, 90)), link(*both[1], cell("bbr", 0, 0, 90))]
    assert _sentence("WiFi", links, NAMES).found == (
        "SEARCH leaves at the right moment in 18 of 20 trials, CUBIC in 3 of 20."
    )


def test_senders_that_ran_over_as_many_links_but_other_ones_are_not_compared() -> None:
    links = [
        link(cell("search", 9, 10, 90), cell("cubic", 2, 10, 20)),
        link(cell("search", 9, 10, 90), cell("bbr", 10, 10, 90)),
        link(cell("cubic", 1, 10, 20), cell("bbr", 10, 10, 90)),
    ]
    assert _sentence("WiFi", links, NAMES).found == "SEARCH leaves at the right moment in 18 of 20 trials."


LABELS = {"search": "SEARCH", "cubic": "CUBIC", "cubic_plain": "plain", "bbr": "BBR"}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[LinkResult]:
    return store(tmp_path_factory.mktemp("results"), 2)[1]


def test_the_matrix_of_all_runs_has_a_row_per_link_and_the_senders_of_search_first(found: list[LinkResult]) -> None:
    runs = [each.stored for each in found if each.stored]
    given = links.linked(runs, lambda _: None)
    assert sorted(row.found.link.profile for row in given.rows) == ["geo-viasat", "wired-clean"]
    assert next(iter(given.senders)) == "search"
    assert set(given.senders) == set(SENDERS)
    assert [each.name for each in given.measures] == [
        each.name for each in MEASURES if any(each.name in row.found.values for row in given.rows)
    ]


def test_kick_tires_shows_what_the_only_trial_gave(tmp_path: Path) -> None:
    run = store_run(tmp_path, 1, senders=("search",))
    change(run, scenario={"heuristic": TRUTH})
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


def test_the_fullest_run_of_a_link_is_ranked_and_another_fills_in_the_sender_that_it_lacks(tmp_path: Path) -> None:
    few = Stored.of(Run(store_run(tmp_path, 1, name="few", senders=("search", "bbr"))))
    more = Stored.of(Run(store_run(tmp_path, 2, name="more", senders=("search", "cubic"))))
    (row,) = links.linked([few, more], lambda stored: stored.name).rows
    assert row.page == "more"
    assert {cca: cell.page for cca, cell in row.cells.items()} == {"search": "more", "cubic": "more", "bbr": "few"}
    assert row.cells["bbr"].run.startswith("few, ")
    assert links.fullness(more) == (True, 4)
    assert links._filling([more, more, few]) == [few]
