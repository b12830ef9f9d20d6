# SPDX-License-Identifier: GPL-2.0-or-later
"""A recorded series is cleaned piece by piece: where it is cut changes nothing, and a day needs no more memory."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl

from lab.base.paths import REPO
from lab.traces import recording
from lab.traces.recording import Recording

DAY_STEPS = 8_640_000  # of 10 ms


def test_a_day_of_10_ms_steps_is_written_for_the_replay_in_constant_memory(tmp_path: Path) -> None:
    day = Recording(
        pl.DataFrame({"t_s": np.arange(DAY_STEPS) / 100, "rate_down_mbps": np.arange(DAY_STEPS) % 97 + 1.0}),
        "series",
        "capacity",
        "made",
        "day",
        (),
    )
    recording.write(day, tmp_path / "day.parquet")
    hour, whole_day = (_peak_mb(tmp_path, seconds) for seconds in (3600, 86400))
    print(f"peak memory: {hour[1]:.0f} MB for {hour[0]} steps, {whole_day[1]:.0f} MB for {whole_day[0]} steps")
    assert whole_day[0] == DAY_STEPS
    assert whole_day[1] < hour[1] + 40


def _peak_mb(folder: Path, seconds: int) -> tuple[int, float]:
    """Write a window's steps in a process of its own, and print their count and its peak memory."""
    code = (
        "import re, sys; from pathlib import Path\n"
        "from lab.links.recorded import Series, load_series\n"
        "folder, seconds = Path(sys.argv[1]), float(sys.argv[2])\n"
        "series = load_series(Series(file='day.parquet'), ('rate_down_mbps',), folder / 'mine.yml', 'down.rate_mbps')\n"
        "with (folder / 'steps.tsv').open('w') as file:\n"
        "    count = 0\n"
        "    for t_s, mbps in series.window(0, seconds).rows():\n"
        "        count += file.write(f'{t_s * 1e6:.0f}\\t{mbps:.0f}\\n') > 0\n"
        "peak = re.search(r'VmHWM:\\s+(\\d+) kB', Path('/proc/self/status').read_text())\n"
        "print(count, int(peak[1]) / 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder), str(seconds)], cwd=REPO, capture_output=True, text=True, check=True
    )
    steps, peak = done.stdout.split()
    return int(steps), float(peak)
