# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths to measure: what to ask, and what a guest needs for it."""

import threading
from pathlib import Path

import pytest

from lab.base.paths import REPO

FRAME_BITS = 1514 * 8
IDLE = {"name": "idle", "seconds": 1.0, "down": False, "up": False}
IN_GUEST = {"/live": REPO / "packages/live", "/vm": REPO / "packages/vm"}


def wait_until_listening(port: int) -> None:
    for _ in range(200):
        if f":{port:04X} " in Path("/proc/net/tcp6").read_text() + Path("/proc/net/tcp").read_text():
            return
        threading.Event().wait(0.02)
    pytest.fail("the recorder does not listen")
