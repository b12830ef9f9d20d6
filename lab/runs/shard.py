# SPDX-License-Identifier: GPL-2.0-or-later
"""Shards: machine K of N runs every N-th trial of a request into a folder of its own; `lab merge` joins the folders.

Which trials those are follows from the request alone: the machines need not know of each other.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NotRequired, TypedDict

from lab.base.errors import COMMAND_LINE, UserError, field_error
from lab.base.named_files import require_name
from lab.runs.execute import Wanted
from lab.runs.experiment import Experiment
from lab.tables.digests import write_with_digest
from lab.tables.stored_trial import FORMAT, read_json

FILE = "shard.json"
MOST_SHARDS = 10_000


class ShardJson(TypedDict):
    """shard.json, in the folder of a shard."""

    format: Annotated[int, "version of the stored form"]
    shard: Annotated[str, "K/N"]
    runs: Annotated[dict[str, str], "the folder of each run, by its name"]
    command: Annotated[list[str], "the command that all shards have, without --shard and --out"]
    kind: NotRequired[Annotated[str, "the entry point of lab.merge that joins it; absent: its runs are joined"]]


@dataclass(frozen=True)
class Shard:
    """One of N parts, counted from 1."""

    number: int
    count: int

    @classmethod
    def of(cls, text: str) -> "Shard":
        """Read K/N."""
        found = re.fullmatch(r"([1-9]\d{0,4})/([1-9]\d{0,4})", text)
        if found and int(found[1]) <= int(found[2]) <= MOST_SHARDS:
            return cls(int(found[1]), int(found[2]))
        raise field_error(COMMAND_LINE, "shard", text, f"K/N with K from 1 to N, and N at most {MOST_SHARDS}")

    def __str__(self) -> str:
        """Return K/N."""
        return f"{self.number}/{self.count}"

    def wanted(self, experiments: Iterable[Experiment]) -> Wanted:
        """Return which trials are its own."""
        owners = owners_of(((each.name, each.scenario.ccas, each.scenario.trials) for each in experiments), self.count)
        return lambda job: owners[job.experiment.name, job.folder.name] == self.number


def owners_of(runs: Iterable[tuple[str, Sequence[str], int]], count: int) -> Mapping[tuple[str, str], int]:
    """Return the number of the shard that each trial is of, by the names of run and trial."""
    trials = [
        (name, f"{cca}-{number:03d}") for name, ccas, most in runs for number in range(1, most + 1) for cca in ccas
    ]
    return {trial: place % count + 1 for place, trial in enumerate(trials)}


def read(folder: Path) -> ShardJson:
    """Read shard.json; UserError where the folder is none of a shard."""
    file = folder / FILE
    content: ShardJson = read_json(file, ShardJson, ": must be the folder of --out of a shard that has ended")
    Shard.of(content["shard"])
    if content["command"][:1] != ["lab"]:  # it is shown for the user to type
        raise field_error(file, "command", " ".join(content["command"][:1]), "a command of the lab")
    for name, run in content["runs"].items():
        require_name(name, file)
        require_name(run, file)
    return content


def begin(folder: Path, shard: Shard) -> None:
    """Make the folder of a shard; UserError where it is another shard's."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror}: must be a folder for --out") from None
    if (folder / FILE).exists() and (other := read(folder)["shard"]) != str(shard):
        raise field_error(folder / FILE, "shard", other, f"{shard}, or --out must be another folder")


def write(folder: Path, shard: Shard, runs: Mapping[str, str], command: list[str], kind: str | None = None) -> None:
    """Store shard.json: the shard is whole. `kind` is of what a package joins."""
    content: ShardJson = {"format": FORMAT, "shard": str(shard), "runs": dict(runs), "command": command}
    if kind:
        content["kind"] = kind
    write_with_digest(folder / FILE, json.dumps(content, indent=1).encode())
