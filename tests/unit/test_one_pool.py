# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes next to each other: which ones do the work, and how many there are."""

import multiprocessing
import os

import pytest

from lab.base import processes
from lab.base.processes import map_in_processes, one_pool


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "processors", lambda: 2)


def own_pid(_number: int) -> int:
    return os.getpid()


def pids_below(number: int) -> list[int]:
    return [os.getpid(), *map_in_processes(own_pid, range(number))]


def started() -> set[int | None]:
    return {process.pid for process in multiprocessing.active_children()}


def test_calls_of_one_block_have_the_same_processes_which_end_with_it() -> None:
    with one_pool():
        map_in_processes(own_pid, range(4))
        first = started()
        map_in_processes(own_pid, range(4))
        assert len(first) == 2
        assert started() == first
    assert not started() & first


def test_a_process_of_a_pool_starts_no_others() -> None:
    for pids in map_in_processes(pids_below, [4, 4]):
        assert len(set(pids)) == 1


def test_too_few_inputs_are_done_where_they_are() -> None:
    assert map_in_processes(own_pid, range(7), per_process=4) == [os.getpid()] * 7
