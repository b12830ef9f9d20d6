# SPDX-License-Identifier: GPL-2.0-or-later
"""The report as Markdown."""

from collections.abc import Iterable, Iterator, Sequence

from lab.base.plain_text import flat
from lab.report.table import Table


def render(title: str, headline: Sequence[str], tables: Sequence[Table], below: Sequence[str] = ()) -> str:
    """Return a document with one pipe table each, and sentences below them."""
    parts = [f"# {_escape(title)}", *map(_escape, headline)]
    for table in tables:
        parts += [_escape(table.caption), "\n".join(_lines(table)), *map(_escape, table.notes)]
    return "\n\n".join((*parts, *map(_escape, below))) + "\n"


def _lines(table: Table) -> Iterator[str]:
    yield _line(map(_escape, (table.group_header, *table.header)))
    yield _line(("---", *("---",) * table.labels, *("---:" for _ in table.header[table.labels :])))
    for group in table.groups:
        for row in group.rows:
            cells = [f"*{cell}*" if row.published else cell for cell in map(_escape, row.cells)]
            yield _line((_escape(group.label), *cells))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(text: str) -> str:
    """Return text that is neither markup nor a link, on one line."""
    text = flat(text)
    for character in "\\`|*_<[":
        text = text.replace(character, "\\" + character)
    return text
