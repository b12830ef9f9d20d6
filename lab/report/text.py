# SPDX-License-Identifier: GPL-2.0-or-later
"""The report as a table on a terminal, and the same as plain text."""

import io
from collections.abc import Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from lab.report.table import Table, short

WIDTH_CHARS = 150
NARROW_CHARS = 112  # below it intervals and spreads stay in the files, so that no line breaks
SENDER_CHARS, FROM_CHARS = 18, 24


def render(headline: Sequence[str], tables: Sequence[Table]) -> str:
    """Plain text, wide enough that no cell breaks."""
    text = io.StringIO()
    Console(file=text, width=WIDTH_CHARS, color_system=None).print(shown(headline, tables, WIDTH_CHARS))
    return text.getvalue()


def shown(headline: Sequence[str], tables: Sequence[Table], width: int) -> RenderableType:
    """Return the headline and the tables as a rich console of that width prints them."""
    narrow = width < NARROW_CHARS
    sentences = [Text(f"{sentence}\n") for sentence in headline]
    cells = [cell for table in tables for group in table.groups for row in group.rows for cell in row.cells[1:]]
    left_out = narrow and any(short(cell) != cell for cell in cells)
    hint = (
        [Text(f"Intervals and spreads: on the page, or in a terminal of {NARROW_CHARS} columns.\n")] if left_out else []
    )
    parts: list[RichTable | Text] = []
    for table in tables:
        parts += [_rich(table, narrow), *_notes(table, tables)]
    return Group(*sentences, *parts, *hint)


def _notes(table: Table, tables: Sequence[Table]) -> list[Text]:
    """Return a table's notes, unless the next table has the same."""
    later = tables[tables.index(table) + 1 :]
    return [] if any(other.notes == table.notes for other in later) else [Text(f"{note}\n") for note in table.notes]


def _rich(table: Table, narrow: bool) -> RichTable:
    title = Text(table.caption)
    drawn = RichTable(title=title, title_justify="left", box=box.SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    drawn.add_column(table.group_header, style="bold", overflow="fold", max_width=SENDER_CHARS if narrow else None)
    drawn.add_column(table.header[0], overflow="fold", max_width=FROM_CHARS if narrow else None)
    for name in table.header[1:]:
        drawn.add_column(name.replace(" ", "\n") if narrow else name, justify="right", no_wrap=True)
    for group in table.groups:
        for row in group.rows:
            first = group.label if row is group.rows[0] else ""
            cells = [short(cell) if narrow else cell for cell in row.cells[1:]]
            drawn.add_row(first, Text(row.cells[0]), *map(Text, cells), style="dim" if row.published else None)
        drawn.add_section()
    return drawn
