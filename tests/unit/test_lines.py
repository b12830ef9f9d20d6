# SPDX-License-Identifier: GPL-2.0-or-later
"""A name with line ends and control characters, as a file may have, stays on the line that shows it."""

import io

from rich.table import Table

from lab.base.console import PlainConsole
from lab.commands.lines import say, show_path

NAME = "a\nFITS: all\x1b[2J\u202e.log"
SHOWN = r"a\nFITS: all\x1b[2J\u202e.log"


def test_a_name_stays_on_its_line() -> None:
    printed = io.StringIO()
    console = PlainConsole(file=printed)
    say(console, f"{NAME}: ping", "next")
    show_path(console, "page", NAME)
    assert printed.getvalue().splitlines() == [f"{SHOWN}: ping", "next", f"page      {SHOWN}"]


def test_a_name_in_brackets_is_no_markup() -> None:
    printed = io.StringIO()
    table = Table.grid()
    table.add_row("a[/b][red].log")
    PlainConsole(file=printed).print(table, "[/b]")
    assert printed.getvalue().split() == ["a[/b][red].log", "[/b]"]
