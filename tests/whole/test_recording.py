# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording keeps its rules, is stored whole with what must be known of it, and is read in constant memory."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl

from lab.base.paths import REPO
from lab.traces import recording
from lab.traces.recording import Recording

DAY_STEPS = 8_640_000  # 24 hours of 10 ms


def test_a_day_of_10_ms_steps_is_read_in_constant_memory(tmp_path: Path) -> None:
    t_s = np.arange(DAY_STEPS) / 100
    rates = np.random.default_rng(1).uniform(0, 100, DAY_STEPS)
    for name, rows in (("day", DAY_STEPS), ("part", DAY_STEPS // 8)):
        recorded = Recording(
            pl.DataFrame({"t_s": t_s[:rows], "rate_down_mbps": rates[:rows]}), "series", "capacity", "made", name, ()
        )
        recording.write(recorded, tmp_path / f"{name}.parquet")
    day, part = (_peak_mb(tmp_path / f"{name}.parquet") for name in ("day", "part"))
    print(f"peak memory: {part[1]:.0f} MB for {part[0]} rows, {day[1]:.0f} MB for {day[0]} rows")
    assert day[0] == DAY_STEPS
    assert day[1] < part[1] + 40  # eight times the rows; the whole table would be 138 MB


def _peak_mb(path: Path) -> tuple[int, float]:
    """Count the rows of a recording batch by batch in a process of its own, and its peak memory."""
    code = (  # VmHWM, because what getrusage reports is the parent's where that was larger
        "import re, sys; from pathlib import Path; from lab.traces import recording\n"
        "rows = sum(piece.height for piece in recording.scan(Path(sys.argv[1])).batches())\n"
        "peak = re.search(r'VmHWM:\\s+(\\d+) kB', Path('/proc/self/status').read_text())\n"
        "print(rows, int(peak[1]) / 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], cwd=REPO, capture_output=True, text=True, check=True)
    rows, peak = done.stdout.split()
    return int(rows), float(peak)
