# SPDX-License-Identifier: GPL-2.0-or-later
"""Landlock, the kernel's sandbox for processes without any right: only named folders and files stay within reach.

Numbers and structures are those of include/uapi/linux/landlock.h. Each newer ABI of the host's kernel can refuse more.
"""

import ctypes
import os
import struct
from collections.abc import Iterable
from pathlib import Path

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # system calls, the same on every architecture
VERSION = 1  # LANDLOCK_CREATE_RULESET_VERSION
PATH_BENEATH = 1
PR_SET_NO_NEW_PRIVS = 38
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
MAKE_CHAR, MAKE_BLOCK = 1 << 6, 1 << 11
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
FIRST_FILE_RIGHTS = (1 << 13) - 1  # what ABI 1 can refuse
ADDED_FILE_RIGHTS = {2: REFER, 3: TRUNCATE, 5: IOCTL_DEV}  # since which ABI
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV  # the others are rights to a folder
TO_READ = EXECUTE | READ_FILE | READ_DIR
NO_TCP = 0b11  # bind and connect, since ABI 4
NO_SIGNALS = 0b11  # abstract Unix sockets and signals of processes outside, since ABI 6
SIGNALS_SINCE = 6  # ABI; Linux 6.12
LIBC = ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """Return the version of the host's Landlock; 0 where it has none."""
    version: int = LIBC.syscall(CREATE_RULESET, None, 0, VERSION)
    return max(version, 0)


def confine(readable: Iterable[Path], writable: Iterable[Path]) -> bool:
    """Keep this process and its children for good to files below the named paths; return whether the host can.

    No TCP, no signal and no abstract Unix socket reaches beyond them either, where the host's ABI knows that.
    """
    version = abi()
    if not version:
        return False
    handled = FIRST_FILE_RIGHTS | sum(right for since, right in ADDED_FILE_RIGHTS.items() if version >= since)
    no_signals = NO_SIGNALS if version >= SIGNALS_SINCE else 0
    attributes = struct.pack("=QQQ", handled, NO_TCP if version >= 4 else 0, no_signals)
    ruleset = _call(CREATE_RULESET, attributes, len(attributes), 0)
    for path in readable:
        _allow(ruleset, path, TO_READ & handled)
    for path in writable:
        _allow(ruleset, path, handled & ~(MAKE_CHAR | MAKE_BLOCK | EXECUTE))
    if LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs")
    _call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    return True


def _allow(ruleset: int, path: Path, rights: int) -> None:
    opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        beneath = struct.pack("=Qi", rights if path.is_dir() else rights & OF_FILES, opened)
        _call(ADD_RULE, ruleset, PATH_BENEATH, beneath, 0)
    finally:
        os.close(opened)


def _call(number: int, *arguments: int | bytes) -> int:
    result: int = LIBC.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")
    return result
