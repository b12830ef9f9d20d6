# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a program without rights, which may reach only named files; end it, and all that it started, with its starter.

Run it as   python3 -S -P -m lab.backends.confine REQUEST

REQUEST is a Request in JSON. What stands here needs no right, so that it works in a container of default settings.

This process watches, and is not in sight of the program (Landlock keeps signals in). The program's filter of system
calls has no setsid(2) and no setpgid(2), so that all its children stay in its process group: one kill reaches each of
them. Those whose parent has ended become children of this process, which waits for all of them. A second watcher ends
the group where this process is killed.
"""

import ctypes
import json
import os
import signal
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, TypedDict

from lab.base import enter, landlock, seccomp

PR_SET_PDEATHSIG, PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 23, 24, 36, 38
CAPSET, CAPABILITY_VERSION = 126, 0x20080522  # of x86-64; linux/capability.h
LOOK_S = 5  # a signal comes at once
ENDING = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}  # SIGTERM comes when the starter ends, too
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
    calls: str  # of enter.KERNELS


def main(request: Request) -> NoReturn:
    """Start the program, and end as it does."""
    with suppress(PermissionError):  # it leads a session already
        os.setsid()  # no terminal
    enter.leave_session()
    _drop_rights()
    if seccomp.missing():  # loaded here: the program cannot read it
        sys.exit("confine: libseccomp2: not installed")
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, {*ENDING, signal.SIGCHLD})
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != request["parent"]:
        sys.exit("confine: the process that requested this has ended")
    watcher, program = os.getpid(), os.fork()
    if not program:
        _become(request, watcher)
    with suppress(PermissionError):  # it has started, in the group that it made itself
        os.setpgid(program, program)
    second = os.fork()
    if not second:
        _watch_watcher(watcher, program)
    try:
        _wait(program)
    finally:
        os.kill(second, signal.SIGKILL)
        status = _end_all(program)
    os._exit(128 - status if status < 0 else status)


def _become(request: Request, watcher: int) -> NoReturn:
    """Become the program; every step narrows what it may do."""
    try:
        os.setpgid(0, 0)
        os.chdir(request["folder"])
        os.umask(0)  # the guest has its own
        landlock.confine(map(Path, request["readable"]), map(Path, request["writable"]))
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != watcher:
            os._exit(1)
        enter.usual_signals()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {*ENDING, signal.SIGCHLD})
        seccomp.load(enter.KERNELS[request["calls"]](os.getpid()))
        os.execve(request["program"], request["argv"], request["environment"])  # noqa: S606
    except OSError as error:
        print(f"confine: {error}", file=sys.stderr, flush=True)
        os._exit(1)


def _watch_watcher(watcher: int, program: int) -> NoReturn:
    """Wait until the watcher has ended, which kills this process otherwise, and kill the program's group."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    while os.getppid() == watcher:
        signal.sigtimedwait({signal.SIGTERM}, LOOK_S)
    with suppress(ProcessLookupError):
        os.killpg(program, signal.SIGKILL)
    os._exit(0)


def _wait(program: int) -> None:
    """Wait until the program has ended, or this process is told to end."""
    while signal.sigwait({*ENDING, signal.SIGCHLD}) == signal.SIGCHLD:
        if os.waitid(os.P_PID, program, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return


def _end_all(program: int) -> int:
    """Kill the program's group, wait until no child is left, and return the program's exit code."""
    os.killpg(program, signal.SIGKILL)  # the program has not been waited for: the group is still its own
    codes = {}
    with suppress(ChildProcessError):
        while True:
            ended, status = os.waitpid(-1, 0)
            codes[ended] = os.waitstatus_to_exitcode(status)
    return codes[program]


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
