# SPDX-License-Identifier: GPL-2.0-or-later
"""dumpcap on one interface: headers only, and a count of what it dropped."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lab.node.net.namespace import entered
from lab.node.system import small_file
from lab.node.system.tools import NodeError, file_of

if TYPE_CHECKING:
    from lab.node.plan import CapturePlan
    from lab.node.record import CaptureCounts

END_S = 30
FLUSH_S = 0.5  # the kernel hands a part-filled block of the ring over after 0.25 s (dumpcap's read timeout)
FINAL = re.compile(r"Packets received/dropped on interface '[^']+': (\d+)/(\d+) ")


@contextmanager
def capturing(plan: "CapturePlan", file: Path, preload: str | None) -> "Iterator[CaptureCounts]":
    """Capture while the block runs; afterwards the counts are dumpcap's."""
    node, dev = plan["interface"]
    counts: CaptureCounts = {"received_pkts": 0, "dropped_pkts": 0}
    log = file.with_suffix(".log")
    options = f"-q -i {dev} -p -s {plan['snaplen_bytes']} -B {plan['ring_mb']} -F pcapng -w"
    argv = ["dumpcap", *options.split(), str(file)]
    environment = os.environ | ({"LD_PRELOAD": preload} if preload else {})
    _make_writable(file)
    with log.open("w") as stream, entered(node):
        process = subprocess.Popen(argv, executable=file_of(argv[0]), stderr=stream, env=environment)
    try:
        _await_start(process, log)
        yield counts
    finally:
        time.sleep(FLUSH_S)  # what a stopped dumpcap has not been handed is lost, and counted nowhere
        early = process.poll() is not None  # its closing count would be whole, too
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
        process.kill()  # one that does not end has no closing count
    counts.update(read_counts(log.read_text()))
    if early:
        raise NodeError("dumpcap: ended before the traffic: must capture all of it")
    log.unlink()


def _make_writable(file: Path) -> None:
    """Make a file that all may write: dumpcap gives up the right to write what is not its own.

    It is made with this mode, since a virtual kernel may not make a file that is there writable for others.
    """
    masked = os.umask(0)
    os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    os.umask(masked)


def read_counts(log: str) -> "CaptureCounts":
    """Find dumpcap's closing count in its output."""
    found = FINAL.search(log)
    if not found:
        raise NodeError(f"dumpcap: no closing count: {log.strip()[-200:]!r}")
    return {"received_pkts": int(found[1]), "dropped_pkts": int(found[2])}


def _await_start(process: subprocess.Popen[bytes], log: Path) -> None:
    """Dumpcap names its file once the interface is open."""
    for _ in range(500):
        if "File:" in small_file.read(log):
            return
        if process.poll() is not None:
            break
        time.sleep(0.01)
    raise NodeError(f"dumpcap: did not start: {log.read_text().strip()[-200:]!r}")
