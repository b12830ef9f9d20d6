# SPDX-License-Identifier: GPL-2.0-or-later
"""Every table that a command writes over trials and runs holds the meaning and unit of each of its columns."""

import shutil
from pathlib import Path

import polars as pl
import pytest
from lab_papers.evaluation.columns import evaluation_tables
from lab_papers.evaluation.write import write_all
from pyarrow import parquet

from lab.base.paths import REPO
from lab.judge.judged import TABLES
from lab.tables.columns import Described, schema


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The committed sample, judged and evaluated."""
    results = Path(shutil.copytree(REPO / "analysis" / "sample", tmp_path_factory.mktemp("evaluated") / "results"))
    write_all(results, None)
    return results


def require_meanings(file: Path, about: Described) -> None:
    stored, table = parquet.read_schema(file), pl.read_parquet(file)
    assert stored.metadata[b"row"].decode() == about.row
    assert table.schema == schema(about.columns), file.name
    for field in stored:
        assert field.metadata[b"meaning"].decode() == about.columns[field.name].meaning
        assert field.metadata[b"unit"].decode() == about.columns[field.name].unit_as(field.name)
        assert not table[field.name].null_count() or "; null " in about.columns[field.name].meaning, field.name


@pytest.mark.parametrize("name", TABLES)
def test_the_judged_trials_of_a_run_hold_their_meaning(results: Path, name: str) -> None:
    require_meanings(results / "sample" / "latest" / name, TABLES[name])


@pytest.mark.parametrize("name", sorted(evaluation_tables().keys() - {"sensitivity_checks"}))  # runs kernels
def test_a_table_over_all_runs_holds_its_meaning(results: Path, name: str) -> None:
    require_meanings(results / "evaluation" / f"{name}.parquet", evaluation_tables()[name])


def test_every_table_over_all_runs_is_described(results: Path) -> None:
    assert {file.stem for file in (results / "evaluation").glob("*.parquet")} <= evaluation_tables().keys()
