# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes of a kind that tc knows, made by one resident tc when each is due, on the absolute clock.

No trial's link is changed so: tc acts when user space is awakened, and tbf and netem do not take changes well
(tests/kernel/test_qdisc_tbf.py). It is what the lab's own qdiscs are measured against.
"""

import subprocess
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypedDict

from lab.node import qdisc
from lab.node.namespace import LIBC
from lab.node.tools import NodeError

if TYPE_CHECKING:
    from lab.node.plan import Spec

PR_SET_TIMERSLACK = 29


class Step(TypedDict):
    """A change of a qdisc."""

    at_s: float  # since the start
    spec: "Spec"


@contextmanager
def stepping(node: str, dev: str, steps: Iterable[Step], start_ns: int) -> Iterator[list[float]]:
    """Apply steps ({at_s, spec}) while the block runs; the list collects how late each was, in microseconds."""
    late_us: list[float] = []
    stop = threading.Event()
    tc = subprocess.Popen(["tc", "-n", node, "-b", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    thread = threading.Thread(target=_change, args=(tc, dev, steps, start_ns, stop, late_us))
    thread.start()
    try:
        yield late_us
    finally:
        stop.set()
        thread.join()
        _, words = tc.communicate()
    if tc.returncode:
        raise NodeError(f"tc -b: {words.strip()}")


def _change(
    tc: subprocess.Popen[str],
    dev: str,
    steps: Iterable[Step],
    start_ns: int,
    stop: threading.Event,
    late_us: list[float],
) -> None:
    assert tc.stdin
    LIBC.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)  # ns, of this thread: the kernel may wake others 50 us late
    for step in steps:
        due_ns = start_ns + round(step["at_s"] * 1e9)
        if stop.wait(max(due_ns - time.monotonic_ns(), 0) / 1e9):
            return
        try:
            tc.stdin.write(qdisc.command(dev, step["spec"], "change") + "\n")
            tc.stdin.flush()
        except BrokenPipeError:
            return  # tc has refused a line and reports it itself
        late_us.append((time.monotonic_ns() - due_ns) / 1e3)
