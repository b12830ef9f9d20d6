# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes of a link while a trial runs: due on the absolute clock, through one resident tc."""

import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lab.node import qdisc
from lab.node.tools import NodeError

Step = dict[str, Any]


@contextmanager
def replaying(node: str, dev: str, steps: list[Step], start_ns: int) -> Iterator[list[float]]:
    """Apply steps ({at_s, spec}) while the block runs; the list collects how late each one was, in microseconds."""
    late_us: list[float] = []
    stop = threading.Event()
    tc = subprocess.Popen(["tc", "-n", node, "-b", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    thread = threading.Thread(target=_feed, args=(tc, dev, steps, start_ns, stop, late_us))
    thread.start()
    try:
        yield late_us
    finally:
        stop.set()
        thread.join()
        _, words = tc.communicate()
    if tc.returncode:
        raise NodeError(f"tc -b: {words.strip()}")
    if late_us:
        qdisc.read_back(node, dev, steps[len(late_us) - 1]["spec"])


def _feed(
    tc: subprocess.Popen[str], dev: str, steps: list[Step], start_ns: int, stop: threading.Event, late_us: list[float]
) -> None:
    assert tc.stdin
    for step in steps:
        due_ns = start_ns + round(step["at_s"] * 1e9)
        if stop.wait(max(due_ns - time.monotonic_ns(), 0) / 1e9):
            return
        tc.stdin.write(qdisc.command(dev, step["spec"], "change") + "\n")
        tc.stdin.flush()
        late_us.append((time.monotonic_ns() - due_ns) / 1e3)
