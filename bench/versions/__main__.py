# SPDX-License-Identifier: GPL-2.0-or-later
"""The command: the number of trials, the links, the forms."""

import shlex
import sys
import time
from pathlib import Path
from typing import Annotated

import polars as pl
import typer
from rich.console import Console

from bench import measured
from bench.measured import Figure
from bench.versions import logs as recorded_logs
from bench.versions import trials as run
from bench.versions.compare import CLASSES, by_link, over_links, shown
from bench.versions.forms import FORMS, LINKS
from lab.backends.virtual import Virtual, ensure_built
from lab.base import paths
from lab.base.errors import UserError, field_error
from lab.kernel.recipe import Recipe
from lab.schema.cca import search_versions

BASE = "search2_printed"
LOGGED = {"exit_s": "s", "in_flight_mb": "MB", "one_rtt": "of the window", "lasting": "of the window"}


def measure(
    replayed: Annotated[int, typer.Option(min=0, help="Downloads per link, over which all forms are replayed.")] = 30,
    modules: Annotated[int, typer.Option(min=0, help="Whole trials per link and form.")] = 0,
    links: Annotated[str, typer.Option(help="Profiles, by commas.")] = ",".join(LINKS),
    forms: Annotated[str, typer.Option(help="Forms to replay, by commas.")] = ",".join(FORMS),
    senders: Annotated[str, typer.Option(help="Forms of whole trials, by commas.")] = ",".join(search_versions()),
    base: Annotated[str, typer.Option(help="Form that the others are compared with.")] = BASE,
    logs: Annotated[
        Path | None, typer.Option(help="A folder of recorded logs of ACKs, to replay over as well.")
    ] = None,
) -> None:
    """Run the missing trials, and print and store the tables."""
    try:
        if logs:
            _logs(logs, _known(forms))
        _measure(replayed, modules, links.split(","), _known(forms), _known(senders), _known(base)[0])
    except UserError as error:
        sys.stderr.write(f"bench-versions: {error}\n")
        raise SystemExit(2) from None


def _known(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in FORMS:
            raise field_error("command line", "form", name, f"one of {', '.join(FORMS)}")
    return names


def _measure(replayed: int, modules: int, links: list[str], forms: list[str], senders: list[str], base: str) -> None:
    backend = ensure_built(Recipe())
    folder = paths.results() / "bench" / "versions"
    console = Console(width=230, highlight=False)
    if replayed:
        table = _replayed(replayed, links, sorted({*forms, base}), folder, backend, console)
        _report(table, base, folder, "replayed", console)
    if modules:
        table = _modules(modules, links, sorted({*senders, base}), folder, backend, console)
        _report(table, base, folder, "modules", console)


def _logs(folder: Path, forms: list[str]) -> None:
    table = recorded_logs.rows(folder, forms, ensure_built(Recipe()).kernel.replay_library)
    Console(width=230, highlight=False).print(shown(table, "recorded logs"))
    figures: list[Figure] = [
        {"name": f"{row['log']}, {row['form']}: {name}", "value": row[name], "unit": unit}
        for row in table.to_dicts()
        for name, unit in LOGGED.items()
    ]
    measured.store("versions-logs", f"make bench-versions BENCH='{shlex.join(sys.argv[1:])}'", figures)


def _replayed(
    count: int, links: list[str], forms: list[str], folder: Path, backend: Virtual, console: Console
) -> pl.DataFrame:
    rows: list[run.Row] = []
    for link in links:
        begin_s = time.monotonic()
        wanted = run.jobs(link, run.plain(), count, folder / "plain", backend)
        for job in run.run(wanted, console):
            rows += run.replayed_rows(job.folder, link, forms, backend.kernel.replay_library)
        console.print(f"{link}: {time.monotonic() - begin_s:.0f} s")
    return pl.DataFrame(rows, infer_schema_length=None)


def _modules(
    count: int, links: list[str], forms: list[str], folder: Path, backend: Virtual, console: Console
) -> pl.DataFrame:
    place = folder / backend.kernel.described["modules_digest"]  # another core makes other trials
    rows: list[run.Row] = []
    for link in links:
        begin_s = time.monotonic()
        wanted = run.jobs(link, run.modules(forms), count, place, backend)
        rows += [row for job in run.run(wanted, console) if (row := run.module_row(job.folder, link))]
        console.print(f"{link}: {time.monotonic() - begin_s:.0f} s")
    return pl.DataFrame(rows, infer_schema_length=None)


def _report(rows: pl.DataFrame, base: str, folder: Path, name: str, console: Console) -> None:
    if rows.is_empty():
        raise UserError(f"{name}: must have a valid trial: what failed stands above")
    folder.mkdir(parents=True, exist_ok=True)
    rows.write_csv(folder / f"{name}.csv")
    table = by_link(rows, base)
    table.write_csv(folder / f"{name}-by-link.csv")
    for link in table["link"].unique(maintain_order=True):
        console.print(shown(table.filter(link=link).drop("link"), f"{link}, {name}; compared with {base}"))
    total = over_links(rows, base)
    console.print(shown(total, f"all links, {name}; compared with {base}"))
    details = {"by_link": table.to_dicts()}
    measured.store(
        f"versions-{name}", f"make bench-versions BENCH='{shlex.join(sys.argv[1:])}'", _figures(total), details
    )


def _figures(total: pl.DataFrame) -> list[Figure]:
    return [
        {"name": f"{row['form']}: exits {name}", "value": row[name], "unit": f"of {row['trials']} trials"}
        for row in total.to_dicts()
        for name in (*CLASSES, *(f"{name}_lasting" for name in CLASSES))
        if name in row
    ]


if __name__ == "__main__":
    typer.run(measure)
