# SPDX-License-Identifier: GPL-2.0-or-later
"""Many jobs side by side, by workers: the results as they end, or in the order of the inputs.

A job whose worker is lost is done again by a new one. A pool kills its workers when the block that uses it ends.

concurrent.futures.ProcessPoolExecutor does not serve: it gives up all jobs when one worker is lost, it waits for the
running jobs when it is interrupted, and its workers outlive a killed command.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from multiprocessing import connection
from typing import Any, TypeVar

from lab.base.processes import next_processor, processors
from lab.base.scratch import clear_of_workers
from lab.base.worker import Task, Work, Worker, is_worker

MAX_LOSSES = 3  # of workers by one job, before the job counts as failed
KILLED = f"worker: killed {MAX_LOSSES} times during this job: see 'dmesg' for lack of memory"
Given = TypeVar("Given")
Result = TypeVar("Result")


class LostError(Exception):
    """Each worker that had the job was killed."""


class Pool:
    """Workers that run jobs side by side; each stays for the next call, with all that it has imported."""

    def __init__(self) -> None:
        self._idle: list[Worker] = []
        self._taken: list[Worker] = []

    def start(self, count: int, modules: Sequence[str] = ()) -> None:
        """Let so many workers wait for jobs, on one processor after the other; new ones import modules first."""
        self._idle += [Worker(next_processor(), modules) for _ in range(count - len(self._idle))]

    @property
    def pids(self) -> list[int]:
        return [worker.process.pid for worker in (*self._idle, *self._taken) if worker.process.pid]

    def run(self, work: Work, jobs: Sequence[Any], at_once: int) -> Generator[tuple[Any, Any]]:
        """Yield (job, result) as each job ends; the result is an exception if the job failed."""
        waiting = deque(Task(job) for job in jobs)
        own = self._take(min(at_once, len(waiting)))
        try:
            for worker in own:
                worker.submit(work, waiting.popleft())
            while busy := {worker.pipe: worker for worker in own if worker.task}:
                for pipe in connection.wait(list(busy)):
                    worker = busy[pipe]  # type: ignore[index]
                    ended = _ended(worker, waiting)
                    if waiting:
                        worker.submit(work, waiting.popleft())
                    if ended:
                        yield ended
        finally:
            self._give_back(own)

    def kill(self) -> None:
        """End all workers at once."""
        workers = [*self._idle, *self._taken]
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.close()

    def _take(self, count: int) -> list[Worker]:
        self.start(count)
        taken, self._idle = self._idle[:count], self._idle[count:]
        self._taken += taken
        return taken

    def _give_back(self, own: list[Worker]) -> None:
        """Keep those without a job for the next call; the result of another one would be taken for one of that call."""
        for worker in own:
            self._taken.remove(worker)
            if worker.task:
                worker.kill()
                worker.close()
            else:
                self._idle.append(worker)


def _ended(worker: Worker, waiting: deque[Task]) -> tuple[Any, Any] | None:
    """Return a worker's job with its result; null where the worker was lost, and the job waits for a new one."""
    task = worker.task
    assert task
    try:
        return task.job, worker.result()
    except EOFError:
        worker.close()
        worker.start()
    if task.losses + 1 == MAX_LOSSES:
        return task.job, LostError(KILLED)
    waiting.appendleft(Task(task.job, task.losses + 1))
    return None


_of_block: ContextVar[Pool | None] = ContextVar("of_block", default=None)


@contextmanager
def one_pool() -> Iterator[Pool]:
    """Yield the pool of all calls in the block: what a worker has imported for one of them is there for the next."""
    with _pool() as pool:
        token = _of_block.set(pool)
        try:
            yield pool
        finally:
            _of_block.reset(token)


@contextmanager
def _pool() -> Iterator[Pool]:
    """Yield the pool of the block around this call, else one that ends with it."""
    if shared := _of_block.get():
        yield shared
        return
    pool = Pool()
    try:
        yield pool
    finally:
        pool.kill()
        clear_of_workers()


def results_or_lines(work: Work, jobs: Sequence[Any], at_once: int) -> Generator[tuple[Any, Any]]:
    """Yield (job, result) as each job ends; the result is a line of text if the job failed."""
    with _pool() as pool, closing(pool.run(work, jobs, at_once)) as ended:
        for job, result in ended:
            yield job, _line(result) if isinstance(result, Exception) else result


def _line(error: Exception) -> str:
    """Return a fault of the lab's own in a line: it costs this job and no other."""
    first = (str(error).splitlines() or [""])[0]
    return first if isinstance(error, LostError) else f"{type(error).__name__}: {first}"


def map_in_processes(
    function: Callable[[Given], Result], inputs: Sequence[Given], size: Callable[[Given], int] = lambda _input: 0
) -> list[Result]:
    """Return the function's result of each input, in their order; the rest is as in each_in_processes.

    size: of an input. The largest begin first, so that all workers end at about the same time.
    """
    order = sorted(range(len(inputs)), key=lambda place: size(inputs[place]), reverse=True)
    found = dict(zip(order, each_in_processes(function, [inputs[place] for place in order]), strict=True))
    return [found[place] for place in range(len(inputs))]


def each_in_processes(
    function: Callable[[Given], Result], inputs: Sequence[Given], per_process: int = 1
) -> Generator[Result]:
    """Yield the function's result of each input in their order, each as soon as it is there, or raise its error.

    In a worker, or where workers are killed, this process does it. per_process: fewer inputs take fewer workers.
    """
    at_once, done = min(processors(), len(inputs) // per_process), 0
    if at_once > 1 and not is_worker():
        with suppress(LostError), closing(_in_order(function, inputs, at_once)) as found:
            for result in found:
                done += 1
                yield result
    yield from map(function, inputs[done:])


def _in_order(function: Callable[[Given], Result], inputs: Sequence[Given], at_once: int) -> Generator[Result]:
    found: dict[int, Result | Exception] = {}
    work, jobs = partial(_of_numbered, function), list(enumerate(inputs))
    with _pool() as pool, closing(pool.run(work, jobs, at_once)) as ended:
        for wanted in range(len(jobs)):
            while wanted not in found:
                (number, _), found[number] = next(ended)
            result = found.pop(wanted)
            if isinstance(result, Exception):
                raise result
            yield result


def _of_numbered(function: Callable[[Given], Result], numbered: tuple[int, Given]) -> Result:
    _, given = numbered
    return function(given)
