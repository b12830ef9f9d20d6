# SPDX-License-Identifier: GPL-2.0-or-later
"""The first sentences of the page of all results: which cell they compare with a paper, and who ties with the best."""

from types import SimpleNamespace
from typing import Any

import pytest
from lab_papers.index.sentences import _found, _furthest, _sentence

from lab.evaluation.compare.measures import PRIMARY, RULE

SENDERS = {"search": "SEARCH", "cubic": "CUBIC", "bbr": "BBR"}


def cell(cca: str, hits: int, of: int, published: float, ran: str | None = None) -> Any:
    """A cell of the matrix, with so many exits at the chokepoint by the papers' rule, and a paper's share."""
    values = {RULE: {cca: [1.0] * hits + [0.0] * (of - hits)}}
    theirs = SimpleNamespace(value=published, source=f"paper of {cca}", ran=ran)
    reading = SimpleNamespace(published=theirs, published_text=f"{published:g} %")
    return SimpleNamespace(cca=cca, found=SimpleNamespace(values=values), readings={RULE: reading})


def row(*cells: Any, title: str = "GEO") -> Any:
    return SimpleNamespace(
        cells={each.cca: each for each in cells}, found=SimpleNamespace(link=SimpleNamespace(title=title))
    )


def test_the_cell_that_lies_furthest_from_its_paper_is_compared() -> None:
    sentence, apart = _furthest([row(cell("cubic", 1, 10, 20)), row(cell("bbr", 5, 10, 90), title="LEO")], SENDERS)
    assert sentence == "By the papers' rule, BBR does so in 5 of 10 on LEO; published: 90 % (paper of bbr)."
    assert apart == pytest.approx(40)


def test_a_paper_about_another_version_is_compared_only_where_there_is_no_other() -> None:
    other, same = cell("search", 0, 10, 90, ran="SEARCH 2.0"), cell("cubic", 1, 10, 20)
    assert "CUBIC does so" in _furthest([row(other, same)], SENDERS)[0]
    sentence, apart = _furthest([row(other)], SENDERS)
    assert sentence.endswith("published: 90 % (paper of search, SEARCH 2.0).")
    assert apart == pytest.approx(90)


def test_only_senders_that_have_not_separated_from_the_best_are_named_as_ties() -> None:
    pairs = [
        SimpleNamespace(first="search", second="cubic", separated=True),
        SimpleNamespace(first="bbr", second="search", separated=False),
    ]
    ranked: Any = SimpleNamespace(found=SimpleNamespace(pairs={PRIMARY: pairs}, unranked={}))
    counts = {"cubic": (2, 10), "search": (9, 10), "bbr": (8, 10)}
    assert _found([ranked], counts, SENDERS) == (
        "SEARCH leaves at the right moment in 9 of 10 trials (not separated: BBR), CUBIC in 2 of 10."
    )


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
    assert _sentence("GEO", [only], SENDERS).found == "CUBIC leaves at the right moment in 7 of 10 trials."


def test_a_sender_that_ran_over_fewer_links_of_a_kind_is_not_compared_over_them() -> None:
    both = [cell("search", 9, 10, 90), cell("cubic", 2, 10, 20)], [cell("search", 9, 10, 90), cell("cubic", 1, 10, 20)]
    links = [link(*both[0], cell("bbr", 10, 10, 90)), link(*both[1], cell("bbr", 0, 0, 90))]
    assert _sentence("WiFi", links, SENDERS).found == (
        "SEARCH leaves at the right moment in 18 of 20 trials, CUBIC in 3 of 20."
    )


def test_senders_that_ran_over_as_many_links_but_other_ones_are_not_compared() -> None:
    links = [
        link(cell("search", 9, 10, 90), cell("cubic", 2, 10, 20)),
        link(cell("search", 9, 10, 90), cell("bbr", 10, 10, 90)),
        link(cell("cubic", 1, 10, 20), cell("bbr", 10, 10, 90)),
    ]
    assert _sentence("WiFi", links, SENDERS).found == "SEARCH leaves at the right moment in 18 of 20 trials."
