# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab evaluate` and `lab verify`: the tables of all results, and the claims of the papers."""

from collections.abc import Iterator
from typing import Any

import polars as pl
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lab.base import paths
from lab.base.errors import UserError
from lab.commands.prepare import prepare
from lab.evaluation.claims import verdict as verdicts
from lab.evaluation.claims.sentences import short
from lab.evaluation.search.kernel_checks import run_checks
from lab.evaluation.write import FOLDER, MAPPED, keep, write_all
from lab.judge.clock import CLOCKS
from lab.judge.stored import first_stored, without_digests
from lab.kernel.build import find
from lab.kernel.recipe import Recipe
from lab.report.index.write import write_index
from lab.runs.options import RunOptions

STYLES = {
    verdicts.AGREES: "green",
    verdicts.EXPLAINED: "cyan",
    verdicts.PARTLY: "yellow",
    verdicts.UNEXPLAINED: "red",
    verdicts.OPEN: "magenta",
    verdicts.UNJUDGED: "dim",
}
Cells = tuple[str, str, str, str, Text]
WIDTHS_CHARS = (17, 9, 42, 40, 26)  # a name of a value, published, ours, the counterfactual's, the verdict


def evaluate(console: Console, faults: list[str], with_page: bool = False) -> None:
    """Write all tables and, if requested, their page; print a line per fault, with exit status 1 if there is one."""
    kernel = find()
    folder, unread = write_all(paths.results(), kernel.replay_library if kernel else None)
    console.print(f"tables    {folder}", soft_wrap=True, markup=False)
    if not kernel:
        console.print("no SEARCH replay: build the kernel first: lab kernel build")
    if with_page:
        index = write_index(paths.results(), kernel.replay_library if kernel else None)
        console.print(f"page      {index}", soft_wrap=True, markup=False)
    for line in (*without_digests(paths.results()), *faults, *unread):
        console.print(line, soft_wrap=True, markup=False)
    if faults or unread:
        raise typer.Exit(1)


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


def verify(console: Console) -> None:
    """Build the tables and print every claim; a claim that differs is a result, not a failure."""
    kernel = find()
    folder, unread = write_all(paths.results(), kernel.replay_library if kernel else None)
    claims = pl.read_parquet(folder / "claims.parquet")
    _print(claims, console)
    for line in reasons(claims):
        console.print(line, soft_wrap=True, markup=False)
    console.print(counted(claims), soft_wrap=True, markup=False)
    for line in clocks(claims):
        console.print(line, soft_wrap=True, markup=False)
    console.print(f"claims    {folder / 'claims.csv'}", soft_wrap=True, markup=False)
    for line in (*without_digests(paths.results()), *unread):
        console.print(line, soft_wrap=True, markup=False)
    if unread:
        raise typer.Exit(1)


def reasons(claims: pl.DataFrame) -> Iterator[str]:
    """Yield the reason why rows differ, as far as runs show it; rows of one scenario with one reason share a line."""
    differing = claims.filter(~pl.col("verdict").is_in([verdicts.AGREES, verdicts.UNJUDGED]))
    for (verdict, scenario, why), rows in differing.group_by(["verdict", "scenario", "why"], maintain_order=True):
        of = ", ".join(f"{row['row']} {row['metric']}" for row in rows.iter_rows(named=True))
        yield f"{verdict}: {scenario}: {of}: {why}"


def counted(claims: pl.DataFrame) -> str:
    """Count the rows of each verdict."""
    found = dict(claims["verdict"].value_counts().iter_rows())
    return "; ".join(f"{found.get(name, 0)} {words}" for name, words in verdicts.COUNTED.items())


def clocks(claims: pl.DataFrame) -> Iterator[str]:
    """Yield the event from which each source counts its times."""
    timed = claims.filter(pl.col("clock").is_not_null())
    for (clock,), of_clock in timed.group_by(["clock"], maintain_order=True):
        sources = ", ".join(of_clock["document"].unique(maintain_order=True))
        yield f"times count from {CLOCKS[str(clock)]} in: {sources}; in [brackets]: ours from the SYN"


def _print(claims: pl.DataFrame, console: Console) -> None:
    """Print a heading for each row of a source's table, with the sender that ours is measured with, and its values."""
    console.print(_aligned([("", "published", "ours (95 %)", "counterfactual", Text("verdict"))]), style="bold")
    for (*about, form, name), rows in claims.group_by(
        ["document", "place", "row", "form", "scenario"], maintain_order=True
    ):
        heading = f"{', '.join(map(str, about))}: {form} ({name})"
        console.print(heading, style="underline", soft_wrap=True, markup=False, highlight=False)
        console.print(_aligned([_cells(row) for row in rows.iter_rows(named=True)]))


def _cells(row: dict[str, Any]) -> Cells:
    verdict = Text(row["verdict"], style=STYLES[row["verdict"]])
    return row["metric"], f"{row['published']:g}", ours(row), counterfactual(row), verdict


def _aligned(rows: list[Cells]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for width in WIDTHS_CHARS:
        table.add_column(width=width)
    for *cells, verdict in rows:
        table.add_row(*map(Text, cells), verdict)
    return table


def ours(row: dict[str, Any]) -> str:
    """Format our value with its interval and trials on the source's clock, and the value on the SYN's clock."""
    if row["ours"] is None:
        return ""
    from_syn = "" if row["ours_from_syn"] is None else f" [{short(row['ours_from_syn'])}]"
    return f"{interval(row['ours'], row['lo'], row['hi'])} of {row['trials']}{from_syn}"


def counterfactual(row: dict[str, Any]) -> str:
    """Format the counterfactual and its value."""
    if row["counterfactual"] is None:
        return ""
    value = row["counterfactual_value"]
    found = "not run" if value is None else interval(value, row["counterfactual_lo"], row["counterfactual_hi"])
    return f"{row['counterfactual']}: {found}"


def interval(value: float, lo: float | None, hi: float | None) -> str:
    """Format an estimate, with its interval if it has one."""
    return short(value) if lo is None or hi is None else f"{short(value)} ({short(lo)} to {short(hi)})"
