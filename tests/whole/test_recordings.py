# SPDX-License-Identifier: GPL-2.0-or-later
"""A day of 10 ms steps is read and written in constant memory; the commands draw recordings as they are."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from lab.base.paths import REPO
from lab.traces import recording
from lab.traces.recording import Recording
from tests.command import lab
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
    """A recording of a day, and its first eighth."""
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
def test_a_day_of_10_ms_steps_is_read_and_written_in_constant_memory(
    days: Path, code: str, part: str, whole: str
) -> None:
    few, many = (steps_and_peak_mb(code, days, word) for word in (part, whole))
    print(f"peak memory: {few[1]:.0f} MB for {few[0]} steps, {many[1]:.0f} MB for {many[0]} steps")
    assert many[0] == DAY_STEPS
    assert many[1] < few[1] + 40  # the whole table would be 138 MB


@needs_real
def test_the_command_draws_in_80_columns_and_writes_both_files(tmp_path: Path) -> None:
    file = real("wifi-cell-sparktraces/Hairpin/wifi/trace1.log")
    done = lab(tmp_path, "traces", "show", str(file), "--out", str(tmp_path), COLUMNS="80")
    assert done.returncode == 0, done.stderr
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
