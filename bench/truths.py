# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares by both truths of every stored scenario, for the page of measurements: `make bench-truths`.

Nothing is run: the table `truths` of `lab evaluate` is read.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from lab_papers.index.evaluation import evaluation

from bench.measured import Figure, store
from lab.base import paths
from lab.base.errors import UserError
from lab.base.format import number
from lab.judge.registry import LASTING, TRUTH
from lab.judge.summary import CLASSES

COLUMNS = {"lasting: early, chokepoint, late": LASTING, "one round trip: early, chokepoint, late": TRUTH}


def figures(row: Mapping[str, Any]) -> Iterator[Figure]:
    """Give a sender's trials, its shares by both truths, and how many trials depend on the choice."""
    about = f"{row['scenario']}, {row['cca']}" + (" replayed" if row["replayed"] else "")
    yield {"name": f"{about}: trials", "value": row["trials"], "unit": ""}
    for column, truth in COLUMNS.items():
        shares = " / ".join(number(row[f"{truth}_{name}_pct"], 0) for name in CLASSES)
        yield {"name": f"{about}: {column}", "value": shares, "unit": "%"}
    yield {"name": f"{about}: class depends", "value": row["depends"], "unit": "trials"}


def main() -> None:
    """Store the shares of every scenario that has runs."""
    table = evaluation(paths.results(), "truths")
    if table is None or table.is_empty():
        raise UserError(f"{paths.results()}/evaluation/truths.parquet: must be there: run lab reproduce first")
    rows = [figure for row in table.iter_rows(named=True) for figure in figures(row)]
    print(store("truths", "make bench-truths", rows, {"title": "Shares by both truths"}))


if __name__ == "__main__":
    main()
