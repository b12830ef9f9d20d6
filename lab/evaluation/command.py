# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab evaluate` and `lab verify`: the tables made, and the claims shown."""

import polars as pl
import typer
from rich.console import Console
from rich.table import Table

from lab import paths
from lab.conduct import prepare
from lab.errors import UserError
from lab.evaluation.checks import run_checks
from lab.evaluation.verdict import AGREES, DIFFERS, OPEN
from lab.evaluation.write import FOLDER, MAPPED, write_all
from lab.index.write import write_index
from lab.kernel.build import find
from lab.kernel.recipe import Recipe
from lab.report.stored import first_stored

STYLES = {AGREES: "green", DIFFERS: "red", OPEN: "dim"}


def evaluate(console: Console, faults: list[str], with_page: bool = False) -> None:
    """Write all tables, and the page of them; what could not be read or run is a line each, and exit status 1."""
    kernel = find()
    folder, unread = write_all(paths.results(), kernel.replay_library if kernel else None)
    console.print(f"tables    {folder}", soft_wrap=True, markup=False)
    if not kernel:
        console.print("nothing was replayed: build the kernel first: lab kernel build")
    if with_page:
        made = write_index(paths.results(), kernel.replay_library if kernel else None)
        console.print(f"page      {made}", soft_wrap=True, markup=False)
    for line in (*faults, *unread):
        console.print(line, soft_wrap=True, markup=False)
    if faults or unread:
        raise typer.Exit(1)


def check_sensitivity(console: Console, workers: int) -> None:
    """Run points of the maps for real, on the links of the first scenario that has been mapped."""
    kernel, world = prepare(Recipe(), console)
    one = first_stored(paths.results(), MAPPED)
    if one is None:
        raise UserError(f"{paths.results()}: must hold a run of one of {', '.join(MAPPED)}: make reproduce")
    folder = paths.results() / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    table = run_checks(one, folder / "checks", kernel, world.root, workers)
    table.write_parquet(folder / "sensitivity_checks.parquet", compression="zstd")
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


def verify(console: Console) -> None:
    """Make the tables anew and show every claim; a claim that differs is a result, no failure."""
    kernel = find()
    folder, unread = write_all(paths.results(), kernel.replay_library if kernel else None)
    claims = pl.read_parquet(folder / "claims.parquet")
    console.print(_table(claims))
    counts = {name: claims.filter(pl.col("verdict") == name).height for name in STYLES}
    console.print("; ".join(f"{count} {name}" for name, count in counts.items()))
    console.print(f"claims    {folder / 'claims.csv'}", soft_wrap=True, markup=False)
    for line in unread:
        console.print(line, soft_wrap=True, markup=False)
    if unread:
        raise typer.Exit(1)


def _table(claims: pl.DataFrame) -> Table:
    table = Table("source", "row", "claim", "published", "ours (95 %)", "trials", "verdict")
    for row in claims.iter_rows(named=True):
        verdict = f"[{STYLES[row['verdict']]}]{row['verdict']}[/]"
        source = f"{row['document']}, {row['place']}"
        table.add_row(
            source, row["row"], row["metric"], f"{row['published']:g}", _ours(row), str(row["trials"]), verdict
        )
    return table


def _ours(row: dict[str, float | None]) -> str:
    if row["ours"] is None:
        return ""
    interval = f" ({row['lo']:.3g} to {row['hi']:.3g})" if row["lo"] is not None else ""
    return f"{row['ours']:.3g}{interval}"
