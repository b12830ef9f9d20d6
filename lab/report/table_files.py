# SPDX-License-Identifier: GPL-2.0-or-later
"""A table as files, one table per file: CSV, Markdown, and LaTeX for a page and for a column."""

import csv
import io
from collections.abc import Sequence

from lab.report import latex, markdown
from lab.report.table import Table
from lab.tables.csv_text import plain_cell


def table_files(table: Table, about: Sequence[str] = ()) -> dict[str, str]:
    """Return the content of each file by its name; about: sentences of the link, for those that are read alone."""
    return {
        f"{table.name}.csv": _csv(table),
        f"{table.name}.md": markdown.render(table.name, (), (table,), about),
        f"{table.name}.tex": latex.render(table, about=about),
        f"{table.name}-column.tex": latex.render(table, column=True, about=about),
    }


def _csv(table: Table) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([table.group_header, *table.header])
    rows = ((group.label, *row.cells) for group in table.groups for row in group.rows)
    writer.writerows(map(plain_cell, row) for row in rows)
    return text.getvalue()
