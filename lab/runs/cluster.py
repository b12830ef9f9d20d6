# SPDX-License-Identifier: GPL-2.0-or-later
"""Where trials run: a dask cluster of this machine's cores, brought up and down here, or one that is there already.

A worker is a process with one thread, pinned to a core of its own. Whatever ends the command ends them: they hold on
to it by a pipe and by the kernel's parent-death signal, and an interruption kills them without waiting.
"""

import ctypes
import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import dask
from distributed import Client, LocalCluster, WorkerPlugin

from lab.base.errors import UserError
from lab.base.scratch import scratch_folder

PR_SET_PDEATHSIG = 1
logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what goes wrong is told by the trials, in a line each
ANSWER_S = 10  # a scheduler that is there answers in milliseconds
CLOSE_S = 2
SETTINGS = {
    # What is kept of the past must not grow with the campaign.
    "distributed.admin.low-level-log-length": 100,
    "distributed.worker.daemon": True,
    "distributed.worker.profile.enabled": False,  # a sampler of stacks takes time from the trials
    "distributed.admin.tick.interval": "1s",  # nor must 50 looks a second at the loops of scheduler and workers
    "distributed.worker.memory.target": False,  # nothing of a trial is kept in a worker: no spilling, no pausing
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
}


class Pinned(WorkerPlugin):
    """Gives a local worker its core, and lets it die with the command."""

    name = "search-lab-pinned"

    def __init__(self, parent: int) -> None:
        self.parent = parent

    def setup(self, worker: Any) -> None:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self.parent:
            os._exit(1)  # the command died before this process could ask to die with it
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[int(worker.name) % len(cores)]})


@contextmanager
def local(workers: int) -> Iterator[Client]:
    """Bring up this many workers on this machine while the block runs."""
    with scratch_folder() as folder, dask.config.set(SETTINGS):
        with _deaf():
            cluster = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                local_directory=str(folder),
                silence_logs=logging.CRITICAL,
                env={"POLARS_MAX_THREADS": "1"},
                memory_limit=0,
            )
            client = Client(cluster, set_as_default=False)
        try:
            client.register_plugin(Pinned(os.getpid()))
            yield client
        finally:
            _end(client, cluster)


@contextmanager
def remote(address: str) -> Iterator[Client]:
    """Use a scheduler that is there already while the block runs; its workers stay."""
    try:
        client = Client(address, timeout=ANSWER_S, set_as_default=False)
    except (OSError, ValueError) as error:
        said = str(error).splitlines()[0]
        raise UserError(f"command line: scheduler={address}: must be a dask scheduler that answers: {said}") from None
    try:
        yield client
    finally:
        with suppress(Exception):
            client.close(timeout=CLOSE_S)


def worker_pids(client: Client) -> list[int]:
    """Name the processes of a local cluster's workers."""
    nannies = getattr(client.cluster, "workers", {}).values()
    return [nanny.pid for nanny in nannies if nanny.pid]


def _end(client: Client, cluster: LocalCluster) -> None:
    """Kill the workers: what they have stored is whole, and nothing else of theirs is wanted."""
    for nanny in cluster.workers.values():
        nanny.close_gracefully()
    for pid in worker_pids(client):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    with suppress(Exception):
        client.close(timeout=CLOSE_S)
    with suppress(Exception):
        cluster.close(timeout=CLOSE_S)


@contextmanager
def _deaf() -> Iterator[None]:
    """Threads and processes started here leave Ctrl-C to this thread from their first instruction on."""
    resource_tracker.ensure_running()  # else multiprocessing starts it meanwhile, and lets SIGINT through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def same_files(client: Client, paths: list[Path]) -> None:
    """Refuse workers that do not see the files a trial needs, at the same place."""
    wanted = [str(path) for path in paths]
    for worker, absent in client.run(_absent, wanted).items():
        if absent:
            raise UserError(
                f"worker {worker}: {absent[0]}: must be there too: share results and cache with all workers"
            )


def _absent(wanted: list[str]) -> list[str]:
    return [path for path in wanted if not Path(path).exists()]
