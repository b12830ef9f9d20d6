# SPDX-License-Identifier: GPL-2.0-or-later
"""What the running kernel logs while a trial runs on a real machine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KMSG = Path("/dev/kmsg")  # Documentation/ABI/testing/dev-kmsg
RECORD_BYTES = 8192
FILE = "kernel.log"


@contextmanager
def logged(folder: Path) -> Iterator[None]:
    """Write what the kernel logs during the block into a folder; a kernel without /dev/kmsg leaves nothing."""
    try:
        log = os.open(KMSG, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        yield
        return
    try:
        os.lseek(log, 0, os.SEEK_END)
        yield
    finally:
        (folder / FILE).write_text("".join(f"{line}\n" for line in _lines(log)))
        os.close(log)


def _lines(log: int) -> Iterator[str]:
    """Yield the message of each record: what stands behind `priority,number,time_us,flags;`."""
    while True:
        try:
            record = os.read(log, RECORD_BYTES)
        except BlockingIOError:
            return
        except BrokenPipeError:  # the buffer has been written over: the next read goes on with the oldest record
            continue
        head, _, message = record.decode(errors="replace").partition(";")
        time_us = int(head.split(",")[2])
        yield f"[{time_us / 1e6:12.6f}] {message.splitlines()[0] if message else ''}"
