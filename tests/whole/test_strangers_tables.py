# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of a stranger's trial: each number is one that its column can hold, or the table is refused."""

from pathlib import Path

import polars as pl
import pytest

from lab.judge.judged import judged
from lab.tables.columns import fault_of
from lab.tables.stored_run import Run
from lab.tables.trial_tables import TRIAL_TABLES
from tests.stored_run import sign, store_run

TRIAL = Path("trials") / "search-001"
COLUMNS = [(table, name) for table, about in TRIAL_TABLES.items() for name in about.columns]


def test_times_of_two_flows_and_of_two_processors_may_cross() -> None:
    columns = TRIAL_TABLES["retransmits"].columns
    table = pl.DataFrame({"t_s": [1.0, 2.0, 1.5, 1.4999], "flow": [1, 1, 2, 2], "state": "established"})
    assert fault_of(table, columns) is None
    assert fault_of(table.with_columns(flow=pl.lit(1)), columns) == ("t_s", "", "in the order of time")


@pytest.mark.parametrize(("name", "value", "most"), [("t_s", 2e5, 1e5), ("rtt_ms", 2e5, None), ("rtt_ms", 2e12, 1e12)])
def test_a_time_is_within_what_a_download_can_last_and_another_number_within_64_bits(
    name: str, value: float, most: float | None
) -> None:
    columns = {each: TRIAL_TABLES["exits"].columns[each] for each in ("t_s", "rtt_ms")}
    fault = fault_of(pl.DataFrame({"t_s": [1.0], "rtt_ms": [1.0]} | {name: [value]}), columns)
    assert fault == (None if most is None else (name, value, f"numbers below {most:g}"))


@pytest.mark.parametrize(
    ("table", "name", "number", "rule"),
    [
        ("packets", "flow", 2**33, "numbers of UInt8"),
        ("packets", "len_bytes", -1448, "numbers of UInt32"),
        ("packets", "seq_bytes", -1, None),
    ],
)
def test_a_whole_number_is_one_that_its_column_can_hold(table: str, name: str, number: int, rule: str | None) -> None:
    fault = fault_of(pl.DataFrame({name: [0, number]}), {name: TRIAL_TABLES[table].columns[name]})
    assert fault == (None if rule is None else (name, f"{min(number, 0)} to {max(number, 0)}", rule))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one trial, whose every table has rows."""
    return store_run(tmp_path_factory.mktemp("whole"), trials=1, senders=("search",))


@pytest.mark.parametrize(("table", "name"), COLUMNS, ids=[f"{table}.{name}" for table, name in COLUMNS])
def test_a_column_of_nulls_or_of_odd_numbers_is_judged_or_refused(whole: Path, table: str, name: str) -> None:
    file = whole / TRIAL / f"{table}.parquet"
    content = file.read_bytes()
    stored = pl.read_parquet(file)
    for odd in (None, 0, -1, 2**31, 1e11):
        if odd is None or stored.schema[name].is_numeric():
            stored.with_columns(pl.lit(odd).cast(stored.schema[name], strict=False).alias(name)).write_parquet(file)
            sign(file)
            judged(Run(whole), keep=False)
    file.write_bytes(content)
    sign(file)
