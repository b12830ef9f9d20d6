# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording's series replayed in a kernel, and what its packets got compared with the request."""

from pathlib import Path
from typing import Any

import numpy as np

from bench import crossing
from bench.crossing import Arrivals, Run
from bench.replay.accuracy import (
    OPPORTUNITIES,
    RATE,
    ahead,
    delay_errors_ms,
    on_grid,
    series,
    window_errors_pct,
)
from bench.replay.subjects import Subject
from lab.links.recorded import Recorded
from lab.links.shapes import DELAY_LINE_PKTS, END, LATE_LEAST_US
from lab.links.steps import Row
from lab.node.plan import Spec
from lab.node.qdiscs.qdisc_kind import FRAME_BYTES
from lab.tables.link_capacity import LinkCapacity

STEP_S = 0.01
LEAD_S, TICK_S = 0.5, 0.01  # packets are queued so long before the link has carried them: it is never idle
MOST_PACKETS = 500_000
PROBE_S, PROBE_BYTES = 0.005, 100  # on average, at random times: in step with the changes they would miss or hit each
BUFFER_BYTES = 1 << 30
SPARE_S = 60.0  # a series must not end before the counters of its qdisc are read
FILE = "steps.tsv"
Figures = dict[str, Any]


def replayed(run: Run, subject: Subject, folder: Path, most_s: float) -> Figures:
    """Replay a subject from its beginning; the errors of all windows or packets, and what must not happen."""
    folder.mkdir()
    measure = delay if subject.kind == "delay" else capacity
    return {"trace": subject.name, "column": subject.column, "kind": subject.kind} | measure(
        run, subject, folder, most_s
    )


def capacity(run: Run, subject: Subject, folder: Path, most_s: float) -> Figures:
    """Replay rates changed every 10 ms, or delivery opportunities one by one, under a queue that is never empty."""
    link, rows, seconds = _capacity(subject.load(), subject.kind, most_s)
    lines = [(_us(t_s), f"{value * (1e6 if subject.kind == 'rate' else 1):.0f}") for t_s, value in rows]
    _write(folder, [*lines, (_us(seconds + SPARE_S), END)])
    spec: Spec = {"kind": "replay", "mode": subject.kind, "limit_bytes": BUFFER_BYTES, "overhead_bytes": 0}
    spec |= {"start_bps": 1_000_000, "child": None}  # until the series begins: nothing is sent before
    got = crossing.cross(run, folder, spec, ahead(link, seconds, LEAD_S, TICK_S), seconds + LEAD_S, FILE)
    received_s = np.sort(got.received["received_s"].to_numpy())
    errors = window_errors_pct(link, received_s, np.full(len(received_s), float(FRAME_BYTES)), seconds)
    due = int(link.sent_bytes(np.array([seconds]))[0] // FRAME_BYTES) - 1  # the next may still wait in a stall
    return _common(got, rows, seconds, due) | {"window_error_pct": errors.tolist()}


def _capacity(recorded: Recorded, kind: str, most_s: float) -> tuple[LinkCapacity, list[Row], float]:
    """Cut a capacity where it ends, or has carried enough packets; a stall comes first, for the queue to be filled."""
    rows = list(recorded.window(0.0, min(most_s, recorded.length_s)).rows())
    if kind == "rate":
        rows = on_grid(rows, STEP_S, min(most_s, recorded.length_s))
    rows = [(0.0, 0.0), *((t_s + LEAD_S, value) for t_s, value in rows)]
    link = series(rows, RATE if kind == "rate" else OPPORTUNITIES)
    times_s = np.array([t_s for t_s, _ in rows])
    enough = int(np.searchsorted(link.sent_bytes(times_s), MOST_PACKETS * FRAME_BYTES))
    seconds = float(times_s[min(enough, len(times_s) - 1)])
    return link, [row for row in rows if row[0] <= seconds + LEAD_S], seconds


def delay(run: Run, subject: Subject, folder: Path, most_s: float) -> Figures:
    """Replay one-way delays changed every 10 ms: recorded ones, or round trips less half of the shortest."""
    recorded = subject.load()
    seconds, base_ms = min(most_s, recorded.length_s), recorded.least() / 2 if subject.column == "rtt_ms" else 0.0
    recorded_rows = [(t_s, value - base_ms) for t_s, value in recorded.window(0.0, seconds).rows()]
    rows = on_grid(recorded_rows, STEP_S, seconds)
    lines = [(_us(t_s), f"{delay_ms * 1e3:.0f}", "0") for t_s, delay_ms in rows]
    _write(folder, [*lines, (_us(seconds + SPARE_S), END)])
    spec: Spec = {"kind": "delay_line", "limit_pkts": DELAY_LINE_PKTS, "delay_us": round(rows[0][1] * 1e3), "seed": 1}
    spec |= {"loss_pct": 0.0, "frame_us": 0, "frame_pkts": 0, "late_us": LATE_LEAST_US}
    gaps_s = np.random.default_rng(1).exponential(PROBE_S, round(seconds / PROBE_S))
    times_ns = (np.cumsum(gaps_s) * 1e9).astype(np.uint64)
    packets = np.column_stack([times_ns, np.full_like(times_ns, PROBE_BYTES)])
    got = crossing.cross(run, folder, spec, packets, seconds + max(ms for _, ms in rows) / 1e3 + LEAD_S, FILE)
    sent_s, received_s = (got.received[name].to_numpy() for name in ("sent_s", "received_s"))
    errors = delay_errors_ms(rows, sent_s, received_s)
    return _common(got, rows, seconds, len(packets)) | {
        "delay_error_ms": errors.tolist(),
        "latest_us": [got.statistics["latest_ns"] / 1e3],
    }


def _common(got: Arrivals, rows: list[Row], seconds: float, due: int) -> Figures:
    """Return what every replay reports; `due`: how many of the first packets must have arrived."""
    return {
        "seconds": round(seconds, 3),
        "steps": len(rows),
        "packets": got.packets.height,
        "lost_pkts": got.packets["received_s"].head(max(due, 0)).null_count(),
        "reordered_pkts": got.reordered_pkts,
        "kernel": got.record["kernel"].split(" (")[0],
    }


def _write(folder: Path, lines: list[tuple[str, ...]]) -> None:
    (folder / FILE).write_text("".join("\t".join(line) + "\n" for line in lines))


def _us(t_s: float) -> str:
    return f"{t_s * 1e6:.0f}"
