# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m tests.no_ptrace COMMAND...`: run a command that may not trace, as a strict seccomp profile has it."""

import ctypes
import os
import struct
import sys

LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06  # linux/bpf_common.h: LD|W|ABS, JMP|JEQ|K, RET|K
REFUSE, ALLOW = 0x00050001, 0x7FFF0000  # linux/seccomp.h: SECCOMP_RET_ERRNO with EPERM, SECCOMP_RET_ALLOW
PTRACE = 101  # the system call's number on x86-64
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
PROGRAM = ((LOAD, 0, 0, 0), (JUMP_EQUAL, 0, 1, PTRACE), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW))


def forbid_ptrace() -> None:
    """Let every ptrace(2) of this process and its children fail."""
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in PROGRAM))
    header = struct.pack("@HP", len(PROGRAM), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header, 0, 0) == 0


if __name__ == "__main__":
    forbid_ptrace()
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606
