# SPDX-License-Identifier: GPL-2.0-or-later
"""A stored run from a stranger: whatever its files are, it is read or refused at once, and written nowhere else."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from lab.base.errors import UserError
from lab.report import figures
from lab.report.browser.pack import KEPT
from lab.report.write import write_report
from lab.tables.digests import MOST_BYTES, SUMS
from lab.tables.stored_trial import Trial
from lab.traces.parquet import MOST_ROWS
from tests.stored_run import change, sign
from tests.unit.test_digests import lines, run

__all__ = ["run"]  # a fixture
TRIAL = Path("trials") / "search-001"
FILES = [TRIAL / SUMS, TRIAL / "trial.json", TRIAL / "packets.parquet", Path("run.json.sha256")]
NO_PLAIN = "must be a plain file, no folder, pipe or device"


def sparse(file: Path) -> None:
    with file.open("wb") as stream:
        stream.truncate(MOST_BYTES + 1)


def with_stanza(run: Path, **changes: str) -> None:
    """Change how a stored run's first sender looks; whoever edits a file can edit its digest."""
    first, *others = json.loads((run / "run.json").read_text())["ccas"]
    change(run, ccas=[first | changes, *others])


@pytest.mark.parametrize("file", FILES, ids=str)
@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (os.mkfifo, NO_PLAIN),
        (lambda file: file.symlink_to("/dev/zero"), NO_PLAIN),
        (Path.mkdir, NO_PLAIN),
        (sparse, "bytes="),
    ],
    ids=["pipe", "device", "folder", "sparse"],
)
def test_what_is_no_plain_file_of_bounded_size_is_refused_unread(
    run: Path, file: Path, make: Callable[[Path], None], rule: str
) -> None:
    (run / file).unlink()
    make(run / file)
    (line,) = lines(run)
    assert line.startswith(f"{run / file}: ")
    assert rule in line


def test_a_small_table_that_announces_more_rows_than_fit_in_memory_is_refused(run: Path) -> None:
    file = run / TRIAL / "acks.parquet"
    pl.LazyFrame({"time_s": [0.0]}).select(pl.col("time_s").repeat_by(MOST_ROWS + 1).explode()).sink_parquet(file)
    sign(file)
    assert file.stat().st_size < 1_000_000
    with pytest.raises(UserError, match=f"rows={MOST_ROWS + 1}: must be at most {MOST_ROWS}"):
        _ = Trial(run / TRIAL).acks


def test_a_trial_that_is_a_link_is_missing(run: Path, tmp_path: Path) -> None:
    (run / TRIAL).rename(tmp_path / "elsewhere")
    (run / TRIAL).symlink_to(tmp_path / "elsewhere")
    assert lines(run) == [f"{run / TRIAL}: must be a folder, no link: --resume runs the trial again"]


def test_a_report_is_never_written_through_a_link(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "per_sender", lambda *_: [])  # those over all trials are enough to be drawn
    victim = tmp_path / "victim"
    victim.write_text("of the user")
    for name in (".report.html.part", "report.html", ".outcomes.parquet.part", f"{TRIAL}/.{KEPT}.part"):
        (run / name).symlink_to(victim)
    write_report(run, None)
    assert victim.read_text() == "of the user"
    assert (run / "report.html").read_text().startswith("<!doctype html>")


def test_figures_are_not_written_into_a_linked_folder(run: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (run / "figures").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="figures: must be a folder, no link"):
        write_report(run, None)
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize(
    ("field", "value"),
    [("colour", "reddish"), ("colour", "#12"), ("marker", "$\\frac$"), ("marker", "ox"), ("linestyle", "wavy")],
)
def test_a_look_that_is_none_is_refused_as_every_other_field(run: Path, field: str, value: str) -> None:
    with_stanza(run, **{field: value})
    (line,) = lines(run)
    assert line.startswith(f"{run}/run.json: ccas.0.{field}={value}: must be ")
