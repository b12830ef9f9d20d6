# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that packages bring: entry points of the groups `lab.commands` and, hidden, `lab.commands.seldom`."""

from collections.abc import Mapping

import typer

from lab.base.entry_points import loaded


def add_commands(app: typer.Typer, panel: str, groups: Mapping[str, typer.Typer]) -> None:
    """Add each package's commands, a function or a Typer app each, to a panel of `lab --help`.

    `group.name` becomes `lab group name`: several packages may have commands in one of the core's groups.
    """
    for shown, entry_points in ((panel, "lab.commands"), (None, "lab.commands.seldom")):
        for name, command in loaded(entry_points).items():
            group, _, own = name.rpartition(".")
            if isinstance(command, typer.Typer):
                app.add_typer(command, name=name, rich_help_panel=shown)
            elif group:
                groups[group].command(own, hidden=shown is None)(command)
            else:
                app.command(name, rich_help_panel=shown)(command)
