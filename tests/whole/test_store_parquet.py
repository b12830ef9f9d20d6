# SPDX-License-Identifier: GPL-2.0-or-later
"""What is written as a table is read back as it was, by polars; a long trial is decoded in pieces."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing.parametric import dataframes
from pyarrow import parquet

from lab.base.worker import VARIABLES
from lab.tables.columns import Described, schema
from lab.tables.pieces import MOST_ROWS
from lab.tables.stored_parquet import write_exact, write_table
from lab.tables.stored_trial import TABLES
from lab.tables.trial_tables import TRIAL_TABLES, write_tables
from tests import long_trial
from tests.examples import examples

STORED = [pl.Float64, pl.Int64, pl.Int32, pl.UInt32, pl.UInt16, pl.UInt8, pl.Boolean, pl.String]


@given(table=dataframes(min_cols=1, max_cols=5, max_size=50, allowed_dtypes=STORED))
@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_table_comes_back(tmp_path: Path, table: pl.DataFrame) -> None:
    write_table(table, tmp_path / "table.parquet")
    assert pl.read_parquet(tmp_path / "table.parquet").equals(table)


def test_a_table_with_exact_times_is_compressed_and_others_have_steps_below_a_nanosecond(tmp_path: Path) -> None:
    file, times = tmp_path / "table.parquet", pl.DataFrame({"t_s": [0.1] * 1000})
    write_exact(times, file, Described("One row per time.", {}))
    assert pl.read_parquet(file).equals(times)
    assert parquet.read_metadata(file).row_group(0).column(0).compression == "ZSTD"
    table = pl.DataFrame({"t_s": [1 / 3, 123.456789012345], "rtt_ms": [1 / 3, 600.123456789]})
    write_table(table, file)
    for name, steps in (("t_s", 2**30), ("rtt_ms", 2**20)):
        stored = pl.read_parquet(file)[name]
        assert [value * steps for value in stored] == [round(value * steps) for value in table[name]]


@pytest.mark.parametrize("kind", STORED)
def test_a_table_without_rows_keeps_its_columns(tmp_path: Path, kind: type[pl.DataType]) -> None:
    table = pl.DataFrame(schema={"column": kind})
    write_table(table, tmp_path / "table.parquet")
    assert pl.read_parquet(tmp_path / "table.parquet").schema == table.schema


@given(
    clock_ns=st.lists(st.integers(0, 86_400 * 10**9), min_size=1),
    eighths_us=st.lists(st.integers(0, 2**32 - 1), min_size=1),
)
@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_times_keep_the_resolution_of_their_clock(tmp_path: Path, clock_ns: list[int], eighths_us: list[int]) -> None:
    """In nanoseconds over a day; the kernel's smoothed round trip counts eighths of a microsecond."""
    for name, counts, per_unit in (("t_s", clock_ns, 1e9), ("srtt_ms", eighths_us, 8e3)):
        write_table(pl.DataFrame({name: [count / per_unit for count in counts]}), tmp_path / "table.parquet")
        stored = pl.read_parquet(tmp_path / "table.parquet")[name]
        assert (stored * per_unit).round().cast(pl.Int64).to_list() == counts


def test_a_trials_tables_hold_the_meaning_and_unit_of_every_column(tmp_path: Path) -> None:
    empty = {name: pl.DataFrame(schema=schema(columns)) for name, (_, columns) in TRIAL_TABLES.items()}
    write_tables(empty, tmp_path)
    for name in TABLES:
        stored = parquet.read_schema(tmp_path / f"{name}.parquet")
        assert stored.metadata[b"row"].decode() == TRIAL_TABLES[name].row
        assert all(field.metadata[b"meaning"] for field in stored)
    units = {field.name: field.metadata[b"unit"] for field in parquet.read_schema(tmp_path / "acks.parquet")}
    assert units["t_s"] == b"s"
    assert units["cwnd_pkts"] == b"packets"
    assert units["flow"] == b""


FRAMES = MOST_ROWS + MOST_ROWS // 2  # more than are held in memory
OF_GEO = 3_750_000
FIXED_MB, MOST_MB = 250, 350  # with the program and the pieces, whatever the length; of 600 s in all


def test_memory_per_frame_lets_600_s_of_geo_be_decoded_and_every_frame_is_stored(tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    long_trial.write(folder, FRAMES)
    argv = [sys.executable, "-m", "tests.long_trial", str(folder)]
    printed = subprocess.run(argv, capture_output=True, text=True, check=True, env=os.environ | VARIABLES).stdout
    stored = pl.scan_parquet(folder / "packets.parquet").select(pl.len()).collect().item()
    shutil.rmtree(folder)  # hundreds of megabytes
    assert stored > 0.99 * FRAMES
    assert float(printed) < FIXED_MB + (MOST_MB - FIXED_MB) * FRAMES / OF_GEO
