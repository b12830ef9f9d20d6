# SPDX-License-Identifier: GPL-2.0-or-later
"""What was noted as packets were sent (sent_core.c) is found by the count of delivered ones."""

import ctypes
from pathlib import Path

import pytest


def noted(library: Path, notes: list[tuple[int, int]], step: int = 1) -> ctypes.Array[ctypes.c_uint32]:
    ring = (ctypes.c_uint32 * (1 + 3 * 1024))()
    for delivered, inflight in notes:
        ctypes.CDLL(str(library)).sent_note(ring, ctypes.c_uint32(delivered % 2**32), 0, inflight, step)
    return ring


def found(library: Path, ring: ctypes.Array[ctypes.c_uint32], delivered: int) -> int:
    class Entry(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint32) for name in ("delivered", "lost", "inflight")]

    find = ctypes.CDLL(str(library)).sent_find
    find.restype = Entry
    return int(find(ring, ctypes.c_uint32(delivered % 2**32)).inflight)


@pytest.mark.parametrize("begin", [0, 2**32 - 500])
def test_the_last_entry_that_is_not_later(cores: Path, begin: int) -> None:
    ring = noted(cores, [(begin + 10 * each, each) for each in range(100)])
    assert [found(cores, ring, begin + at) for at in (0, 9, 10, 555, 990, 2000)] == [
        0, 0, 1, 55, 99, 99,
    ]  # fmt: skip


def test_the_oldest_where_it_was_forgotten_and_steps_make_fewer_entries(cores: Path) -> None:
    ring = noted(cores, [(each, each) for each in range(3000)])
    assert found(cores, ring, 5) == 3000 - 1024
    assert noted(cores, [(each, each) for each in range(100)], step=10)[0] == 10


def test_what_was_sent_since_raises_what_is_in_flight(cores: Path) -> None:
    ring = noted(cores, [(0, 5)])
    for inflight in (9, 7):
        ctypes.CDLL(str(cores)).sent_settle(ring, inflight)
    assert found(cores, ring, 0) == 9
