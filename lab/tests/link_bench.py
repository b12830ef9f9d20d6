# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of one link: boot a kernel, send packets at given times over a given qdisc, and see when they arrive."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from lab import virtual
from lab.tests import link_guest
from lab.tests.conftest import Bench

Spec = dict[str, Any]
FULL_BYTES = 1514
MEMORY_MB = 512


@dataclass(frozen=True)
class Arrivals:
    """What came of it: packets with sent_s and received_s since t = 0, and what the qdisc said."""

    packets: pl.DataFrame  # number, sent_s, received_s (null: lost), frame_bytes; in the order of sending
    order: pl.Series  # numbers in the order of arrival
    record: dict[str, Any]

    @property
    def statistics(self) -> dict[str, Any]:
        return next(iter(self.record["statistics"].values()))

    @property
    def received(self) -> pl.DataFrame:
        return self.packets.drop_nulls()


def at_pace(rate_mbps: float, from_s: float, to_s: float, frame_bytes: int = FULL_BYTES) -> np.ndarray:
    """Word packets of one size at a constant rate: rows of (ns, bytes)."""
    step_ns = frame_bytes * 8e3 / rate_mbps
    times = np.arange(from_s * 1e9, to_s * 1e9, step_ns).astype(np.uint64)
    return np.column_stack([times, np.full_like(times, frame_bytes)])


def cross(
    bench: Bench,
    name: str,
    spec: Spec,
    packets: np.ndarray,
    duration_s: float,
    series: Sequence[tuple[int, object]] | None = None,
    delays: Sequence[tuple[int, int, float]] | None = None,
    steps: list[dict[str, Any]] | None = None,
) -> Arrivals:
    """Send packets over a link; `series` feeds a replay qdisc, `delays` and `steps` change one that tc knows."""
    folder = bench.folder / f"link-{name}"
    folder.mkdir()
    (folder / "sent.bin").write_bytes(packets.astype("<u8").tobytes())
    still = [(*step, 0) for step in delays or ()]  # no slots
    for file, rows in (("series.tsv", series), ("delays.tsv", still)):
        (folder / file).write_text("".join("\t".join(map(str, row)) + "\n" for row in rows or ()))
    plan = {"spec": spec, "series": bool(series), "delays": bool(delays), "steps": steps, "duration_s": duration_s}
    called = virtual.call(
        link_guest.cross,
        {"plan": plan},
        folder,
        bench.kernel,
        bench.world.root,
        memory_mb=MEMORY_MB,
        patience_s=round(60 * (2 + duration_s)),
    )
    return _arrivals(folder, packets, called.answer)


def _arrivals(folder: Path, packets: np.ndarray, record: dict[str, Any]) -> Arrivals:
    log = np.fromfile(folder / "received.bin", dtype="<u8").reshape(-1, 3).astype(np.int64)
    got = pl.DataFrame(
        {
            "number": log[:, 0],
            "sent_s": (log[:, 1] - record["start_ns"]) / 1e9,
            "received_s": (log[:, 2] - record["start_ns"]) / 1e9,
        }
    )
    asked = pl.DataFrame({"number": np.arange(len(packets)), "frame_bytes": packets[:, 1].astype(np.int64)})
    return Arrivals(asked.join(got, on="number", how="left").sort("number"), got["number"], record)
