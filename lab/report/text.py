# SPDX-License-Identifier: GPL-2.0-or-later
"""The report as a table on a terminal, and the same as plain text."""

import io
from collections.abc import Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from lab.report.table import Table

WIDTH_CHARS = 132


def render(headline: Sequence[str], tables: Sequence[Table]) -> str:
    """Plain text, wide enough that no cell breaks."""
    text = io.StringIO()
    Console(file=text, width=WIDTH_CHARS, color_system=None).print(shown(headline, tables))
    return text.getvalue()


def shown(headline: Sequence[str], tables: Sequence[Table]) -> RenderableType:
    """What a rich console prints: the headline, then the tables."""
    return Group(*(Text(f"{sentence}\n") for sentence in headline), *(_rich(table) for table in tables))


def _rich(table: Table) -> RichTable:
    drawn = RichTable(title=Text(table.caption), title_justify="left", box=box.SIMPLE, pad_edge=False)
    drawn.add_column("Sender", style="bold")
    drawn.add_column(table.header[0])
    for name in table.header[1:]:
        drawn.add_column(name, justify="right")
    for group in table.groups:
        for row in group.rows:
            first = group.label if row is group.rows[0] else ""
            drawn.add_row(first, *map(Text, row.cells), style="dim" if row.published else None)
        drawn.add_section()
    return drawn
