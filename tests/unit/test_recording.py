# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording keeps its rules, and is stored whole with what must be known of it."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from lab.base.errors import UserError
from lab.traces import recording
from lab.traces.datasets import datasets
from lab.traces.recording import Recording
from tests.brief import error_of, few_bytes_per_file
from tests.command import lab_ok


def series(**columns: Any) -> Recording:
    dtypes = {"lost": pl.Boolean, "retransmits_pkts": pl.UInt32}
    data = {name: pl.Series(values, dtype=dtypes.get(name, pl.Float64)) for name, values in columns.items()}
    return Recording(pl.DataFrame(data), "series", None, "made", "made.csv", ("Made by a test.",))


def opportunities(t_s: list[float], packets: list[int]) -> Recording:
    frame = pl.DataFrame({"t_s": t_s, "opportunities": pl.Series(packets, dtype=pl.UInt32)})
    return Recording(frame, "opportunities", "capacity", "made", "made.down", ())


@pytest.mark.parametrize("name", ["made.parquet", "made [1]*.parquet"])
def test_what_is_written_is_read_again_with_all_that_must_be_known(tmp_path: Path, name: str) -> None:
    written = series(t_s=[0.0, 0.5, 0.75], rtt_ms=[20.0, None, 21.0], lost=[False, True, False])
    recording.write(written, tmp_path / name)
    again = recording.read(tmp_path / name)
    assert again.frame.equals(written.frame)
    assert again.about == written.about
    assert list(tmp_path.iterdir()) == [tmp_path / name]  # no draft is left


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"t_s": [0.0, 0.0], "rtt_ms": [1.0, 2.0]}, "t_s=0.0: must be later than in the row before (row 2)"),
        ({"t_s": [0.0, 2.0, 1.0], "rtt_ms": [1.0] * 3}, "t_s=1.0: must be later"),
        ({"t_s": [0.1, 0.2], "rtt_ms": [1.0, 2.0]}, "t_s=0.1: must be 0 in the first row"),
        ({"t_s": [0.0, None], "rtt_ms": [1.0, 2.0]}, "t_s=null: must be given in each row (row 2)"),
        ({"t_s": [0.0, float("nan")], "rtt_ms": [1.0, 2.0]}, "t_s=nan: must be from 0 to"),
        ({"t_s": [0.0], "rtt_ms": [-1.0]}, "rtt_ms=-1.0: must be from 0 to"),
        ({"t_s": [0.0], "rtt_ms": [float("nan")]}, "rtt_ms=nan: must be from 0 to"),
        ({"t_s": [0.0], "rate_down_mbps": [float("inf")]}, "rate_down_mbps=inf: must be from 0 to"),
        ({"t_s": [0.0], "loss_pct": [100.1]}, "loss_pct=100.1: must be from 0 to 100 (row 1)"),
        ({"t_s": [0.0], "rtt_ms": [1.0], "lost": [True]}, "rtt_ms=a number: must be missing where the probe was lost"),
        ({"t_s": [0.0], "speed": [1.0]}, "column=speed: must be one of t_s, rate_down_mbps"),
        ({"t_s": [0.0]}, "must be a table with rows and a column beside t_s"),
        ({"rtt_ms": [1.0], "t_s": [0.0]}, "columns=rtt_ms,t_s: must be t_s first"),
    ],
)
def test_a_table_that_breaks_a_rule_is_refused(columns: dict[str, Any], words: str) -> None:
    line = error_of(series, **columns)
    assert line.startswith("made.csv: ")
    assert words in line


def test_kinds_keep_to_their_columns_and_opportunities_may_begin_after_0() -> None:
    assert opportunities([0.022, 0.05], [1, 2]).frame["t_s"][0] == 0.022
    with pytest.raises(UserError, match="t_s=a column: must be left out: samples have no clock"):
        Recording(pl.DataFrame({"t_s": [0.0], "rtt_ms": [1.0]}), "samples", None, "made", "x", ())
    with pytest.raises(UserError, match="kind=series: must be opportunities exactly where"):
        Recording(opportunities([0.0], [1]).frame, "series", None, "made", "x", ())
    assert "opportunities=0: must be at least 1" in error_of(opportunities, [0.0, 1.0], [1, 0])


