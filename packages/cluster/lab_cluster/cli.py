# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab merge`: the shards of a request are joined."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from lab.commands.cli_options import console
from lab.commands.lines import say


def merge(shards: Annotated[list[Path], typer.Argument(help="The folders of all shards: of --out.")]) -> None:
    """Join the shards of `lab run --shard K/N --out DIR` into ordinary runs.

    Example: `lab merge part1 part2`
    """
    from lab.base.choice import choose
    from lab.base.entry_points import loaded
    from lab.runs.shard import FILE
    from lab_cluster.merge import merge as joined
    from lab_cluster.merge import shards_of

    first, found = shards[0], shards_of(shards)
    if kind := found[first].get("kind"):  # what is no run is joined by the package that made it
        known = loaded("lab.merge")
        known[choose("package of the group lab.merge", kind, known, first / FILE, "kind")](found, console)
        return
    runs = joined(found)
    say(console, *map(str, runs))
    command = found[first]["command"]
    one_run = command[1:2] == ["run"] and not any(word.partition("=")[0] == "--vary" for word in command)
    drawing = f"'lab report {runs[0]}'" if one_run else f"'{shlex.join(command)}'"
    say(console, f"{drawing} draws the page: it runs no trial again")
