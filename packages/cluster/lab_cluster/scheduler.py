# SPDX-License-Identifier: GPL-2.0-or-later
"""Workers of a dask scheduler that the user started: only `--scheduler` imports this file.

A few jobs are submitted ahead of the workers, so that nothing grows with the number of trials. dask runs the job of a
lost worker again elsewhere.
"""

import asyncio
import logging
from asyncio import CancelledError
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lab.base.errors import COMMAND_LINE, UserError, field_error

try:
    from distributed import Client, Future, as_completed
    from distributed.comm.core import connect
    from distributed.security import Security
except ModuleNotFoundError:
    raise UserError("--scheduler: dask is not installed: run '.venv/bin/pip install distributed'") from None

logging.getLogger("distributed").setLevel(logging.CRITICAL)  # each trial reports its own errors
SCHEMES = ("tcp://", "tls://")
JOBS_PER_WORKER = 2  # one runs, one waits
REPLY_S = 10  # a scheduler replies in milliseconds
CLOSE_S = 2


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """Connect to a scheduler while the block runs; its workers stay."""
    if not address.startswith(SCHEMES):
        raise field_error(COMMAND_LINE, "scheduler", address, "tcp://HOST:PORT or tls://HOST:PORT")
    try:
        asyncio.run(_reply(address))
        client = Client(address, timeout=REPLY_S, set_as_default=False)
    except Exception as error:  # of dask, of TLS or of the system
        reason = (str(error).splitlines() or [f"no reply in {REPLY_S} s"])[0]
        raise field_error(COMMAND_LINE, "scheduler", address, f"a dask scheduler that replies: {reason}") from None
    try:
        yield client
    finally:
        with suppress(Exception):
            client.close(timeout=CLOSE_S)


async def _reply(address: str) -> None:
    """Wait for a scheduler's first reply: dask's client waits without end for a socket that stays silent."""
    arguments = Security().get_connection_args("client")
    if address.startswith("tls:") and not arguments["ssl_context"]:
        raise ValueError("dask's configuration names no TLS certificates: see docs/cluster.md")
    comm = await asyncio.wait_for(connect(address, timeout=REPLY_S, **arguments), REPLY_S)
    await comm.close()


def require(address: str, results: Path, files: list[Path]) -> None:
    """Refuse a scheduler that does not reply, and workers without the folder of results, or a file."""
    with connected(address) as client:
        results.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".shared-", dir=results) as probe:
            _require_files(client, [Path(probe), *files])


def _require_files(client: Client, files: list[Path]) -> None:
    """Refuse workers that do not have the files of a trial at the same paths."""

    def absent_of(names: list[str]) -> list[str]:  # a worker gets its code: it cannot import this package
        return [name for name in names if not Path(name).exists()]

    for worker, absent in client.run(absent_of, [str(file) for file in files]).items():
        if absent:
            line = f"{absent[0]}: must exist there too: share results and cache with all workers"
            raise UserError(f"worker {worker}: {line}")


def run(address: str, jobs: list[Any], files: list[Path], work: Callable[[Any], Any]) -> Iterator[tuple[Any, Any]]:
    """Yield (job, result of work) as each job ends; the workers must have the files."""
    with connected(address) as client:
        _require_files(client, files)
        yield from run_on(client, jobs, work)


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
