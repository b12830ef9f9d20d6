# SPDX-License-Identifier: GPL-2.0-or-later
"""What long recordings cost: half a million lines imported, a day of 10 ms steps written and replayed."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import yaml

from bench import crossing
from bench.crossing import Run, at_pace
from lab.base import paths
from lab.links.draw import CLOSING_S
from lab.traces import importers, recording
from lab.traces.recording import Recording

LINES, TIMES = 500_000, 3
SPANS_S = {"minute": 60, "day": 86_400}
STEP_S = 0.01
SPARE_S = 2 * CLOSING_S
PACKETS_MBPS = 0.002
Cost = dict[str, float]


def measure(run: Run, folder: Path) -> Cost:
    """Measure all of it; seconds are wall time on this machine."""
    found = {f"import of {LINES} mahimahi lines, s": import_s(folder)}
    for name, span_s in SPANS_S.items():
        own = folder / name
        own.mkdir()
        wrote_mb, wrote_s = written(own, span_s)
        node_mb, node_s = played(run, own, span_s)
        found |= {f"{name} of {STEP_S * 1e3:g} ms steps: written, MB": wrote_mb, f"{name}: written, s": wrote_s}
        found |= {f"{name}: replayed, in the node, MB": node_mb, f"{name}: replayed, s": node_s}
    return found


def import_s(folder: Path) -> float:
    """Import packet-delivery lines; the best of a few times, for the machine may be busy."""
    times_ms = np.sort(np.random.default_rng(1).integers(1, 120_000, LINES))
    file = folder / "lines.down"
    file.write_text("".join(f"{t_ms}\n" for t_ms in times_ms.tolist()))
    return min(_timed(lambda: importers.read(file)) for _ in range(TIMES))


def written(folder: Path, span_s: int) -> tuple[float, float]:
    """Write the steps of a recording as long as this; megabytes and seconds of a process of its own."""
    steps = round((span_s + SPARE_S) / STEP_S)
    mbps = np.random.default_rng(1).uniform(1, 20, steps)
    frame = pl.DataFrame({"t_s": np.arange(steps) * STEP_S, "rate_down_mbps": mbps})
    recording.write(Recording(frame, "series", "capacity", "made", "made", ()), folder / "made.parquet")
    down = {"rate_mbps": {"file": "made.parquet"}, "delay_ms": 10, "buffer_bytes": 100_000}
    content = {"title": "long", "down": down, "up": {"delay_ms": 10}, "recorded": [], "assumed": []}
    (folder / "made.yml").write_text(yaml.safe_dump(content))
    command = [
        sys.executable,
        "-m",
        "bench.replay.written",
        str(folder / "made.yml"),
        str(span_s),
        str(folder),
    ]
    done = subprocess.run(command, cwd=paths.REPO, capture_output=True, text=True, check=True)
    memory_mb, seconds = map(float, done.stdout.split())
    return memory_mb, seconds


def played(run: Run, folder: Path, span_s: int) -> tuple[float, float]:
    """Replay what was written, with few packets; megabytes of the node that feeds the qdisc, and seconds."""
    spec = {"kind": "replay", "mode": "rate", "limit_bytes": 100_000, "overhead_bytes": 0, "start_bps": 1_000_000}
    begun = time.monotonic()
    packets = at_pace(PACKETS_MBPS, 0, span_s - 1)
    got = crossing.cross(run, folder, spec | {"child": None}, packets, span_s, "bottleneck.tsv")
    assert got.received.height == got.packets.height
    return got.record["memory_kb"] / 1024, time.monotonic() - begun


def _timed(work: object) -> float:
    begun = time.monotonic()
    work()  # type: ignore[operator]
    return time.monotonic() - begun
