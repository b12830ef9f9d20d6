# SPDX-License-Identifier: GPL-2.0-or-later
"""Searches on several machines: each searches an island, which no other one needs to know; `lab merge` joins them.

An island is a search with a seed of its own, which follows from the request. After the merge the same command without
--shard finds every trial stored, and shows what it found.
"""

import json
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypedDict

from rich.console import Console

from lab.base import paths
from lab.base.contract import read_checked
from lab.base.errors import COMMAND_LINE, field_error
from lab.base.plain_file import write_whole
from lab.commands.lines import say
from lab.commands.part import Part, without_shard
from lab.runs import shard as shards
from lab.runs.options import RunOptions
from lab.runs.run_folder import lab_version
from lab.runs.shard import ShardJson
from lab_break.command import break_sender
from lab_break.numbers import Store
from lab_break.request import FOLDER, TRIALS, Request, RequestJson

FILE = "island.json"
DIGEST = re.compile(r"[0-9a-f]{8,64}")  # it names a file of this machine's store


class IslandJson(TypedDict):
    """island.json, in the folder of a shard."""

    request: Annotated[RequestJson, "the search"]
    lab_version: Annotated[str, "the lab's commit"]
    kernel: Annotated[dict[str, str], "digests of kernel, modules and world"]
    trials: Annotated[int, "number of stored trials"]


def island_of(shard: str | None, out: Path | None, islands: int) -> Part | None:
    """Read --shard and --out, which belong together and state the number of islands."""
    part = Part.of(shard, out)
    if part and islands not in (1, part.shard.count):
        raise field_error(COMMAND_LINE, "islands", islands, f"{part.shard.count}, as in --shard {part.shard}")
    return part


def search_island(request: Request, part: Part, options: RunOptions, console: Console) -> None:
    """Search one island into the folder of its shard."""
    part.begin()
    kernel = break_sender(request, part.shard.number, options, console)
    content: IslandJson = {
        "request": request.stored,
        "lab_version": lab_version(),
        "kernel": kernel,
        "trials": len(_digests(part.out)),
    }
    write_whole(part.out / FILE, json.dumps(content, indent=1))
    shards.write(part.out, part.shard, {}, _with_islands(part.shard.count), "break")
    say(console, f"island {part.shard} is whole in {part.out}: 'lab merge' joins all {part.shard.count}")


def _with_islands(count: int) -> list[str]:
    """Return the command that shows what all islands found."""
    words = without_shard(sys.argv[1:])
    given = any(word.partition("=")[0] == "--islands" for word in words)
    return words if given else [*words, "--islands", str(count)]


def merge(shard: Mapping[Path, ShardJson], console: Console) -> None:
    """Take the trials of all islands into this machine's store; everything is checked before one is written."""
    islands = {folder: _read(folder) for folder in shard}
    first, expected = next(iter(islands.items()))
    for folder, island in islands.items():
        for name, value in _facts(island).items():
            if value != (wanted := _facts(expected).get(name, "absent")):
                raise field_error(folder / FILE, name, value, f"{wanted}, as in {first}")
        if len(_digests(folder)) != island["trials"]:
            rule = f"{island['trials']}: run shard {shard[folder]['shard']} again, with the same --out"
            raise field_error(folder, "trials", len(_digests(folder)), rule)
    own = Store(paths.results() / FOLDER / TRIALS)
    stores = {folder: Store(folder / FOLDER / TRIALS) for folder in shard}
    for store in stores.values():
        for digest in _digests(store.folder.parents[1]):
            own.require_same(digest, store)
    taken = sum(own.take(digest, store) for store in stores.values() for digest in _digests(store.folder.parents[1]))
    say(console, f"{taken} trials are new in {own.folder}")
    command = shlex.join(shard[first]["command"])
    say(console, f"'{command}' shows what was found: it runs no trial of the search again")


def _facts(island: IslandJson) -> dict[str, object]:
    return {
        **{f"request.{name}": value for name, value in island["request"].items()},
        **{f"kernel.{name}": value for name, value in island["kernel"].items()},
        "lab_version": island["lab_version"],
    }


def _digests(folder: Path) -> list[str]:
    """Return the digests of the trials that the folder of a shard holds."""
    files = sorted((folder / FOLDER / TRIALS).glob("??/*.json"), key=lambda file: file.stem)
    for file in files:
        if not DIGEST.fullmatch(file.stem):
            raise field_error(file, "name", file.stem, "the digest of a trial")
    return [file.stem for file in files]


def _read(folder: Path) -> IslandJson:
    absent = ": must be the folder of an island that has ended"
    again = ": run its shard again, with the same --out"
    content: IslandJson = read_checked(folder / FILE, IslandJson, absent=absent, broken=again)
    return content
