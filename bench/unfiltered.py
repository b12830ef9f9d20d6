# SPDX-License-Identifier: GPL-2.0-or-later
"""Become bubblewrap without a filter of system calls, for bench.filter_cost alone."""

import os
import sys

from lab.base import enter, keyring

if __name__ == "__main__":
    keyring.leave_session()
    enter.usual_signals()
    os.umask(0)
    os.execvp("bwrap", ["bwrap", *sys.argv[2:]])  # noqa: S606
