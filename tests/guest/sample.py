# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: functions that answer, fail, break and crash."""

import os
import time
from pathlib import Path
from typing import Any

from lab.node.system.tools import NodeError, run


def looked_around(path: str) -> dict[str, Any]:
    """Report what is visible, and sleep for an hour."""
    run("modprobe", "tcp_cubic_plain")
    begun_s = time.monotonic()
    time.sleep(3600)
    entries = [file.name for file in Path(path).iterdir()]
    return {"uid": os.geteuid(), "hour_s": time.monotonic() - begun_s, "entries": entries}


def failed() -> None:
    raise NodeError("it could not be done")


def broke() -> None:
    raise KeyError("a bug")


def crashed() -> None:
    """End init: the kernel panics."""
    os._exit(3)
