# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: load a module that leaves the kernel under test, and wait."""

import time
from pathlib import Path

from lab.node.system.libc import LIBC
from tests.guest.modules import SYS_FINIT_MODULE


def loaded(file: str, options: str, wait_s: float) -> int:
    """Load a module with its options, wait, and return what the kernel returned."""
    with Path(file).open("rb") as stream:
        result: int = LIBC.syscall(SYS_FINIT_MODULE, stream.fileno(), options.encode(), 0)
    time.sleep(wait_s)
    return result
