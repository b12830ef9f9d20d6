# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab merge`: the shards of a request as ordinary runs, and the command that shows them."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from lab.base.choice import choose
from lab.base.entry_points import loaded
from lab.commands.lines import say
from lab.runs import shard
from lab.runs.merge import merge as merge_shards
from lab.runs.merge import shards_of


def merge(folders: Sequence[Path], console: Console) -> None:
    """Merge, and say where the runs are; what is no run is joined by the package that made it."""
    shards = shards_of(folders)
    if kind := next(iter(shards.values())).get("kind"):
        known = loaded("lab.merge")
        known[choose("package of the group lab.merge", kind, known, folders[0] / shard.FILE, "kind")](shards, console)
        return
    runs = merge_shards(folders)
    say(console, "\n".join(map(str, runs)))
    command = shard.read(folders[0])["command"]
    one_run = command[1:2] == ["run"] and not any(word.partition("=")[0] == "--vary" for word in command)
    drawing = f"'lab report {runs[0]}'" if one_run else f"'{shlex.join(command)}'"
    say(console, f"{drawing} draws the page: it runs no trial again")
