# SPDX-License-Identifier: GPL-2.0-or-later
"""Rank submissions over the hidden links of an assignment: all on the same draws, by the tests of `lab compare`.

A place is one more than the number of submissions that are better and have separated (Holm over all pairs). Submissions
of one place are ties; the table has them by their exits at the chokepoint, then by the mean.
"""

import csv
import io
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

import typer
from lab_compare.ranks import pairs, places
from rich.console import Console

from lab.base.errors import COMMAND_LINE, UserError, field_error
from lab.base.plain_file import write_whole
from lab.base.plain_text import escaped
from lab.base.processes import processors
from lab.base.stats import Paired, paired
from lab.base.workers import results_or_lines
from lab.commands.prepare import prepare
from lab.evaluation.sequential import looks
from lab.kernel.recipe import Recipe
from lab.tables.csv_text import plain_cell
from lab_course.assignment import HIDDEN_PART, LINKS, TEACHER, Assignment, find_assignment, load_assignment
from lab_course.bench import Bench
from lab_course.compared import at_chokepoint, object_s
from lab_course.grade import require_kept_apart
from lab_course.seeds import hidden_seed, read_key
from lab_course.submission import Submission, open_submission, own_name
from lab_course.work import Download, Work

EVERYBODY = "leaderboard"  # all submissions run on the draws of this seed
SIZE_BYTES = 2_000_000
REFERENCE = "cubic"
COLUMNS = ("place", "student", "object_s", "chokepoint_pct", "against_cubic_s", "lo_s", "hi_s", "pairs", "note")
TRIALS, DURATION_S = 4, 5
TABLE = "leaderboard.csv"


@dataclass(frozen=True)
class Entry:
    """One submission to rank; picklable, since another process runs it."""

    path: Path
    assignment: Path
    bench: Bench
    key: bytes
    trials: int
    duration_s: int


@dataclass(frozen=True)
class Result:
    """The values of one sender, by link and trial; `fault` where a trial has no result, `note` what was not read."""

    name: str
    object_s: Mapping[str, Sequence[float]] = field(default_factory=dict)
    chokepoint: Mapping[str, Sequence[float]] = field(default_factory=dict)
    fault: str = ""
    note: str = ""


@dataclass(frozen=True)
class Place:
    """One row of the board."""

    place: int
    name: str
    mean_s: float
    chokepoint_pct: float
    against: Paired  # own minus the reference, over all links and trials
    note: str


def hidden_links(assignment: Assignment) -> list[str]:
    """Return the hidden links of an assignment; UserError where it has none."""
    names = sorted(file.stem for file in (assignment.folder / TEACHER / LINKS).glob("*.yml"))
    if not names:
        raise field_error(COMMAND_LINE, "assignment", assignment.name, f"one with {TEACHER}/{LINKS}/*.yml")
    return names


def sender_file(assignment: Assignment) -> str:
    """Return the C file that students hand in; UserError where there is none to rank."""
    names = [each.file for each in assignment.content.hand_in if each.file.endswith(".c") and each.required]
    if not names:
        raise field_error(COMMAND_LINE, "assignment", assignment.name, "one whose students hand in a module (.c)")
    return names[0]


def run_entry(entry: Entry) -> Result:
    """Run one submission over every hidden link; a fault costs its own row."""
    assignment = load_assignment(entry.assignment)
    try:
        submission = open_submission(entry.path, assignment)
        work = Work(assignment, submission, entry.bench, HIDDEN_PART, entry.key)
        found = _measured(submission.student, work, sender_file(assignment), entry)
    except UserError as error:
        return Result(own_name(entry.path), fault=str(error))
    return replace(found, note="; ".join(submission.faults))


def distinct(found: Sequence[Result], paths: Sequence[Path]) -> list[Result]:
    """Name a student's submissions by their files, too, where a student has several; by whole paths if those are alike.

    A name stands for one submission: its place follows from the values of that name.
    """
    whole = [
        (each.name, f"{each.name} ({own_name(path)})", f"{each.name} ({escaped(str(path))})")
        for each, path in zip(found, paths, strict=True)
    ]
    count = Counter(name for names in whole for name in names[:2])
    return [
        replace(each, name=next((name for name in names[:2] if count[name] == 1), names[2]))
        for each, names in zip(found, whole, strict=True)
    ]


def run_reference(entry: Entry) -> Result:
    """Run the lab's sender over the same draws; nothing of a submission is read."""
    assignment = load_assignment(entry.assignment)
    nothing = Submission(entry.path, REFERENCE, {})
    return _measured(REFERENCE, Work(assignment, nothing, entry.bench, HIDDEN_PART, entry.key), REFERENCE, entry)


