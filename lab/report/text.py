# SPDX-License-Identifier: GPL-2.0-or-later
"""The report as a table on a terminal, and the same as plain text."""

import io
import textwrap
from collections.abc import Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from lab.base.console import PlainConsole
from lab.report.table import Row, Table, short

WIDTH_CHARS = 150
NARROW_CHARS = 112  # below it intervals and spreads stay in the files, so that no line breaks
LABEL_CHARS, SENDER_CHARS, FROM_CHARS = 12, 18, 24


def render(headline: Sequence[str], tables: Sequence[Table], below: Sequence[str] = ()) -> str:
    """Plain text, wide enough that no cell breaks; the sentences below stand last."""
    text = io.StringIO()
    PlainConsole(file=text, width=WIDTH_CHARS, color_system=None).print(
        shown(headline, tables, WIDTH_CHARS), *map(Text, below)
    )
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
        parts += [Text(table.caption), *_drawn(table, narrow, width), *_notes(table, tables)]
    return Group(*sentences, *parts, *hint)


def _notes(table: Table, tables: Sequence[Table]) -> list[Text]:
    """Return a table's notes, unless the next table has the same."""
    later = tables[tables.index(table) + 1 :]
    return [] if any(other.notes == table.notes for other in later) else [Text(f"{note}\n") for note in table.notes]


def _drawn(table: Table, narrow: bool, width: int) -> list[RichTable]:
    """Draw a table, its columns in as many parts below each other as the width requires: no cell is cut."""
    columns = range(table.labels, len(table.header))
    for parts in range(1, max(len(columns), 1) + 1):
        share = max(-(-len(columns) // parts), 1)
        split = [columns[first : first + share] for first in range(0, len(columns), share)] or [columns]
        drawn = [_rich(table, narrow, range(table.labels), part) for part in split]
        if all(_least_chars(part) <= width for part in drawn):
            break
    return drawn


def _least_chars(drawn: RichTable) -> int:
    endless = Console(width=10_000)
    return Measurement.get(endless, endless.options, drawn).minimum


def _rich(table: Table, narrow: bool, labels: range, figures: range) -> RichTable:
    drawn = RichTable(box=box.SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    _add_labels(drawn, table.group_header, SENDER_CHARS, narrow, style="bold")
    for column in labels:
        _add_labels(drawn, table.header[column], FROM_CHARS, narrow)
    for column in figures:
        cells = [_cell(row, column, narrow) for group in table.groups for row in group.rows]
        name = _wrapped(table.header[column], max(map(len, cells), default=0)) if narrow else table.header[column]
        widest = max(len(line) for text in (name, *cells) for line in text.splitlines() or [""])
        drawn.add_column(name, justify="right", no_wrap=True, min_width=widest)
    for group in table.groups:
        for row in group.rows:
            first = group.label if row is group.rows[0] else ""
            names, cells = [row.cells[column] for column in labels], [_cell(row, column, narrow) for column in figures]
            drawn.add_row(first, *map(Text, [*names, *cells]), style="dim" if row.published else None)
        if len(group.rows) > 1:
            drawn.add_section()
    return drawn


def _wrapped(name: str, chars: int) -> str:
    """Break a name between words where it is wider than its cells."""
    return "\n".join(textwrap.wrap(name, max(chars, 1), break_long_words=False, break_on_hyphens=False))


def _cell(row: Row, column: int, narrow: bool) -> str:
    return short(row.cells[column]) if narrow else row.cells[column]


def _add_labels(drawn: RichTable, name: str, most_chars: int, narrow: bool, style: str = "") -> None:
    """Add a column of names, the only ones that may break."""
    drawn.add_column(
        name, style=style, overflow="fold", min_width=LABEL_CHARS, max_width=most_chars if narrow else None
    )
