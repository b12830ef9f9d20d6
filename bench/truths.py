# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares by both truths of every stored scenario, for the page of measurements: `make bench-truths`.

Nothing is run: the stored runs are judged, as `lab evaluate` does for its table `truths`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
from lab_papers.evaluation.write import judge_by_truths

from bench.measured import Figure, show_and_store
from lab.base import paths
from lab.base.errors import UserError
from lab.base.format import number
from lab.judge.registry import LASTING, TRUTH
from lab.judge.summary import CLASSES
from lab.kernel.build import find

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
    """Judge what is stored, and store the shares."""
    kernel = find()
    if kernel is None:
        raise UserError("no kernel is built: lab kernel build")
    table, faults = judge_by_truths(paths.results(), kernel.replay_library)
    if table.is_empty():
        raise UserError(f"{paths.results()}: must hold runs: run lab reproduce first")
    shown = table.filter(~pl.col("replayed") | (pl.col("depends") > 0))
    rows = [figure for row in shown.iter_rows(named=True) for figure in figures(row)]
    for fault in faults:
        print(fault)
    show_and_store("truths", "make bench-truths", rows)


if __name__ == "__main__":
    main()
