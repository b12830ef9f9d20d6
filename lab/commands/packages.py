# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that packages bring, by entry points; the entry point's group says where `lab --help` shows them."""

from collections.abc import Mapping

import typer

from lab.base.entry_points import loaded

# The panel of each group of entry points; seldom needed commands are hidden.
PANELS = {"lab.commands": "Run and look", "lab.commands.teach": "Teach", "lab.commands.seldom": None}


def add_commands(app: typer.Typer, groups: Mapping[str, typer.Typer]) -> None:
    """Add each package's commands, a function or a Typer app each.

    `group.name` becomes `lab group name`: several packages may have commands in one of the core's groups.
    """
    for entry_points, shown in PANELS.items():
        for name, command in loaded(entry_points).items():
            group, _, own = name.rpartition(".")
            if isinstance(command, typer.Typer):
                app.add_typer(command, name=name, rich_help_panel=shown)
            elif group:
                groups[group].command(own, hidden=shown is None)(command)
            else:
                app.command(name, rich_help_panel=shown)(command)
