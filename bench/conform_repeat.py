# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether `lab conform` says the same again, byte for byte, and what it costs: each time in new trials.

`python -m bench.conform_repeat SENDER SUITE TIMES`; SUITE is `all` for every suite. The command runs in an empty folder
of results each time, and its JSON is compared with that of the first time.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.measured import Figure, show_and_store
from bench.processor_time import Clock, processor_clock
from lab.base.paths import REPO

MOST_S = {"all": 300}  # of one run on two cores; of one suite: a minute
FAILED = 1  # exit status where a case failed


def main(sender: str, suite: str, times: int) -> None:
    """Run a suite so often, and store seconds and the number of different answers."""
    with processor_clock() as clock:
        runs = [_once(sender, suite, clock) for _ in range(times)]
    texts, walls_s, works_s = zip(*runs, strict=True)
    subject = f"{sender}, {suite}"
    figures: list[Figure] = [
        {"name": f"{subject}: runs", "value": times, "unit": ""},
        {"name": f"{subject}: different answers", "value": len(set(texts)), "unit": "", "target": "1"},
        {"name": f"{subject}: median time", "value": round(median(walls_s), 1), "unit": "s"},
        {"name": f"{subject}: shortest time", "value": round(min(walls_s), 1), "unit": "s", "target": _most(suite)},
        {"name": f"{subject}: median of processor time", "value": round(median(works_s), 1), "unit": "s"},
    ]
    show_and_store(f"conform-{sender}-{suite}", f"python -m bench.conform_repeat {sender} {suite} {times}", figures)


def _most(suite: str) -> str:
    return str(MOST_S.get(suite, 60))


def _once(sender: str, suite: str, clock: Clock) -> tuple[bytes, float, float]:
    """Return the JSON of one run, its seconds and those of the processor."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "verdicts.json"
        chosen = [] if suite == "all" else ["--suite", suite]
        line: list[str | Path] = [REPO / "scripts/lab", "conform", sender, *chosen, "--json", file]
        began_s, began_work_s = time.monotonic(), clock()
        environment = os.environ | {"LAB_RESULTS": folder}
        done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
        took_s, work_s = time.monotonic() - began_s, clock() - began_work_s
        if done.returncode not in (0, FAILED):
            raise SystemExit(done.stderr)
        return file.read_bytes(), took_s, work_s


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
