# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab merge`: the shards of a request as ordinary runs, and the command that shows them."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from lab.commands.lines import say
from lab.runs import shard
from lab.runs.merge import merge as merge_shards


def merge(folders: Sequence[Path], console: Console) -> None:
    """Merge, and say where the runs are."""
    runs = merge_shards(folders)
    for run in runs:
        say(console, f"{run}")
    command = shard.read(folders[0])["command"]
    if any(word.partition("=")[0] == "--vary" for word in command):
        say(console, f"'{shlex.join(command)}' draws the page: it runs no trial again")
    else:
        say(console, f"'lab report {runs[0]}' draws the page")
