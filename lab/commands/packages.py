# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that packages bring: entry points of the group `lab.commands`, of what is installed and of this checkout."""

import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points

import typer

from lab.base.paths import REPO

GROUP = "lab.commands"


def add_commands(app: typer.Typer, panel: str) -> None:
    """Add each package's commands, a function or a Typer app each, to a panel of `lab --help`."""
    points = {point.name: point for point in (*entry_points(group=GROUP), *_of_checkout())}
    for name, point in points.items():
        command = point.load()
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, rich_help_panel=panel)
        else:
            app.command(name, rich_help_panel=panel)(command)


def _of_checkout() -> Iterator[EntryPoint]:
    """Yield the entry points of packages/: a checkout's packages need no installing."""
    for file in sorted(REPO.glob("packages/*/pyproject.toml")):
        if str(file.parent) not in sys.path:
            sys.path.append(str(file.parent))
        declared = tomllib.loads(file.read_text())["project"]["entry-points"][GROUP]
        yield from (EntryPoint(name, value, GROUP) for name, value in declared.items())
