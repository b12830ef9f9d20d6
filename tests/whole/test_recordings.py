# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings are read in constant memory and drawn as they are; gaps are assumed, and changed ones are not the same."""

import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from lab.base.paths import REPO
from lab.runs import run_folder
from lab.runs.experiment import Experiment, load_experiment
from lab.runs.find_run import grown_since, matching
from lab.runs.reuse import reuse
from lab.tables.stored_run import Run
from lab.traces import recording
from lab.traces.batches import gaps_s
from lab.traces.recording import Recording
from tests.brief import error_of
from tests.command import lab, lab_ok
from tests.compared import site
from tests.stored_run import store_run
from tests.traces_real import FOLDER as REAL
from tests.traces_real import needs_real, real

DAY_STEPS = 8_640_000  # 24 hours of 10 ms
READ = """
from lab.traces import recording
count = sum(piece.height for piece in recording.scan(folder / sys.argv[2]).batches())
"""
WRITE = """
from lab.links.recorded import Series, load_series
series = load_series(Series(file="day.parquet"), ("rate_down_mbps",), folder / "mine.yml", "down.rate_mbps")
with (folder / "steps.tsv").open("w") as file:
    count = 0
    for t_s, mbps in series.window(0, float(sys.argv[2])).rows():
        count += file.write(f"{t_s * 1e6:.0f}\\t{mbps:.0f}\\n") > 0
"""
# VmHWM, because what getrusage reports is the parent's where that was larger
PEAK = """
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
print(count, int(peak[1]) / 1024)
"""


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("days")
    rates = np.random.default_rng(1).uniform(1, 100, DAY_STEPS)
    table = pl.DataFrame({"t_s": np.arange(DAY_STEPS) / 100, "rate_down_mbps": rates})
    for name, steps in (("day", DAY_STEPS), ("part", DAY_STEPS // 8)):
        recorded = Recording(table.head(steps), "series", "capacity", "made", name, ())
        recording.write(recorded, folder / f"{name}.parquet")
    return folder


def steps_and_peak_mb(code: str, folder: Path, word: str) -> tuple[int, float]:
    """Count steps in a process of its own, and its peak memory."""
    whole = f"import re, sys\nfrom pathlib import Path\nfolder = Path(sys.argv[1])\n{code}{PEAK}"
    argv = [sys.executable, "-c", whole, str(folder), word]
    steps, peak = subprocess.run(argv, cwd=REPO, capture_output=True, text=True, check=True).stdout.split()
    return int(steps), float(peak)


@pytest.mark.parametrize(
    ("code", "part", "whole"), [(READ, "part.parquet", "day.parquet"), (WRITE, "3600", "86400")], ids=["read", "write"]
)
def test_a_day_of_10_ms_steps_takes_constant_memory(days: Path, code: str, part: str, whole: str) -> None:
    few, many = (steps_and_peak_mb(code, days, word) for word in (part, whole))
    print(f"peak memory: {few[1]:.0f} MB for {few[0]} steps, {many[1]:.0f} MB for {many[0]} steps")
    assert many[0] == DAY_STEPS
    assert many[1] < few[1] + 40  # the whole table would be 138 MB


@needs_real
def test_the_command_draws_in_80_columns_and_writes_both_files(tmp_path: Path) -> None:
    file = real("wifi-cell-sparktraces/Hairpin/wifi/trace1.log")
    done = lab_ok(tmp_path, "traces", "show", str(file), "--out", str(tmp_path), COLUMNS="80")
    lines = done.stdout.splitlines()
    assert max(len(line) for line in lines if not line.startswith("/")) <= 80
    assert {Path(line).suffix for line in lines[-3:]} == {".svg", ".png", ".pdf"}
    assert all(Path(line).stat().st_size > 10_000 for line in lines[-2:])
    assert "usage, no capacity" in done.stdout


@needs_real
def test_a_recording_by_name_wants_to_be_fetched_first_and_is_then_imported_once(tmp_path: Path) -> None:
    name, environment = "lte-mahimahi/Verizon-LTE-short.up", {"LAB_CACHE": str(tmp_path / "cache")}
    before = lab(tmp_path, "traces", "show", name, **environment)
    assert (before.returncode, before.stderr) == (2, f"{name}: not fetched yet: run 'lab traces fetch {name}'\n")
    lab(tmp_path, "traces", "fetch", name, "--mirror", str(REAL), **environment)
    assert lab(tmp_path, "traces", "show", name, **environment).returncode == 0
    (stored,) = (tmp_path / "cache").rglob("recording-*.parquet")
    written_ns = stored.stat().st_mtime_ns
    assert lab(tmp_path, "traces", "show", name, **environment).returncode == 0
    assert stored.stat().st_mtime_ns == written_ns


NONE = math.nan


@pytest.mark.parametrize(
    ("rates_mbps", "zero_is_missing", "expected_s"),
    [
        ([5, 6, 7], False, []),
        ([5, NONE, NONE, 6, NONE, 7], False, [2, 1]),
        ([NONE, NONE, 5, 6], False, []),  # a gap at the beginning is cut away
        ([5, 6, NONE, NONE, NONE], False, [2]),  # until the last row
        ([5, 0, 0, 6], False, []),  # the link stalled
        ([5, 0, 0, 6], True, [2]),
        ([NONE, 5, NONE, 6], False, [1]),
    ],
)
@pytest.mark.parametrize("rows", [1, 2, 100])
def test_a_gap_lasts_until_the_next_value(
    rates_mbps: list[float], zero_is_missing: bool, expected_s: list[float], rows: int
) -> None:
    t_s, value = np.arange(len(rates_mbps), dtype=np.float64), np.array(rates_mbps, dtype=np.float64)
    pieces = [(t_s[begin : begin + rows], value[begin : begin + rows]) for begin in range(0, len(t_s), rows)]
    assert gaps_s(iter(pieces), zero_is_missing) == expected_s


def test_a_run_states_the_gaps_of_its_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in (("recorded.yml", PROFILE), ("over.yml", SCENARIO)):
        (tmp_path / name).write_text(content)
    monkeypatch.setenv("LAB_PROFILES", str(tmp_path))
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    missing = {10, 11, 12, 40}
    rows = (f"{second},{'' if second in missing else 20}\n" for second in range(60))
    (tmp_path / "mine.csv").write_text("t_s,rate_down_mbps\n" + "".join(rows))
    folder = run_folder.create(load_experiment(str(tmp_path / "over.yml")), site(tmp_path))
    sentence = "down.rate_mbps holds its last value over 2 gaps of mine.csv (4 s in all, the longest 3 s)"
    assert Run(folder).meta["profile"]["assumed"] == [sentence]


PROFILE = """
title: Recorded
down: {rate_mbps: {file: mine.csv}, delay_ms: 10, buffer_bytes: 100000}
up: {rate_mbps: 50, delay_ms: 10, buffer_bytes: 100000}
recorded: []
assumed: []
"""
SCENARIO = "{question: How, profile: recorded, topology: path, ccas: [cubic], trials: 2, duration_s: 5, seed: 1}"


@pytest.fixture
def over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The recording of a link over which a run was stored."""
    for name, content in (("recorded.yml", PROFILE), ("over.yml", SCENARIO)):
        (tmp_path / name).write_text(content)
    monkeypatch.setenv("LAB_PROFILES", str(tmp_path))
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    record(tmp_path / "mine.csv", 20)
    folder = run_folder.create(experiment(tmp_path), site(tmp_path))
    source = store_run(tmp_path / "source", 2, senders=("cubic",))
    (folder / "trials").rmdir()
    (source / "trials").rename(folder / "trials")
    return tmp_path / "mine.csv"


def record(file: Path, rate_mbps: int) -> None:
    file.write_text("t_s,rate_down_mbps\n" + "".join(f"{second},{rate_mbps}\n" for second in range(60)))


def experiment(folder: Path) -> Experiment:
    return load_experiment(str(folder / "over.yml"))


@pytest.mark.parametrize(("rate_mbps", "taken"), [(20, 2), (5, 0)])
def test_trials_are_taken_over_while_the_recording_is_the_same(over: Path, rate_mbps: int, taken: int) -> None:
    record(over, rate_mbps)
    now = experiment(over.parent)
    assert (matching(now, site(over.parent)) is not None) == bool(taken)
    folder = run_folder.create(now, site(over.parent))
    assert reuse(now, folder, site(over.parent), keep_capture=False) == taken


def test_a_run_over_another_recording_is_not_continued(over: Path) -> None:
    record(over, 5)
    line = r"/results/over/[^/]+: recordings=\w+: must be \w+, as it is now: run without --resume$"
    assert re.search(line, error_of(grown_since("2026-01-01"), experiment(over.parent), site(over.parent)))
