# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths to measure: what to ask, and what a guest needs for it."""

from pathlib import Path

from lab.base.paths import REPO
from tests.command import wait_for

FRAME_BITS = 1514 * 8
IDLE = {"name": "idle", "seconds": 1.0, "down": False, "up": False}
IN_GUEST = {"/live": REPO / "packages/live", "/vm": REPO / "packages/vm"}


def wait_until_listening(port: int) -> None:
    tables = Path("/proc/net/tcp"), Path("/proc/net/tcp6")
    wait_for(lambda: any(f":{port:04X} " in each.read_text() for each in tables), "recorder that listens")
