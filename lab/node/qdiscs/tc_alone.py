# SPDX-License-Identifier: GPL-2.0-or-later
"""Links that follow a series by tc alone: tbf and netem, changed when each step is due (`--shaper netem`).

Only a plan that needs this file imports it.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lab.node.qdiscs import qdisc, series
from lab.node.qdiscs.qdisc import ROOT, QdiscPlace
from lab.node.qdiscs.qdisc_counts import CountedQdiscs
from lab.node.qdiscs.series import WHOLE, Line
from lab.node.qdiscs.stepping import Step, stepping
from lab.node.system.tools import NodeError

if TYPE_CHECKING:
    from lab.node.plan import Spec
    from lab.node.record import Played

MODULES = ("sch_netem", "sch_tbf")
CHUNK_STEPS = 2000
FLOOR_BPS = 8000  # tbf has no rate of 0, and its timer runs as long as a frame takes, here 1.5 s, though the stall ends


@contextmanager
def playing(
    node: str, dev: str, spec: "Spec", file: Path, start_ns: int, place: QdiscPlace = ROOT
) -> "Iterator[Played]":
    """Let the qdisc of an interface follow a file's series while the block runs; it begins at start_ns.

    The dict is filled at the end; NodeError where the kernel then has not what the last change stated, or where the
    series ran out within the block.
    """
    followed = Followed(file, spec)
    counted: Played = {}
    with CountedQdiscs(node, dev) as link:
        losses = Losses(link, spec)
        with stepping(node, dev, followed.steps(), start_ns, place, losses.changed) as late_us:
            yield counted
        qdisc.require_stated(node, dev, losses.spec, place)
        losses.changed(losses.spec)
        counted.update(_lateness(late_us))
        if losses.sum:
            counted.update({"loss_sum": losses.sum, "lost_pkts": losses.lost_pkts})
    if followed.end_ns is not None and time.monotonic_ns() > start_ns + followed.end_ns:
        raise NodeError(f"{node}:{dev}: {file.name}: must last as long as the trial")


class Followed:
    """A file's series (series.py) as changes of a spec; its end is known once the last chunk is read."""

    def __init__(self, file: Path, spec: "Spec") -> None:
        self.file, self.spec = file, spec
        self.end_ns: int | None = None

    def steps(self) -> Iterator[Step]:
        """Yield each change, with the whole spec; at each tbf fills its bucket, so one that changes nothing is none."""
        values, stated = FOLLOWED[self.spec["kind"]]
        last: tuple[int, ...] = ()
        for chunk in series.chunks(self.file, CHUNK_STEPS, values):
            self.end_ns = chunk.end_ns
            for at_ns, *new in chunk.steps:
                if (now := tuple(new)) != last:
                    yield {"at_s": at_ns / 1e9, "spec": self.spec | stated(now)}
                last = now


FOLLOWED: "dict[str, tuple[Callable[[Line], tuple[int, ...]], Callable[[tuple[int, ...]], Spec]]]" = {
    "tbf": (series.capacity, lambda values: {"rate_bps": max(values[0], FLOOR_BPS)}),
    "netem": (
        series.delay,
        lambda values: {"delay_us": values[0], "loss_pct": float(f"{100 * values[1] / WHOLE:.6g}")},
    ),
}


class Losses:
    """The loss shares that packets met at netem: what arrived between two changes, times the share between them."""

    def __init__(self, link: CountedQdiscs, spec: "Spec") -> None:
        self.link, self.spec = link, spec
        self.sum = self.lost_pkts = self._arrived_pkts = 0

    def changed(self, spec: "Spec") -> None:
        """Add up what arrived so far, before a spec takes the place of the one that was there."""
        if share := self.spec.get("loss_pct") or spec.get("loss_pct"):
            share = series.share(self.spec["loss_pct"])
            counts = self.link.counts()
            self.sum += (counts.arrived_pkts - self._arrived_pkts) * share
            self.lost_pkts, self._arrived_pkts = counts.dropped_pkts, counts.arrived_pkts
        self.spec = spec


def _lateness(late_us: list[float]) -> "Played":
    ranked = sorted(late_us) or [0.0]
    p99, latest = (round(1e3 * ranked[round(share * (len(ranked) - 1))]) for share in (0.99, 1.0))
    return {"changes": len(late_us), "late_p99_ns": p99, "late_max_ns": latest}
