# SPDX-License-Identifier: GPL-2.0-or-later
"""A stranger's small table that would take all memory is refused before a row of it is read."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from pyarrow.parquet import read_metadata, write_table

from lab.base.errors import UserError
from lab.base.plain_file import MEGABYTE
from lab.tables.stored_trial import Trial
from lab.traces import parquet
from lab.traces.parquet import MOST_ROWS
from tests.stored_run import sign
from tests.unit.test_digests import run

__all__ = ["run"]  # a fixture
TRIAL = Path("trials") / "search-001"


def repeated(file: Path, rows: int) -> None:
    pl.LazyFrame({"t_s": [0.0]}).select(pl.col("t_s").repeat_by(rows).explode()).sink_parquet(file)


def many_rows(file: Path) -> None:
    repeated(file, MOST_ROWS + 1)


def fewer_announced(file: Path) -> None:
    """Let the end of a file state 10 rows in all, which its parts contradict; numbers are zigzag varints (Thrift)."""
    repeated(file, rows := 3_000_000)
    content = bytearray(file.read_bytes())
    at = content.index(_varint(rows), content.index(b"t_s", len(content) // 2))
    content[at : at + 4] = _varint(10, 4)
    file.write_bytes(content)
    assert read_metadata(file).num_rows == 10
    assert pl.read_parquet(file).height == rows


def _varint(number: int, length: int = 1) -> bytes:
    parts = [2 * number >> 7 * place & 127 for place in range(max(length, (2 * number).bit_length() // 7 + 1))]
    return bytes([*(part | 128 for part in parts[:-1]), parts[-1]])


def a_large_text(file: Path) -> None:
    pl.DataFrame({"t_s": [0.0], "state": ["x" * 2_000_000]}).write_parquet(file)


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (many_rows, f"rows={MOST_ROWS + 1}: must be at most {MOST_ROWS}"),
        (fewer_announced, "must be a whole Parquet table"),
        (a_large_text, "bytes=2[0-9]{6}: must be at most 1000000"),
    ],
)
def test_a_small_table_that_does_not_fit_in_memory_is_refused(
    run: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], rule: str
) -> None:
    monkeypatch.setattr(parquet, "MOST_BYTES", MEGABYTE)
    file = run / TRIAL / "retransmits.parquet"
    make(file)
    sign(file)
    assert file.stat().st_size < 1_000_000
    with pytest.raises(UserError, match=rule):
        _ = Trial(run / TRIAL).retransmits


def test_a_text_that_is_no_utf_8_is_refused_before_it_is_used(run: Path) -> None:
    file = run / TRIAL / "link.parquet"
    texts = pa.array([b"down.rate_mbps", b"\xff\xfe"]).view(pa.string())
    write_table(pa.table({"t_s": [0.0, 1.0], "quantity": texts, "value": [1.0, 2.0]}), file)
    sign(file)
    with pytest.raises(UserError, match="must be a whole Parquet table"):
        _ = Trial(run / TRIAL).link


def test_columns_that_the_lab_does_not_write_are_not_read(run: Path) -> None:
    file = run / TRIAL / "acks.parquet"
    table = pl.read_parquet(file)
    table.with_columns(pl.lit(0).alias(f"x{number}") for number in range(100)).write_parquet(file)
    sign(file)
    assert Trial(run / TRIAL).acks.equals(table)
