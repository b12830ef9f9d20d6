# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of a sweep: each measure over the fields that were varied, and the same as tables."""

from pathlib import Path
from typing import Any

import polars as pl

from lab.base.format import AT_LEAST, NONE, number
from lab.base.plain_file import write_whole
from lab.evaluation.measures import BY_NAME
from lab.evaluation.sweep import BOUNDS, fields_of
from lab.figures.save import svg
from lab.figures.sweep import draw, senders_of
from lab.report.table import Group, Row, Table
from lab.report.template import picture, render


def write(folder: Path, name: str, question: str, sweep: pl.DataFrame) -> Path:
    """Write the page beside sweep.csv."""
    title = f"{name} over {' and '.join(fields_of(sweep))}"
    tables = tables_of(sweep)
    drawn = ((table.name, draw(sweep, table.name)) for table in tables)
    pictures = [picture(measure, svg(each.figure), each.alt, each.caption) for measure, each in drawn if each]
    page = render("sweep.html.j2", title=title, question=question, pictures=pictures, tables=tables)
    return write_whole(folder / "index.html", page)


def tables_of(sweep: pl.DataFrame) -> list[Table]:
    """Return a table for each measure; the first is that of the headlines."""
    return [_table(sweep, measure) for measure in sweep["measure"].unique(maintain_order=True)]


def _table(sweep: pl.DataFrame, measure: str) -> Table:
    """Return a measure's table: a group per sender, a row per point."""
    fields, found = fields_of(sweep), BY_NAME[measure]
    rows = sweep.filter(measure=measure)
    groups = [
        Group(sender.label, tuple(_row(row, fields) for row in rows.filter(cca=sender.name).to_dicts()))
        for sender in senders_of(rows)
    ]
    header = (", ".join(fields), f"Mean ({found.unit})", "95 % interval", "Trials")
    return Table(measure, f"{found.title}: {found.meaning}.", header, tuple(groups))


def _row(row: dict[str, Any], fields: list[str]) -> Row:
    mean, low, high = (row[name] for name in ("mean", "lo", "hi"))
    interval = NONE if low is None else f"{number(low, 2)} to {number(high, 2)}"
    least = AT_LEAST if row.get(BOUNDS) else ""
    return Row((", ".join(str(row[name]) for name in fields), f"{least}{number(mean, 2)}", interval, str(row["n"])))
