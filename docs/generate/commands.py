# SPDX-License-Identifier: GPL-2.0-or-later
"""The command reference, from the command line itself."""

import click
import typer.main
from typer.cli import get_docs_for_click
from typer.core import TyperGroup

from lab.commands.cli import app

HEAD = """# Commands

`lab COMMAND --help` prints what stands here; the [quick start](index.md#the-lab-command) shows how to call `lab`. An
error that a user can cause is one line, with exit status 2. Ctrl-C ends with 130, SIGTERM with
143, a closed terminal with 129; what was stored by then is whole.
"""
HELP = "* `--help`: Show this message and exit.\n"
NO_OPTIONS = "**Options**:\n\n\n"


def page() -> str:
    """Return the page as Markdown: Typer's own reference below our head."""
    command = typer.main.get_command(app)
    assert isinstance(command, TyperGroup)
    del command.commands["cca"]  # the older name of `lab senders`
    command.epilog = None  # it names this page
    _show_whole_sentences(command)
    text = get_docs_for_click(obj=command, ctx=click.Context(command, info_name="lab"), name="lab")
    return HEAD + text.partition("\n")[2].replace(HELP, "").replace(NO_OPTIONS, "")


def _show_whole_sentences(group: TyperGroup) -> None:
    """Let lists of commands have each one's first sentence, which click cuts after 45 characters."""
    for each in group.commands.values():
        each.short_help = (each.help or "").partition("\n\n")[0].replace("\n", " ")
        if isinstance(each, TyperGroup):
            _show_whole_sentences(each)