def test_where_it_cannot_be_stored_a_line_names_the_file_and_what_is_there_stays(tmp_path: Path) -> None:
    written, file = series(t_s=[0.0, 0.5], rtt_ms=[20.0, 21.0]), tmp_path / "made.parquet"
    with few_bytes_per_file(10):
        assert error_of(recording.write, written, file).startswith(f"{file}: parquet: ")
    assert list(tmp_path.iterdir()) == []
    os.mkfifo(file)
    assert error_of(recording.write, written, file) == f"{file}: must be a plain file, no folder, pipe or device"
    assert file.is_fifo()


def test_another_parquet_file_and_one_of_another_version_are_refused(tmp_path: Path) -> None:
    pl.DataFrame({"t_s": [0.0], "rtt_ms": [1.0]}).write_parquet(tmp_path / "other.parquet")
    with pytest.raises(UserError, match=r"other\.parquet: metadata: must be that of a recording"):
        recording.read(tmp_path / "other.parquet")
    (tmp_path / "text.parquet").write_text("no Parquet at all")
    with pytest.raises(UserError, match=r"text\.parquet: .* must be a whole Parquet file"):
        recording.scan(tmp_path / "text.parquet")
    assert "must be a whole Parquet file" in error_of(recording.read, tmp_path / "missing.parquet")
    with pytest.raises(UserError, match="version=2: must be 1: import the recording again"):
        recording.read(with_metadata(tmp_path / "new.parquet", [0.0], 2))
    with pytest.raises(UserError, match=r"t_s=0\.5: must be later than in the row before"):
        list(recording.scan(with_metadata(tmp_path / "bad.parquet", [0.0, 1.0, 0.5], 1)).batches(2))


def test_a_stored_table_that_breaks_a_rule_is_reported_in_one_line_under_its_own_name(tmp_path: Path) -> None:
    file = tmp_path / "made.parquet"
    recording.write(series(t_s=[0.0, 0.5], rtt_ms=[20.0, 21.0]), file)
    file.write_bytes(file.read_bytes().replace(b"rtt_ms", b"\ntt_ms"))
    assert error_of(recording.read, file).startswith(f"{file}: column='\\ntt_ms': must be one of t_s, ")


def with_metadata(file: Path, t_s: list[float], version: int) -> Path:
    """Write a table as a recording of a version, whatever it holds."""
    about = {"version": version, "kind": "series", "meaning": None, "format": "x", "source": "x", "notes": []}
    frame = pl.DataFrame({"t_s": t_s, "rtt_ms": [1.0] * len(t_s)})
    frame.write_parquet(file, metadata={recording.KEY: json.dumps(about)})
    return file


def test_batches_are_the_table_and_keep_its_rules(tmp_path: Path) -> None:
    written = series(t_s=np.arange(1000) / 100, rate_down_mbps=np.arange(1000.0))
    recording.write(written, tmp_path / "made.parquet")
    pieces = list(recording.scan(tmp_path / "made.parquet").batches(300))
    assert [piece.height for piece in pieces] == [300, 300, 300, 100]
    assert pl.concat(pieces).equals(written.frame)


def test_the_list_shows_what_is_recorded_how_long_and_what_is_fetched(tmp_path: Path) -> None:
    done = lab_ok(tmp_path, "traces", "list", LAB_CACHE=str(tmp_path), COLUMNS="80")
    assert f"{len(datasets())} recordings, 0 of them fetched" in done.stdout
    line = next(line for line in done.stdout.splitlines() if "TMobile-LTE-short.down" in line)
    assert line.split() == ["TMobile-LTE-short.down", "capacity", "140", "s"]
    assert max(map(len, done.stdout.splitlines())) <= 80
