# SPDX-License-Identifier: GPL-2.0-or-later
"""A published table made again: which sender each row is of, over how many trials, and what was replayed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from lab_papers.index.source_tables import TIMELY, source_table

from lab.base.format import NONE
from lab.judge.registry import TRUTH
from lab.judge.stored import Stored
from lab.report.table import Table
from lab.tables.stored_run import Run
from tests.brief import present
from tests.stored_run import TOLERANCE, change, store_run

SOURCE, TRIALS = "thesis, table 5.1", 3
CLAIM = {"source": SOURCE, "row": "GEO, capacity and loss", "cca": "cubic_plain", "trials": 77}
REPLAYED = CLAIM | {"row": "GEO, exit and timely", "replayed": "search2"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_run(tmp_path_factory.mktemp("results"), TRIALS, senders=("search", "cubic_plain"))


def stored(run: Path, *claims: dict[str, Any]) -> Stored:
    """The run, as one that was started with these claims."""
    change(run, scenario={"claims": claims, "tolerance": TOLERANCE})
    return Stored.of(Run(run))


def made(one: Stored, versions: pl.DataFrame | None = None) -> Table:
    return present(source_table("t", SOURCE, "SEARCH.", [one], versions))


def exits(one: Stored, judge: str, *classes: str | None, version: str = "search2") -> pl.DataFrame:
    """Exits of SEARCH as evaluation/versions.parquet has them, 3 s after the SYN, by one judge alone."""
    given = {"scenario": "geo", "version": version, "judge": judge, "exit_s": 3.0, "data_s": 1.0}
    downloads = one.judged.outcomes.filter(cca="cubic_plain", heuristic=TRUTH).select("trial", "capacity_s", "loss_s")
    columns = [pl.lit(value).alias(name) for name, value in given.items()]
    return downloads.with_columns(*columns, pl.Series("exit_class", classes, pl.String))


def test_a_search_that_is_replayed_stands_in_the_row_of_the_downloads_that_it_is_replayed_over(run: Path) -> None:
    downloads = CLAIM | {"values": {"capacity_s": [11.8, 2.6], "loss_s": 22.9}}
    one = stored(run, downloads, REPLAYED | {"values": {"exit_s": 13.7, "early_pct": 3.9, "timely_pct": 96.1}})
    by_rule, in_truth = exits(one, "heuristic", "late", "late", "early"), exits(one, TRUTH, "chokepoint", "early", None)
    another = exits(one, TRUTH, "late", "late", "late", version="search4")
    table = made(one, pl.concat([by_rule, in_truth, another]))
    (group,) = table.groups
    assert group.label == "GEO: SEARCH 2.0 (the published code), replayed over CUBIC without HyStart"
    assert table.header[2:] == ("Early (%)", "Timely (%)", "Capacity (s)", "Exit (s)", "First loss (s)")
    cells = [row.cells for row in group.rows]
    assert cells[0][1:] == ("77", "3.9", "96.1", "11.80 (2.60)", "13.70", "22.90")
    assert [row[0] for row in cells[1:]] == [
        "here, by latency offset",
        "here, by the true queue",
        "here, by the true queue, lasting (replay pending: lab evaluate)",
    ]
    shares = [[cell.partition(" [")[0] for cell in row[2:4]] for row in cells[1:]]
    assert shares == [["1 of 3", "2 of 3"], ["1 of 2", "1 of 2"], [NONE, NONE]]
    assert [row[5] for row in cells[1:]] == ["2.00 (0.00)", "2.00 (0.00)", NONE]
    assert TIMELY in table.notes


def test_without_the_table_of_replays_only_what_was_replayed_is_pending(run: Path) -> None:
    one = stored(run, CLAIM | {"values": {"loss_s": 22.9}}, REPLAYED | {"values": {"exit_s": 13.7}})
    (ours,) = (row.cells for row in made(one).groups[0].rows[1:])
    assert "pending" in ours[0]
    assert (ours[2], ours[3] != NONE) == (NONE, True)
    assert TIMELY not in made(one).notes


def test_ours_has_the_values_that_the_row_publishes_and_no_other(run: Path) -> None:
    one = stored(run, CLAIM | {"values": {"loss_s": 22.9}}, CLAIM | {"cca": "search", "values": {"timely_pct": 96}})
    table = made(one)
    assert table.header[2:] == ("Timely (%)", "First loss (s)")
    plain, search = ([(row.cells[2] != NONE, row.cells[3] != NONE) for row in group.rows] for group in table.groups)
    assert (set(plain), set(search)) == ({(False, True)}, {(True, False)})
    assert [group.label.partition(": ")[2] for group in table.groups] == ["CUBIC without HyStart", "SEARCH 2.0 + fixes"]


def test_a_value_over_fewer_trials_than_its_row_has_states_how_many(run: Path) -> None:
    one = stored(run, CLAIM | {"values": {"capacity_s": 11.8, "loss_s": 22.9}})
    lacking = pl.when(pl.col("trial") > 1).then("capacity_s").alias("capacity_s")
    fewer = replace(one.judged, outcomes=one.judged.outcomes.with_columns(lacking))
    table = made(replace(one, judged=fewer))
    for row in table.groups[0].rows[1:]:
        assert (row.cells[1], row.cells[2][-5:], " of " in row.cells[3]) == ("3", " of 2", False)
    assert any(note.startswith("of n: over n of the trials") for note in table.notes)


def test_a_share_of_few_trials_states_its_own_count_and_needs_no_note(run: Path) -> None:
    table = made(stored(run, CLAIM | {"values": {"timely_pct": 96}}))
    assert all(" of " in row.cells[2] for row in table.groups[0].rows[1:])
    assert not any(note.startswith("of n: ") for note in table.notes)
