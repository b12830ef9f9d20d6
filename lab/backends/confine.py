# SPDX-License-Identifier: GPL-2.0-or-later
"""Start a program without rights, which may reach only named files and ends with the process that started it.

Run it as   python3 -S -P -m lab.backends.confine REQUEST

REQUEST is a Request in JSON. What stands here needs no right, so that it works in a container of default settings.
"""

import ctypes
import json
import os
import signal
import struct
import sys
from pathlib import Path
from typing import TypedDict

from lab.base import landlock

PR_SET_PDEATHSIG, PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 23, 24, 38
CAPSET, CAPABILITY_VERSION = 126, 0x20080522  # of x86-64; linux/capability.h
LIBC = ctypes.CDLL(None, use_errno=True)


class Request(TypedDict):
    """What to start, and what it may reach."""

    program: str
    argv: list[str]
    environment: dict[str, str]
    folder: str  # in which it starts
    readable: list[str]
    writable: list[str]
    parent: int  # the process with which it ends


def main(request: Request) -> None:
    """Become the program; every step narrows what it may do."""
    os.chdir(request["folder"])
    _drop_rights()
    landlock.confine(map(Path, request["readable"]), map(Path, request["writable"]))
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != request["parent"]:
        sys.exit("confine: the process that requested this has ended")
    os.execve(request["program"], request["argv"], request["environment"])  # noqa: S606


def _drop_rights() -> None:
    """Give up every capability for good, of root too."""
    LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    number = 0
    while LIBC.prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0:
        LIBC.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)  # refused to who has no right to: then there is none to drop
        number += 1
    if LIBC.syscall(CAPSET, struct.pack("=Ii", CAPABILITY_VERSION, 0), bytes(24)):
        raise OSError(ctypes.get_errno(), "capset")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
