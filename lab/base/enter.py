# SPDX-License-Identifier: GPL-2.0-or-later
"""Become bubblewrap with a filter of system calls, which it installs last, and without the keys of this session.

Run it as   python3 -S -P -m lab.base.enter KIND OPTION...

KIND is one of FILTERS; the options are bubblewrap's.
"""

import os
import signal
import sys

from lab.base import keyring, seccomp, system_calls

BUILD, KERNEL, TRAPPING = "build", "kernel", "trapping"
KERNELS = {KERNEL: system_calls.kernel, TRAPPING: system_calls.trapping_kernel}
FILTERS = {BUILD: system_calls.build, **KERNELS}


def main(kind: str, options: list[str]) -> None:
    """Become bubblewrap."""
    rules = FILTERS[kind]()
    if os.geteuid() == 0:
        rules = system_calls.dropping(rules)
    keyring.leave_session()
    usual_signals()
    if kind in KERNELS:
        os.umask(0)  # the guest has its own
    os.execvp("bwrap", ["bwrap", "--seccomp", str(seccomp.exported(rules)), *options])  # noqa: S606


def usual_signals() -> None:
    """Let a program that this process becomes end by what Python ignores: a file that is too large, a closed pipe."""
    for each in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(each, signal.SIG_DFL)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
