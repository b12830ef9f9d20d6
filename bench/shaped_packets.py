# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets over each part of a trial's link, whatever shapes it, compared with the part's series."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench import crossing
from bench.crossing import Arrivals, Run
from bench.replay.accuracy import FRAME_BYTES, RATE, ahead, delay_errors_ms, series, window_errors_pct
from lab.links.draw import DrawnWay, Link
from lab.links.profile import Profile
from lab.links.shapes import qdiscs, write_steps
from lab.links.steps import Steps, rows
from lab.node.plan import Spec

LEAD_S, TICK_S = 0.5, 0.01  # packets are queued so long before the link can carry them: it is never idle
PROBE_S, PROBE_BYTES = 0.002, 100  # on average, at random times: in step with the changes they would miss or hit each
BUFFER_BYTES = 1 << 30
SPARE_S = 0.5


class Accuracy(NamedTuple):
    """How far what packets got was from the series."""

    windows_pct: list[float] = []  # each window of 100 ms, where the rate changes
    excess_pct: list[float] = []  # all bytes
    delays_ms: list[float] = []  # each packet, where the delay or the loss changes
    reordered_pkts: int = 0
    excess_lost_pkts: list[float] = []  # lost packets less those that the loss requests


def measured(run: Run, profile: Profile, link: Link, shaper: str, folder: Path, seconds: float) -> Accuracy:
    """Send packets over every part that follows a series, one after another."""
    found = Accuracy()
    for part, spec, has_steps in qdiscs(profile, link, 1, shaper):
        if not has_steps:
            continue
        own = folder / part
        write_steps(profile, link, _made(own) / "link")
        drawn = link.up if part.endswith("up") else link.down
        file = f"link/{part}.tsv"
        if part.startswith("bottleneck"):
            found = _capacity(found, run, own, _deep(spec), file, drawn, seconds)
        else:
            found = _delay(found, run, own, spec, file, drawn, seconds)
    return found


def _deep(spec: Spec) -> Spec:
    """Return a bottleneck with a FIFO that nothing fills."""
    return spec | {"limit_bytes": BUFFER_BYTES} | ({"child": None} if "child" in spec else {})


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _capacity(
    found: Accuracy, run: Run, folder: Path, spec: Spec, file: str, drawn: DrawnWay, seconds: float
) -> Accuracy:
    """Keep the queue filled, and count what comes in each 100 ms."""
    assert isinstance(drawn.rate_mbps, Steps)
    capacity = series([row for row in rows(drawn.rate_mbps) if row[0] < seconds + LEAD_S], RATE)
    got = crossing.cross(run, folder, spec, ahead(capacity, seconds, LEAD_S, TICK_S), seconds + SPARE_S, file)
    received_s = np.sort(got.received["received_s"].to_numpy())
    within = received_s[received_s <= seconds]
    errors = window_errors_pct(capacity, within, np.full(len(within), float(FRAME_BYTES)), seconds)
    carried = float(capacity.sent_bytes(np.array([seconds]))[0])
    return found._replace(
        windows_pct=[*found.windows_pct, *errors.tolist()],
        excess_pct=[*found.excess_pct, 100 * (len(within) * FRAME_BYTES / carried - 1)],
        reordered_pkts=found.reordered_pkts + got.reordered_pkts,
    )


def _delay(found: Accuracy, run: Run, folder: Path, spec: Spec, file: str, drawn: DrawnWay, seconds: float) -> Accuracy:
    """Send packets at random times, and see how long each takes and which are lost."""
    gaps_s = np.random.default_rng(1).exponential(PROBE_S, round(seconds / PROBE_S))
    times_ns = (np.cumsum(gaps_s) * 1e9).astype(np.uint64)
    packets = np.column_stack([times_ns, np.full_like(times_ns, PROBE_BYTES)])
    delays = [row for row in rows(drawn.delay_ms) if row[0] < seconds + LEAD_S]
    longest_s = float(times_ns[-1]) / 1e9 + max(ms for _, ms in delays) / 1e3
    got = crossing.cross(run, folder, spec, packets, longest_s + SPARE_S, file)
    sent_s, received_s = (got.received[name].to_numpy() for name in ("sent_s", "received_s"))
    return found._replace(
        delays_ms=[*found.delays_ms, *delay_errors_ms(delays, sent_s, received_s).tolist()],
        reordered_pkts=found.reordered_pkts + got.reordered_pkts,
        excess_lost_pkts=[*found.excess_lost_pkts, _excess_lost_pkts(got, times_ns / 1e9, drawn)],
    )


def _excess_lost_pkts(got: Arrivals, sent_s: np.ndarray, drawn: DrawnWay) -> float:
    times, values = (np.array(column) for column in zip(*rows(drawn.loss_pct), strict=True))
    requested_pct = values[np.maximum(np.searchsorted(times, sent_s, side="right") - 1, 0)]
    return got.packets["received_s"].null_count() - float(requested_pct.sum()) / 100
