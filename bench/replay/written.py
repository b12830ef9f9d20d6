# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the steps of a profile's trial, alone in a process, and print how much memory that took.

`python -m bench.replay.written PROFILE SECONDS FOLDER` prints megabytes and seconds.
"""

import re
import sys
import time
from pathlib import Path

import numpy as np

from lab.links.draw import draw_link
from lab.links.profile import read_profile
from lab.links.shapes import write_steps


def peak_mb() -> float:
    """Return this process's own peak: getrusage reports its parent's where that was larger."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) / 1024


def main(profile_file: str, duration_s: str, folder: str) -> None:
    """Draw and write."""
    begun = time.monotonic()
    profile = read_profile(Path(profile_file))
    write_steps(profile, draw_link(profile, float(duration_s), np.random.default_rng(1)), Path(folder))
    print(peak_mb(), time.monotonic() - begun)


if __name__ == "__main__":
    main(*sys.argv[1:])
