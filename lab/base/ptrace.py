# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether this machine lets a process trace its children, which User Mode Linux lives by."""

import ctypes
import subprocess
import sys
from functools import cache

PTRACE_TRACEME = 0
ADVICE = "a seccomp profile or yama forbids it: allow it, of a container by docker run --cap-add SYS_PTRACE"


@cache
def allowed() -> bool:
    """Return whether a child may be traced: one tries."""
    return subprocess.run([sys.executable, "-S", "-P", __file__], check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(1 if ctypes.CDLL(None).ptrace(PTRACE_TRACEME, 0, None, None) < 0 else 0)
