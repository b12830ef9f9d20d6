# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes of a kind that tc knows, made by one resident tc when each is due, on the absolute clock.

tc acts when user space is awakened, and tbf and netem do not take changes well (tests/kernel/test_qdisc_tbf.py): no
trial's link is changed so, but those of `--shaper netem` (lab/node/qdiscs/tc_alone.py).
"""

import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypedDict

from lab.node.qdiscs import qdisc
from lab.node.qdiscs.qdisc import ROOT, QdiscPlace
from lab.node.system.punctual import punctual_thread
from lab.node.system.task import Task
from lab.node.system.tools import NodeError

if TYPE_CHECKING:
    from lab.node.plan import Spec


class Step(TypedDict):
    """A change of a qdisc."""

    at_s: float  # since the start
    spec: "Spec"


@contextmanager
def stepping(
    node: str,
    dev: str,
    steps: Iterable[Step],
    start_ns: int,
    place: QdiscPlace = ROOT,
    before: "Callable[[Spec], None]" = lambda _spec: None,
) -> Iterator[list[float]]:
    """Apply steps ({at_s, spec}) while the block runs; the list collects how late each was, in microseconds.

    `before` is called with each spec right before it is applied. tc ends at the first line that it refuses: with -force
    it would go on, and fill the pipe of its errors where the interface is gone.
    """
    late_us: list[float] = []
    stop = threading.Event()
    tc = subprocess.Popen(["tc", "-n", node, "-b", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = ((step["at_s"], step["spec"], qdisc.command(dev, step["spec"], "change", place)) for step in steps)
    task = Task(_change, tc, lines, before, start_ns, stop, late_us)
    try:
        yield late_us
    finally:
        stop.set()
        task.join()
        _, printed = tc.communicate()
    task.result()
    if tc.returncode:
        raise NodeError(f"{node}:{dev}: tc: {' '.join(printed.split())}")


def _change(
    tc: subprocess.Popen[str],
    lines: "Iterable[tuple[float, Spec, str]]",
    before: "Callable[[Spec], None]",
    start_ns: int,
    stop: threading.Event,
    late_us: list[float],
) -> None:
    assert tc.stdin
    punctual_thread()
    for at_s, spec, line in lines:
        due_ns = start_ns + round(at_s * 1e9)
        if stop.wait(max(due_ns - time.monotonic_ns(), 0) / 1e9):
            return
        before(spec)
        try:
            tc.stdin.write(f"{line}\n")
            tc.stdin.flush()
        except BrokenPipeError:
            return  # tc has refused a line and reports it itself
        late_us.append((time.monotonic_ns() - due_ns) / 1e3)
