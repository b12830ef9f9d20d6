# SPDX-License-Identifier: GPL-2.0-or-later
"""A table as files, one table per file: CSV, Markdown, and LaTeX for a page and for a column."""

import csv
import io
from collections.abc import Iterable, Sequence

from lab.report import latex, markdown
from lab.report.table import Table
from lab.tables.csv_text import plain_cell


def table_files(table: Table, about: Sequence[str] = ()) -> dict[str, str]:
    """Return the content of each file by its name; about: sentences of the link, for those that are read alone."""
    rows = ((group.label, *row.cells) for group in table.groups for row in group.rows)
    return {
        f"{table.name}.csv": csv_of([table.group_header, *table.header], rows),
        f"{table.name}.md": markdown.render(table.name, (), (table,), about),
        f"{table.name}.tex": latex.render(table, about=about),
        f"{table.name}-column.tex": latex.render(table, column=True, about=about),
    }


def csv_of(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a CSV; its texts are plain: no formula of a spreadsheet, no control characters."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([plain_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return text.getvalue()
