# SPDX-License-Identifier: GPL-2.0-or-later
"""Links that follow a series while a trial runs: their qdiscs are fed it ahead of time, in chunks, and keep to it."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.node import beginning
from lab.node.net.netlink import Qdiscs
from lab.node.qdiscs import kinds, qdisc, series
from lab.node.qdiscs.qdisc_kind import NetlinkKind, Spec
from lab.node.qdiscs.qdisc_uapi import chunk
from lab.node.system.task import Task
from lab.node.system.tools import NodeError

if TYPE_CHECKING:
    from lab.node.record import Played

Start = int | Callable[[], int]  # monotonic, ns; or what waits for it
CHUNK_STEPS = 2000  # two of them fit four times into what the kernel holds (SERIES_STEPS)


@contextmanager
def playing(node: str, dev: str, spec: Spec, file: Path, start: Start) -> "Iterator[Played]":
    """Feed a file's series to the qdisc of an interface while the block runs; it begins at `start`.

    The dict is filled with the qdisc's statistics at the end; NodeError where the series ran out within the block.
    """
    stop = threading.Event()
    counted: Played = {}
    kind = kinds.find(spec["kind"])
    assert isinstance(kind, NetlinkKind)
    assert kind.followed
    step, values = kind.followed
    chunks = series.chunks(file, CHUNK_STEPS, values)
    first = next(chunks)
    with Qdiscs(node, dev) as link:

        def send(part: series.Chunk, start_ns: int | None = None) -> None:
            link.change(spec["kind"], chunk(step, part.steps, start_ns, part.end_ns))

        send(first, start if isinstance(start, int) else None)
        task = Task(_feed, first, chunks, send, start, stop)
        try:
            yield counted
        finally:
            stop.set()
            task.join()
            counts: Any = qdisc.statistics(node, dev, spec)[spec["kind"]]
            if counts["start_ns"]:
                counts["start_ns"] -= beginning.origin_ns()
            counted.update(counts)
        task.result()
    if counted["past_end_ns"]:
        why = "its connections opened or closed slowly, as on a link that loses many packets"
        longer_s = counted["past_end_ns"] / 1e9
        raise NodeError(f"{node}:{dev}: {file.name}: must last as long as the trial: {longer_s:.3g} s longer: {why}")
    if counted["underruns"]:
        raise NodeError(f"{node}:{dev}: {file.name}: must be fed before its steps are due: {counted}")


def _feed(
    first: series.Chunk,
    chunks: Iterator[series.Chunk],
    send: Callable[..., None],
    start: Start,
    stop: threading.Event,
) -> None:
    """Keep one chunk ahead: when one begins to play, the next but one is sent; first a start that was waited for."""
    if isinstance(start, int):
        start_ns = start
    else:
        start_ns = start()
        send(series.Chunk([], None), start_ns)
    playing = first
    for following in chunks:
        send(following)
        if stop.wait(max(start_ns + playing.begin_ns - time.monotonic_ns(), 0) / 1e9):
            return
        playing = following
