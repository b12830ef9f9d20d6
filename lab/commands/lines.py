# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines of text for people: wrapped at words in a terminal, whole where they are redirected."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lab.base.plain_text import escaped


def say(console: Console, *lines: str) -> None:
    """Print sentences, each on a line of its own whatever names it holds."""
    for line in lines:
        console.print(escaped(line), soft_wrap=not console.is_terminal, markup=False)


def show_rows(console: Console, rows: Iterable[tuple[str, str]]) -> None:
    """Print names, and next to each its text, wrapped within its column in a terminal."""
    rows = list(rows)
    if not console.is_terminal:
        width = max((len(name) for name, _ in rows), default=0)
        say(console, *(f"{name:{width}}  {text}" for name, text in rows))
        return
    table = Table.grid(padding=(0, 2))
    for row in rows:
        table.add_row(*map(Text, map(escaped, row)))
    console.print(table)


def show_path(console: Console, name: str, path: object) -> None:
    """Print where something lies: a path is never broken, so that it can be copied."""
    console.print(escaped(f"{name:9} {path}"), soft_wrap=True, markup=False)
