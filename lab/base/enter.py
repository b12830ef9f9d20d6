# SPDX-License-Identifier: GPL-2.0-or-later
"""Become bubblewrap with a filter of system calls, which it installs last, and without the keys of this session.

Run it as   python3 -S -P -m lab.base.enter KIND OPTION...

KIND is one of FILTERS; the options are bubblewrap's.
"""

import ctypes
import os
import signal
import sys

from lab.base import seccomp, system_calls

BUILD, KERNEL, TRAPPING = "build", "kernel", "trapping"
KERNELS = {KERNEL: system_calls.kernel, TRAPPING: system_calls.trapping_kernel}
FILTERS = {BUILD: system_calls.build, **KERNELS}
KEYCTL, JOIN_SESSION_KEYRING = 250, 1  # of x86-64; linux/keyctl.h


def main(kind: str, options: list[str]) -> None:
    """Become bubblewrap."""
    rules = FILTERS[kind]()
    if os.geteuid() == 0:
        rules = system_calls.dropping(rules)
    leave_session()
    usual_signals()
    if kind in KERNELS:
        os.umask(0)  # the guest has its own
    os.execvp("bwrap", ["bwrap", "--seccomp", str(seccomp.exported(rules)), *options])  # noqa: S606


def leave_session() -> None:
    """Join a new, empty session keyring; where the host refuses it (containers do), no key can be reached at all."""
    ctypes.CDLL(None).syscall(KEYCTL, JOIN_SESSION_KEYRING, None)


def usual_signals() -> None:
    """Let a program that this process becomes end by what Python ignores: a file that is too large, a closed pipe."""
    for each in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(each, signal.SIG_DFL)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
