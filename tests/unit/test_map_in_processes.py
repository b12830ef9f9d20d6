# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs in processes: which ones do the work, how many there are, and whose result is whose."""

import multiprocessing
import os
import signal
import time
from contextlib import closing

import pytest

from lab.base import workers
from lab.base.errors import Faults, UserError
from lab.base.workers import each_in_processes, map_in_processes, one_pool


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "processors", lambda: 2)


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
    assert list(each_in_processes(own_pid, range(7), per_process=4)) == [os.getpid()] * 7


def slow_first(number: int) -> int:
    time.sleep(0.3 if number == 0 else 0)
    return number


def test_results_are_in_the_order_of_their_inputs() -> None:
    assert map_in_processes(slow_first, range(6)) == list(range(6))


def test_the_largest_inputs_begin_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "processors", lambda: 1)
    begun: list[int] = []
    map_in_processes(begun.append, [1, 4, 3, 2], size=abs)
    assert begun == [4, 3, 2, 1]


def test_of_a_call_that_is_broken_off_no_result_reaches_the_next_one() -> None:
    with one_pool() as pool:
        with closing(each_in_processes(slow_first, range(-1, 5))) as broken_off:
            assert next(broken_off) == -1
        assert map_in_processes(abs, range(10, 16)) == list(range(10, 16))
        assert len(pool.pids) == 2


def test_two_calls_in_turn_have_each_their_own_results() -> None:
    with one_pool():
        both = zip(each_in_processes(slow_first, range(6)), each_in_processes(abs, range(10, 16)), strict=True)
        assert list(both) == [(number, number + 10) for number in range(6)]


def enlarged(content: bytes) -> bytes:
    return content * 2


def test_inputs_and_results_may_be_larger_than_a_pipe_holds() -> None:
    inputs = [bytes([number]) * 3_000_000 for number in range(6)]
    assert map_in_processes(enlarged, inputs) == [2 * content for content in inputs]


def fails(number: int) -> int:
    if number == 3:
        raise UserError("file: must be whole")
    return number


def test_an_error_is_raised_where_its_result_would_be_and_states_where_it_was_raised() -> None:
    found: list[int] = []
    with pytest.raises(UserError, match="file: must be whole") as raised:
        found.extend(each_in_processes(fails, range(6)))
    assert "in fails" in "".join(raised.value.__notes__)


def fails_twice(_number: int) -> None:
    raise Faults([UserError("file: a must be whole"), UserError("file: b must be whole")])


def test_an_error_of_several_lines_passes_with_each_of_them() -> None:
    with pytest.raises(Faults) as raised:
        map_in_processes(fails_twice, range(4))
    assert str(raised.value) == "file: a must be whole\nfile: b must be whole"
    assert raised.value.lines == ("file: a must be whole", "file: b must be whole")


def dies_elsewhere(here: int) -> int:
    if os.getpid() != here:
        os.kill(os.getpid(), signal.SIGKILL)
    return here


def test_what_no_process_can_do_is_done_where_it_was_called() -> None:
    assert map_in_processes(dies_elsewhere, [os.getpid()] * 4) == [os.getpid()] * 4