def _measured(name: str, work: Work, sender: str, entry: Entry) -> Result:
    times: dict[str, list[float]] = {}
    chokepoint: dict[str, list[float]] = {}
    for link in hidden_links(work.assignment):
        seeds = [hidden_seed(entry.key, work.assignment.name, EVERYBODY, number) for number in range(entry.trials)]
        ran = [work.run(sender, link, seed, Download(entry.duration_s)) for seed in seeds]
        times[link] = [float(object_s(SIZE_BYTES)(each) or entry.duration_s) for each in ran]
        chokepoint[link] = [at_chokepoint(each) for each in ran]
    return Result(name, times, chokepoint)


def board(found: Sequence[Result], reference: Result) -> list[Place]:
    """Rank submissions by the time of an object in each trial, as a share of the reference's; the fastest first."""
    usual = _flat(reference.object_s)
    relative = {each.name: [a / b for a, b in zip(_flat(each.object_s), usual, strict=True)] for each in found}
    tested = pairs(relative, looks(len(usual), max(len(found) * (len(found) - 1) // 2, 1)), False)
    ranked = places(list(relative), tested, more_is_better=False)
    rows = [_place(each, ranked[each.name].best, usual) for each in found]
    order = {name: fmean(values) for name, values in relative.items()}
    return sorted(rows, key=lambda row: (row.place, -row.chokepoint_pct, order[row.name], row.name))


def _place(result: Result, rank: int, usual: Sequence[float]) -> Place:
    own, hits = _flat(result.object_s), _flat(result.chokepoint)
    return Place(rank, result.name, fmean(own), 100 * fmean(hits), paired(own, usual), result.note)


def _flat(by_link: Mapping[str, Sequence[float]]) -> list[float]:
    return [value for link in sorted(by_link) for value in by_link[link]]


def table(rows: Sequence[Place], faults: Sequence[Result]) -> str:
    """Return leaderboard.csv."""
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        against = row.against
        numbers = (row.mean_s, row.chokepoint_pct, against.difference, against.lo, against.hi)
        writer.writerow([row.place, plain_cell(row.name), *map(_number, numbers), against.pairs, plain_cell(row.note)])
    for each in faults:
        writer.writerow(["", plain_cell(each.name), "", "", "", "", "", "", plain_cell(each.fault)])
    return sink.getvalue()


def lines(rows: Sequence[Place], faults: Sequence[Result]) -> Iterator[str]:
    """Yield the lines of a terminal."""
    for row in rows:
        own, note = row.against, f" ({row.note})" if row.note else ""
        ties = "=" if sum(each.place == row.place for each in rows) > 1 else " "
        against = "" if own.difference is None else f"; against {REFERENCE} {own.difference:+.2f} s"
        interval = "" if own.lo is None or own.hi is None else f" [{own.lo:+.2f}, {own.hi:+.2f}]"
        yield (
            f"{row.place:>3}{ties} {row.name}: {SIZE_BYTES / 1e6:g} MB in {row.mean_s:.2f} s, "
            f"{row.chokepoint_pct:.0f} % at the chokepoint{against}{interval}{note}"
        )
    for each in faults:
        yield f"  - {each.name}: {each.fault}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def rank(
    name: str, submissions: Sequence[Path], key_file: Path, out: Path | None, jobs: int | None, console: Console
) -> None:
    """Print the board, and write it where a folder is given; exit status 1 where a submission has no place."""
    _require_once(submissions)
    assignment, key = find_assignment(name), read_key(key_file)
    require_kept_apart(assignment, key)
    hidden_links(assignment)
    sender_file(assignment)
    if out:
        out.mkdir(parents=True, exist_ok=True)
    bench = Bench.on(prepare(Recipe(), console))
    entries = [Entry(path, assignment.folder, bench, key, TRIALS, DURATION_S) for path in submissions]
    found: list[Result] = []
    paths: list[Path] = []
    for entry, result in results_or_lines(run_entry, entries, processors() if jobs is None else jobs):
        found.append(result if isinstance(result, Result) else Result(own_name(entry.path), fault=str(result)))
        paths.append(entry.path)
    found = distinct(found, paths)
    ranked = [each for each in found if not each.fault]
    faults = [each for each in found if each.fault]
    rows = board(ranked, run_reference(entries[0])) if ranked else []
    console.print("\n".join(lines(rows, faults)), soft_wrap=True, markup=False)
    if out:
        write_whole(out / TABLE, table(rows, faults))
    if faults:
        raise typer.Exit(1)


def _require_once(submissions: Sequence[Path]) -> None:
    """Refuse a submission that is given twice: it would be ranked against itself."""
    known: set[str] = set()
    for path in submissions:
        if (real := os.path.realpath(path)) in known:
            raise field_error(COMMAND_LINE, "submissions", path, "given once")
        known.add(real)
