# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of many scenarios, computed in parallel with one process per core, and joined in the requested order."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import polars as pl

from lab.base.workers import map_in_processes

Work = tuple[Callable[..., pl.DataFrame], tuple[Any, ...]]  # a function of a module, and its arguments


def tables_of(work: Sequence[Work]) -> list[pl.DataFrame]:
    """Return the table of each piece of work, in their order."""
    return map_in_processes(_table, work)


def joined(tables: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Return one table of those that have rows."""
    filled = [table for table in tables if table.height]
    return pl.concat(filled, how="vertical_relaxed") if filled else pl.DataFrame()


def _table(piece: Work) -> pl.DataFrame:
    function, arguments = piece
    return function(*arguments)
