# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab evaluate` and `lab page`: the tables of all results, and their page."""

import time
from pathlib import Path

import polars as pl
import typer
from rich.console import Console
from rich.table import Table

from lab.base import paths
from lab.base.errors import UserError
from lab.base.workers import one_pool
from lab.commands.lines import say
from lab.commands.prepare import prepare
from lab.kernel.recipe import Recipe
from lab.runs.options import RunOptions
from lab_papers.evaluation.kept import FOLDER, changed_since, newer_runs
from lab_papers.evaluation.search.kernel_checks import run_checks
from lab_papers.evaluation.write import MAPPED, NO_REPLAY, keep, write_all
from lab_papers.fullest import Fullest, first_stored, fullest
from lab_papers.index.unchanged import unchanged
from lab_papers.search_replay import replay_library


def evaluate(console: Console, faults: list[str], with_page: bool = False) -> None:
    """Write all tables and, if requested, their page; print a line per fault, with exit status 1 if there is one."""
    results, library = paths.results(), replay_library()
    with one_pool():  # what it loads takes a worker longer than a table
        known, unread = _write_tables(results, library, console)
        failed = _write_page(results, library, console, known) if with_page else []
    _end([*faults, *unread, *failed], console)


def page(results: Path, console: Console) -> None:
    """Write the page of all results; first the tables that it shows, where a run is newer than they are.

    A notebook that fails is a line, with exit status 1.
    """
    library = replay_library()
    with one_pool():
        known = _write_tables(results, library, console)[0] if newer_runs(results) else None
        failed = _write_page(results, library, console, known)
    _end(failed, console)


def _write_tables(results: Path, library: Path | None, console: Console) -> tuple[Fullest | None, list[str]]:
    """Write all tables; return the runs that they are of, and a line for each that could not be read.

    Where a run has changed meanwhile, the page must read them again.
    """
    say(console, f"evaluating the runs of {results}")
    begun_s = time.time()
    known = fullest(results)
    folder, unread = write_all(results, library, known)
    console.print(f"tables    {folder}", soft_wrap=True, markup=False)
    if not library:
        console.print(NO_REPLAY)
    return None if changed_since(results, begun_s) else known, unread


def _end(faults: list[str], console: Console) -> None:
    for line in faults:
        say(console, line)
    if faults:
        raise typer.Exit(1)


def _write_page(results: Path, library: Path | None, console: Console, known: Fullest | None) -> list[str]:
    """Write the page where something changed; return a line for each notebook that failed."""
    if page := unchanged(results, library):
        console.print(f"page      {page}, as it was: nothing changed", soft_wrap=True, markup=False)
        return []
    say(console, f"writing the page of {results}: the reports of runs that changed, then the notebooks")
    from lab_papers.index.write import write_index  # here: a command that is refused need not load what draws

    failed: list[str] = []
    page = write_index(results, library, failed=failed.append, known=known)
    console.print(f"page      {page}", soft_wrap=True, markup=False)
    return failed


def check_sensitivity(console: Console, options: RunOptions) -> None:
    """Run some points of the sensitivity maps in the kernel, on the links of the first scenario that has a map."""
    backend = prepare(Recipe(), console)
    one = first_stored(paths.results(), MAPPED)
    if one is None:
        raise UserError(f"{paths.results()}: must hold a run of one of {', '.join(MAPPED)}: make reproduce")
    folder = paths.results() / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    table = run_checks(one, folder / "checks", backend, options)
    keep(folder, "sensitivity_checks", table)
    console.print(_checks(table))


def _checks(points: pl.DataFrame) -> Table:
    table = Table(
        "scenario", "window, RTTs", "threshold", "bins", "trial", "replayed, s", "kernel later by, ms", "class"
    )
    for row in points.iter_rows(named=True):
        parameters = (f"{row['window_rtts']:g}", f"{row['threshold']:g}", str(row["bins"]), str(row["trial"]))
        times = (_number(row["replayed_exit_s"], ".3f"), _number(row["difference_ms"], ".3f"))
        same = row["replayed_class"] == row["kernel_class"]
        classes = str(row["kernel_class"]) if same else f"{row['replayed_class']}, in the kernel {row['kernel_class']}"
        table.add_row(row["scenario"], *parameters, *times, classes)
    return table


def _number(value: float | None, form: str) -> str:
    return "" if value is None else f"{value:{form}}"
