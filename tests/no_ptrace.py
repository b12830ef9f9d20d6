# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m tests.no_ptrace COMMAND...`: run a command that may not trace, as a strict seccomp profile has it."""

import errno
import os
import sys

from lab.base import seccomp

if __name__ == "__main__":
    library = seccomp.library()
    context = library.seccomp_init(seccomp.ALLOW)
    refused = 0x00050000 | errno.EPERM  # of seccomp.h
    number = library.seccomp_syscall_resolve_name(b"ptrace")
    assert library.seccomp_rule_add_array(context, refused, number, 0, None) == 0
    assert library.seccomp_load(context) == 0
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606
