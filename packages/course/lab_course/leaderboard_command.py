# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab course leaderboard`: run every submission over the hidden links, and rank them."""

import os
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console

from lab.base.errors import COMMAND_LINE, field_error
from lab.base.plain_file import write_whole
from lab.base.processes import processors
from lab.base.workers import results_or_lines
from lab.commands.prepare import prepare
from lab.kernel.recipe import Recipe
from lab_course import leaderboard
from lab_course.assignment import find_assignment
from lab_course.bench import Bench
from lab_course.grade import require_kept_apart
from lab_course.leaderboard import Entry, Result
from lab_course.seeds import read_key

TRIALS, DURATION_S = 4, 5
TABLE = "leaderboard.csv"


def rank(
    name: str, submissions: Sequence[Path], key_file: Path, out: Path | None, jobs: int | None, console: Console
) -> None:
    """Print the board, and write it where a folder is given; exit status 1 where a submission has no place."""
    _require_once(submissions)
    assignment, key = find_assignment(name), read_key(key_file)
    require_kept_apart(assignment, key)
    leaderboard.hidden_links(assignment)
    leaderboard.sender_file(assignment)
    if out:
        out.mkdir(parents=True, exist_ok=True)
    bench = Bench.on(prepare(Recipe(), console))
    entries = [Entry(path, assignment.folder, bench, key, TRIALS, DURATION_S) for path in submissions]
    found: list[Result] = []
    paths: list[Path] = []
    for entry, result in results_or_lines(leaderboard.run_entry, entries, processors() if jobs is None else jobs):
        found.append(
            result if isinstance(result, Result) else Result(leaderboard.own_name(entry.path), fault=str(result))
        )
        paths.append(entry.path)
    found = leaderboard.distinct(found, paths)
    ranked = [each for each in found if not each.fault]
    faults = [each for each in found if each.fault]
    rows = leaderboard.board(ranked, leaderboard.run_reference(entries[0])) if ranked else []
    console.print("\n".join(leaderboard.lines(rows, faults)), soft_wrap=True, markup=False)
    if out:
        write_whole(out / TABLE, leaderboard.table(rows, faults))
    if faults:
        raise typer.Exit(1)


def _require_once(submissions: Sequence[Path]) -> None:
    """Refuse a submission that is given twice: it would be ranked against itself."""
    known: set[str] = set()
    for path in submissions:
        if (real := os.path.realpath(path)) in known:
            raise field_error(COMMAND_LINE, "submissions", path, "given once")
        known.add(real)
