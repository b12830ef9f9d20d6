# SPDX-License-Identifier: GPL-2.0-or-later
"""Workers of a dask scheduler that the user started: only `--scheduler` imports this file.

A few jobs are submitted ahead of the workers, so that nothing grows with the number of trials. dask runs the job of a
lost worker again elsewhere.
"""

import logging
from asyncio import CancelledError
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lab.base.errors import UserError

try:
    from distributed import Client, Future, as_completed
except ModuleNotFoundError:
    raise UserError("--scheduler: dask is not installed: run '.venv/bin/pip install distributed'") from None

logging.getLogger("distributed").setLevel(logging.CRITICAL)  # each trial reports its own errors
JOBS_PER_WORKER = 2  # one runs, one waits
REPLY_S = 10  # a scheduler replies in milliseconds
CLOSE_S = 2


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """Connect to a scheduler while the block runs; its workers stay."""
    try:
        client = Client(address, timeout=REPLY_S, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"command line: scheduler={address}: must be a dask scheduler that replies: {reason}") from None
    try:
        yield client
    finally:
        with suppress(Exception):
            client.close(timeout=CLOSE_S)


def require_files(client: Client, files: list[Path]) -> None:
    """Refuse workers that do not have the files of a trial at the same paths."""
    for worker, absent in client.run(_absent, [str(file) for file in files]).items():
        if absent:
            raise UserError(
                f"worker {worker}: {absent[0]}: must exist there too: share results and cache with all workers"
            )


def _absent(files: list[str]) -> list[str]:
    return [file for file in files if not Path(file).exists()]


def run_on(client: Client, jobs: list[Any], work: Callable[[Any], Any]) -> Iterator[tuple[Any, Any]]:
    """Yield (job, result of work) as each job ends; UserError if the connection to the scheduler is lost."""
    address = client.scheduler.address if client.scheduler else "?"
    try:
        yield from _as_they_end(client, jobs, work)
    except (OSError, CancelledError, futures.CancelledError):  # any call may be the first that fails
        reason = "connection lost: the trials stored so far are whole; go on with --resume"
        raise UserError(f"scheduler {address}: {reason}") from None


def _as_they_end(client: Client, jobs: list[Any], work: Callable[[Any], Any]) -> Iterator[tuple[Any, Any]]:
    waiting = iter(jobs)
    running: dict[Any, Any] = {}

    def submit_more() -> Iterator["Future[Any]"]:
        for job in waiting:
            future = client.submit(work, job, pure=False)
            running[future.key] = job
            yield future
            if len(running) >= JOBS_PER_WORKER * max(len(client.nthreads()), 1):
                return

    ended = as_completed(list(submit_more()), loop=client.loop)
    for future in ended:
        job = running.pop(future.key)
        yield job, _result(future)
        del future  # otherwise the scheduler keeps its result
        for new in submit_more():
            ended.add(new)


def _result(future: "Future[Any]") -> Any:
    """Return a job's result; a job raises nothing, so that an error comes from the cluster."""
    if future.status == "error":
        return f"cluster: {str(future.exception()).splitlines()[0]}"
    return future.result(timeout=REPLY_S)
