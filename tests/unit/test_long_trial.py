# SPDX-License-Identifier: GPL-2.0-or-later
"""A long trial is decoded in pieces: 600 s over GEO, 3.75 million frames, take at most 350 MB."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl

from lab.runs.processes import ENVIRONMENT
from lab.tables.pieces import MOST_ROWS
from tests import long_trial

FRAMES = MOST_ROWS + MOST_ROWS // 2  # more than are held in memory
OF_GEO = 3_750_000
FIXED_MB, MOST_MB = 250, 350  # with the program and the pieces, whatever the length; of 600 s in all


def test_memory_per_frame_lets_600_s_of_geo_be_decoded_and_every_frame_is_stored(tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    long_trial.write(folder, FRAMES)
    argv = [sys.executable, "-m", "tests.long_trial", str(folder)]
    printed = subprocess.run(argv, capture_output=True, text=True, check=True, env=os.environ | ENVIRONMENT).stdout
    stored = pl.scan_parquet(folder / "packets.parquet").select(pl.len()).collect().item()
    shutil.rmtree(folder)  # hundreds of megabytes
    assert stored > 0.99 * FRAMES
    assert float(printed) < FIXED_MB + (MOST_MB - FIXED_MB) * FRAMES / OF_GEO
