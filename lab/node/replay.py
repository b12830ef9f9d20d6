# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes of a link while a trial runs, due on the absolute clock.

What netem and its kind become is told by one resident tc. A `replay` qdisc is fed its series ahead of time, in chunks.
"""

import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.node import qdisc, series
from lab.node.namespace import LIBC
from lab.node.netlink import Qdiscs
from lab.node.qdiscs.kind import Spec
from lab.node.qdiscs.replay import chunk
from lab.node.tools import NodeError

Step = dict[str, Any]
PR_SET_TIMERSLACK = 29
CHUNK_STEPS = 2000  # two of them fit four times into what the kernel holds (REPLAY_STEPS)


@contextmanager
def replaying(node: str, dev: str, steps: Iterable[Step], start_ns: int) -> Iterator[list[float]]:
    """Apply steps ({at_s, spec}) while the block runs.

    The list collects how late each one was, in microseconds; of a series with many in a second, the worst in it.
    """
    late = _Lateness()
    stop = threading.Event()
    tc = subprocess.Popen(["tc", "-n", node, "-b", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    thread = _Thread(lambda: _change(tc, dev, steps, start_ns, stop, late))
    try:
        yield late.worst_us
    finally:
        stop.set()
        thread.join()
        _, words = tc.communicate()
    if tc.returncode:
        raise NodeError(f"tc -b: {words.strip()}")
    thread.raise_failure()
    if late.spec:
        qdisc.read_back(node, dev, late.spec)


def delay_steps(file: Path, spec: Spec) -> Iterator[Step]:
    """Word the steps of a file over a netem spec that holds all the rest."""
    for t_us, changed in series.delays(file):
        yield {"at_s": t_us / 1e6, "spec": spec | changed}


@contextmanager
def playing(node: str, dev: str, spec: Spec, file: Path, start_ns: int) -> Iterator[dict[str, Any]]:
    """Feed a file's series to the `replay` qdisc of an interface while the block runs; it begins at start_ns.

    The dict is filled with the qdisc's statistics at the end; NodeError where the series ran out within the block.
    """
    stop, counted = threading.Event(), dict[str, Any]()
    with Qdiscs(node, dev) as link:
        chunks = series.chunks(file, CHUNK_STEPS)
        first = next(chunks)
        link.change("replay", chunk(first.steps, start_ns, first.end_ns))
        thread = _Thread(lambda: _feed(link, first, chunks, start_ns, stop))
        try:
            yield counted
        finally:
            stop.set()
            thread.join()
            counted.update(qdisc.statistics(node, dev, spec)["replay"])
        thread.raise_failure()
    if counted["underruns"] or counted["past_end_ns"]:
        raise NodeError(f"{node}:{dev}: {file.name}: must last as long as the trial: {counted}")


class _Lateness:
    """The worst of every second, so that the log of a day is small; and what was applied last."""

    def __init__(self) -> None:
        self.worst_us: list[float] = []
        self.spec: Spec | None = None
        self.second: int | None = None

    def add(self, step: Step, late_us: float) -> None:
        if int(step["at_s"]) != self.second:
            self.second = int(step["at_s"])
            self.worst_us.append(late_us)
        self.worst_us[-1] = max(self.worst_us[-1], late_us)
        self.spec = step["spec"]


class _Thread(threading.Thread):
    """A thread that runs from its construction on, and keeps the node's error that ended it."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__()
        self.work = work
        self.failure: NodeError | None = None
        self.start()

    def run(self) -> None:
        try:
            self.work()
        except NodeError as error:
            self.failure = error

    def raise_failure(self) -> None:
        if self.failure:
            raise self.failure


def _wait(stop: threading.Event, due_ns: int) -> bool:
    """Wait for an instant; true where the block ended before."""
    return stop.wait(max(due_ns - time.monotonic_ns(), 0) / 1e9)


def _change(
    tc: subprocess.Popen[str], dev: str, steps: Iterable[Step], start_ns: int, stop: threading.Event, late: _Lateness
) -> None:
    assert tc.stdin
    LIBC.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)  # ns, of this thread: the kernel may wake others 50 us late
    for step in steps:
        due_ns = start_ns + round(step["at_s"] * 1e9)
        if _wait(stop, due_ns):
            return
        try:
            tc.stdin.write(qdisc.command(dev, step["spec"], "change") + "\n")
            tc.stdin.flush()
        except BrokenPipeError:
            return  # tc has refused a line and says so itself
        late.add(step, (time.monotonic_ns() - due_ns) / 1e3)


def _feed(
    link: Qdiscs, first: series.Chunk, chunks: Iterator[series.Chunk], start_ns: int, stop: threading.Event
) -> None:
    """Keep one chunk ahead: when one begins to play, the next but one is told."""
    playing = first
    for following in chunks:
        link.change("replay", chunk(following.steps, end_ns=following.end_ns))
        if _wait(stop, start_ns + playing.begin_ns):
            return
        playing = following
