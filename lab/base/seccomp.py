# SPDX-License-Identifier: GPL-2.0-or-later
"""Filters of system calls, by libseccomp: a call that no rule allows does not exist for the process (ENOSYS).

A filter holds for a process and all that it starts, for good. What a virtual kernel's own guests call is not concerned:
their tracer stops such a call before the filter (ptrace(2), PTRACE_SYSEMU), or a trap of the kernel's own filter does,
which goes before a refusal (seccomp(2)).
"""

import ctypes
import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache

LIBRARY = "libseccomp.so.2"
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.ENOSYS  # of seccomp.h
AT_MOST, EQUAL, MASKED = 3, 4, 7
ALL_BITS = 2**64 - 1
OPTIMIZE, BINARY_TREE = 8, 2  # SCMP_FLTATR_CTL_OPTIMIZE, since libseccomp 2.5; else one comparison after another
UNKNOWN = -1  # a call that this library, or this processor, does not have
Condition = tuple[int, int, int, int]  # argument, operator, value, value
Rule = tuple[str, tuple[Condition, ...]]


class Comparison(ctypes.Structure):
    """A condition on one argument of a call: struct scmp_arg_cmp."""

    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


def equal(argument: int, value: int) -> Condition:
    """Return the condition that an argument has a value."""
    return argument, EQUAL, value, 0


def at_most(argument: int, value: int) -> Condition:
    """Return the condition that an argument is from 0 to a value: a negative one is larger than any."""
    return argument, AT_MOST, value, 0


def without(argument: int, bits: int) -> Condition:
    """Return the condition that an argument has none of some bits."""
    return masked(argument, bits, 0)


def masked(argument: int, mask: int, value: int) -> Condition:
    """Return the condition that the bits of a mask have a value."""
    return argument, MASKED, mask & ALL_BITS, value


def calls(names: str, *conditions: Condition) -> "list[Rule]":
    """Return a rule for each name of a text: the call is allowed where each condition holds."""
    return [(name, conditions) for name in names.split()]


@cache
def library() -> ctypes.CDLL:
    """Return libseccomp."""
    loaded = ctypes.CDLL(LIBRARY, use_errno=True)
    loaded.seccomp_init.restype = ctypes.c_void_p
    loaded.seccomp_init.argtypes = [ctypes.c_uint32]
    for name in ("seccomp_load", "seccomp_release"):
        getattr(loaded, name).argtypes = [ctypes.c_void_p]
    loaded.seccomp_export_bpf.argtypes = [ctypes.c_void_p, ctypes.c_int]
    array = ctypes.POINTER(Comparison)
    loaded.seccomp_rule_add_array.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, array]
    return loaded


def missing() -> bool:
    """Return whether this machine lacks the library."""
    try:
        library()
    except OSError:
        return True
    return False


def load(rules: Iterable[Rule]) -> None:
    """Keep this process and its children for good to what the rules allow."""
    with _made(rules) as made:
        _checked(library().seccomp_load(made), "load")


def exported(rules: Iterable[Rule]) -> int:
    """Return an open file that holds a filter as the kernel takes it; it stays open in a program that is started."""
    descriptor = os.memfd_create("filter", 0)
    with _made(rules) as made:
        _checked(library().seccomp_export_bpf(made, descriptor), "export_bpf")
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


@contextmanager
def _made(rules: Iterable[Rule]) -> Iterator[ctypes.c_void_p]:
    """Yield a filter of libseccomp's."""
    context = ctypes.c_void_p(library().seccomp_init(REFUSE))
    try:
        library().seccomp_attr_set(context, OPTIMIZE, BINARY_TREE)
        for call, conditions in rules:
            number = library().seccomp_syscall_resolve_name(call.encode())
            if number == UNKNOWN:
                continue  # then it stays refused
            array = (Comparison * len(conditions))(*(Comparison(*each) for each in conditions))
            added = library().seccomp_rule_add_array(context, ALLOW, number, len(array), array)
            _checked(added, f"rule_add {call}")
        yield context
    finally:
        library().seccomp_release(context)


def _checked(result: int, what: str) -> None:
    if result < 0:
        raise OSError(-result, f"seccomp_{what}: {os.strerror(-result)}")
