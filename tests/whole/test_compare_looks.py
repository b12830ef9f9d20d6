# SPDX-License-Identifier: GPL-2.0-or-later
"""The looks of a comparison: which trials a pair of senders is tested on, and when a look is taken."""

import shutil
from pathlib import Path

import pytest

from lab.evaluation.compare import results as of_links
from lab.evaluation.compare.comparison import Comparison, known_senders
from lab.evaluation.compare.growing import looks_of
from lab.evaluation.compare.measures import BY_NAME, PRIMARY
from lab.evaluation.compare.results import LinkResult, attempted
from lab.evaluation.compare.sequential import one_look
from lab.judge.stored import Stored
from lab.runs.link_kinds import KINDS, Link
from lab.tables.stored_run import Run
from tests.stored_run import change, store_run

WIRED = KINDS["wired"]


def test_a_pair_is_tested_by_the_measure_that_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    senders = ("search", "cubic")
    link = Link("geo", "geo-viasat", 4)
    comparison = Comparison(["search"], known_senders(senders), [link], 6)
    plan = looks_of(comparison)
    none = of_links.tested_pairs(comparison, None, BY_NAME[PRIMARY], plan)
    assert [(pair.separated, pair.difference.pairs) for pair in none] == [(False, 0)]
    assert of_links.of_link(link, None, plan) == LinkResult(link, None, {}, {}, {})
    run = store_run(tmp_path, 6, name="compare-geo", senders=senders)
    (run.parent / "latest").symlink_to(run.name)
    change(run, seeds=list(range(1, 7)))
    ((_, stored),) = of_links.stored_of([link], "")
    (by_class,), (by_rate,) = (
        of_links.tested_pairs(comparison, stored, BY_NAME[name], plan) for name in (PRIMARY, "throughput")
    )
    assert by_class.difference.difference == pytest.approx(1.0)  # one always at the chokepoint, the other never
    assert by_rate.difference.difference == pytest.approx(0.0)
    assert by_class.difference.pairs == by_rate.difference.pairs == 6


def test_a_look_is_taken_although_its_last_trial_always_fails(tmp_path: Path) -> None:
    run, plan = store_run(tmp_path, 8, senders=("search", "cubic")), one_look(8)
    comparison = Comparison(["search"], known_senders(("search", "cubic")), [WIRED], 8)
    shutil.rmtree(run / "trials" / "cubic-008")
    for stated, is_taken in ((7, False), (8, True)):
        change(run, complete=False, seeds=list(range(1, 9)), attempted=stated)
        (pair,) = of_links.tested_pairs(comparison, Stored.of(Run(run)), BY_NAME[PRIMARY], plan)
        assert pair.separated is is_taken
        assert (of_links.of_link(WIRED, Stored.of(Run(run)), plan).unranked == {}) is is_taken


def test_a_look_is_taken_up_to_the_last_trial_that_every_sender_has(tmp_path: Path) -> None:
    run = store_run(tmp_path, 3, senders=("search", "cubic"))
    assert attempted(Stored.of(Run(run))) == 3
    change(run, complete=False)
    shutil.rmtree(run / "trials" / "cubic-003")
    assert attempted(Stored.of(Run(run))) == 2
    for stated, found in ((1, 2), (3, 3), (9, 3)):  # what failed at the end has no later trial that shows it
        change(run, attempted=stated)
        assert attempted(Stored.of(Run(run))) == found
    change(run, attempted=0)
    shutil.rmtree(run / "trials")
    assert attempted(Stored.of(Run(run))) == 0
