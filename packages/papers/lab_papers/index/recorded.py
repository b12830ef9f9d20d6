# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded and emulated downloads on the index; where one is missing, the command that gives it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.base.errors import UserError
from lab.figures.page_figure import Place
from lab.report.table import Group, Row, Table
from lab.report.template import Picture
from lab.runs.run_folder import LATEST
from lab_papers.evaluation.recorded.comparison import SCENARIO, compare_recorded, fetch_command, fetched
from lab_papers.evaluation.recorded.tables import EMULATED, Sheet, sheets
from lab_papers.index.drawn import drawn


@dataclass(frozen=True)
class RecordedPart:
    """A figure and its tables, or the commands that they wait for."""

    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    commands: Sequence[str] = ()


def recorded(results: Path, faults: list[str]) -> RecordedPart:
    """Draw what is there; a run or recording that cannot be read is a line among the faults."""
    run = results / SCENARIO / LATEST
    missing = [f"lab run {SCENARIO}"] * (not (run / "run.json").exists()) + [fetch_command()] * (not fetched())
    if missing:
        return RecordedPart(commands=missing)
    try:
        both = compare_recorded(run, fetched())
        return RecordedPart(drawn(results, Place.RECORDED, both), [_table(sheet) for sheet in sheets(both)])
    except UserError as error:
        faults.append(str(error))
        return RecordedPart(commands=[f"lab traces compare {SCENARIO}/{LATEST}"])


def _table(sheet: Sheet) -> Table:
    ours = [row for row in sheet.rows if row[0].startswith(EMULATED)]
    groups = [
        Group(label, tuple(Row(row) for row in rows))
        for label, rows in (("Recorded", [row for row in sheet.rows if row not in ours]), ("Emulated", ours))
        if rows
    ]
    name = f"recorded-{sheet.title.lower().replace(' ', '-')}"
    return Table(name, sheet.title, ("Download", *sheet.header[1:]), tuple(groups), (sheet.note,), "Of")
