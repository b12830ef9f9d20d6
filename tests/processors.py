# SPDX-License-Identifier: GPL-2.0-or-later
"""Processors for tests: of several processes with tests, each and what it starts has one, and kernels never meet."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

ALL = sorted(os.sched_getaffinity(0))


def share_out() -> None:
    """Bind a process of pytest-xdist to its own processor."""
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        os.sched_setaffinity(0, {ALL[int(worker.removeprefix("gw")) % len(ALL)]})


@contextmanager
def bound_to(processors: Iterable[int]) -> Iterator[None]:
    """Bind this process and what it starts while the block runs."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
