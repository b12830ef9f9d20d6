# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of many scenarios, computed in parallel with one process per core, and joined in the requested order."""

import multiprocessing
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import polars as pl

Work = tuple[Callable[..., pl.DataFrame], tuple[Any, ...]]  # a function of a module, and its arguments


def side_by_side(work: Sequence[Work]) -> list[pl.DataFrame]:
    """Return what each piece of work gives, in their order."""
    processes = min(len(os.sched_getaffinity(0)), len(work))
    if processes < 2:
        return [_done(piece) for piece in work]
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(processes, context) as pool:
            return list(pool.map(_done, work))
    except BrokenProcessPool:  # a worker was killed, or cannot be started from where this was called
        return [_done(piece) for piece in work]


def together(tables: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Return one table of those that have rows."""
    filled = [table for table in tables if table.height]
    return pl.concat(filled, how="vertical_relaxed") if filled else pl.DataFrame()


def _done(piece: Work) -> pl.DataFrame:
    function, arguments = piece
    return function(*arguments)
