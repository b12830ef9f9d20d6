# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials that are the same, packet for packet: they count once in tables, sentences, intervals and tests."""

from collections.abc import Sequence
from pathlib import Path
from shutil import copyfile

import polars as pl
import pytest
from lab_compare.matrix.matrix import Linked, matrix
from lab_compare.results import of_run
from lab_papers.evaluation.rtt_cycle import cycle_hz, parts
from lab_papers.evaluation.senders import differences
from lab_papers.figures.download_times import times
from lab_papers.figures.rtt_extremes import extremes

from lab.evaluation.measures import BY_NAME, values
from lab.evaluation.sweep import table_of
from lab.judge.copies import copied, distinct
from lab.judge.registry import LASTING
from lab.judge.stored import Stored
from lab.judge.summary import summarise
from lab.report.answer import headline
from lab.report.table import tables
from lab.tables.stored_run import Run
from lab.tables.trial_tables import TRIAL_TABLES
from tests.stored_run import change, sign, store_run

SENDERS = ("search", "cubic")
TRIALS = 20


def repeat(run: Path, cca: str) -> None:
    """Let every trial of a sender be its first, as on a link without draws."""
    for number in range(2, TRIALS + 1):
        for table in TRIAL_TABLES:
            first, other = (run / "trials" / f"{cca}-{each:03d}" / f"{table}.parquet" for each in (1, number))
            if first.exists():
                copyfile(first, other)
                sign(other)


def repeating(results: Path, senders: Sequence[str]) -> Stored:
    """A run in which each of these senders repeats one trial."""
    run = store_run(results, TRIALS, senders=SENDERS)
    change(run, seeds=list(range(1, TRIALS + 1)))
    for cca in senders:
        repeat(run, cca)
    return Stored.of(Run(run))


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return repeating(tmp_path_factory.mktemp("copies"), SENDERS)


@pytest.fixture(scope="module")
def one_repeats(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return repeating(tmp_path_factory.mktemp("one"), ["search"])


def rows(*packets: str | None, valid: bool = True) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "cca": "search",
            "trial": range(1, len(packets) + 1),
            "valid": [True] * (len(packets) - 1) + [valid],
            "packets": pl.Series(packets, dtype=pl.String),
        }
    )


@pytest.mark.parametrize(
    ("table", "counted"),
    [
        (rows("a", "a", "a"), 1),
        (rows("a"), 1),
        (rows("a", "a", "b"), 3),  # each is a draw: two of them had the same effect
        (rows("a", "a", "b", valid=False), 1),  # an invalid trial counts nowhere, here neither
        (rows(None, None), 2),  # unknown packets are not the same
    ],
)
def test_trials_count_once_where_all_valid_ones_are_the_same(table: pl.DataFrame, counted: int) -> None:
    assert distinct(table).height == counted


def test_only_several_trials_are_copies() -> None:
    assert copied(rows("a", "a", "a")) == {"search": 3}
    assert copied(rows("a")) == copied(rows("a", "b")) == {}


def test_a_table_and_a_sentence_state_that_trials_are_one(stored: Stored) -> None:
    summary = summarise(stored.judged.outcomes, SENDERS).filter(heuristic=LASTING)
    row = summary.row(0, named=True)
    assert (row["trials"], row["valid"], row["distinct"], row["judged"]) == (20, 20, 1, 1)
    assert row["chokepoint_lo_pct"] is row["chokepoint_hi_pct"] is row["exit_s_sd"] is None
    classes = tables(summary, stored.run.ccas, [])[0].groups[0].rows[0].cells
    assert classes[1] == "20 of 20: all the same, one"
    assert classes[3] in ("1 of 1", "0 of 1")
    summary = summarise(stored.judged.outcomes, SENDERS)
    sentence = headline(summary, stored.run.ccas, LASTING)[0]
    assert "20 trials, all the same: one" in sentence
    assert "not judged" not in sentence


def test_copies_are_neither_tested_nor_ranked_and_more_of_them_hopeless(stored: Stored) -> None:
    found = of_run(stored)
    assert found.copied == dict.fromkeys(SENDERS, TRIALS)
    for name, tested in found.pairs.items():
        assert [(pair.separated, pair.difference.pairs, pair.difference.lo) for pair in tested] == [(False, 1, None)]
        assert found.unranked[name] == "all trials the same: one, no rank"
    row = matrix([Linked(found)], dict.fromkeys(SENDERS, "a sender"), ["search"], lambda _: None).rows[0]
    assert row.trials == "20 trials each; all the same, one: search, cubic"
    assert all(pair.hopeless for tested in of_run(stored).pairs.values() for pair in tested)


def test_figures_claims_and_sweeps_count_copies_once_and_have_no_interval(stored: Stored) -> None:
    shown = times(stored)
    assert (set(shown["trials"]), shown["se_s"].null_count()) == ({1}, shown.height)
    assert extremes(stored).height == len(parts(stored)[0]) == 1
    assert cycle_hz(stored)[1:] == (None, None, 1)
    swept = table_of([({"duration_s": "1"}, stored)])
    assert (set(swept["n"]), swept["lo"].null_count(), swept["hi"].null_count()) == ({1}, swept.height, swept.height)


def test_a_sender_that_repeats_one_trial_has_one_pair_with_a_sender_that_does_not(one_repeats: Stored) -> None:
    found = values(one_repeats, [BY_NAME["throughput"]])["throughput"]
    assert [sum(value is not None for value in found[cca]) for cca in SENDERS] == [1, TRIALS]
    compared = differences(one_repeats)
    assert {*compared["pairs"]} <= {0, 1}
    assert compared["p_value"].is_null().all()
