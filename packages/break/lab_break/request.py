# SPDX-License-Identifier: GPL-2.0-or-later
"""What a search is: all that decides which trials it runs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

import numpy as np

from lab.base import paths
from lab.base.choice import one_of
from lab.base.errors import field_error
from lab.base.plain_file import write_whole
from lab.runs.experiment import digest
from lab.runs.shard import MOST_SHARDS
from lab.schema.load import parse
from lab_break.measures import REFERENCE, Measure, measure_of
from lab_break.own import require_known
from lab_break.search import OPTIMISERS
from lab_break.space import Bounds

COMMAND_LINE = "command line"
FOLDER, TRIALS, FILE = "break", "trials", "request.json"
MOST_TRIALS = 100_000
MOST_SEED = 2**32 - 1  # of NumPy's older generators, which optuna has


class RequestJson(TypedDict):
    """A search as it is stored."""

    sender: Annotated[str, "name, or path of a source"]
    measure: Annotated[str, "what is searched for"]
    bounds: Annotated[dict[str, Any], "the space"]
    rivals: Annotated[list[str], "the other senders"]
    against: Annotated[str | None, "the version that it differs from; null with another measure"]
    budget: Annotated[int, "trials"]
    seed: Annotated[int, "seed of the optimiser"]
    optimiser: Annotated[str, "its name"]
    islands: Annotated[int, "number of shards"]
    first: Annotated[bool, "whether the search ends at its first batch with a find"]


@dataclass(frozen=True)
class Request:
    """What the command line holds; senders are names, or paths of sources."""

    sender: str
    measure: Measure
    bounds_name: str
    bounds: Bounds
    rivals: tuple[str, ...]
    version: str | None
    budget: int  # trials, those of all islands together
    seed: int
    optimiser: str
    islands: int = 1
    first: bool = False  # the search ends at its first batch with a find

    @classmethod
    def of(
        cls,
        sender: str,
        measure: str,
        bounds: tuple[str, Bounds],
        rivals: str,
        version: str | None,
        budget: int,
        seed: int,
        optimiser: str,
        islands: int,
        first: bool = False,
    ) -> "Request":
        """Read the options."""
        others = tuple(name for each in rivals.split(",") if (name := each.strip()) and name != sender)
        return cls(sender, measure_of(measure), *bounds, others, version, budget, seed, optimiser, islands, first)

    def __post_init__(self) -> None:
        """Refuse what does not fit together."""
        if self.optimiser not in OPTIMISERS:
            raise field_error(COMMAND_LINE, "optimiser", self.optimiser, one_of(self.optimiser, OPTIMISERS))
        needs = self.measure.against == "version"
        if needs != (self.version is not None):
            rule = "used with --measure differs" if self.version else "given: the version that it differs from"
            raise field_error(COMMAND_LINE, "against", self.version or "", rule)
        if self.version == self.sender:
            raise field_error(COMMAND_LINE, "against", self.version, "another version than the sender")
        if not self.rivals:
            raise field_error(COMMAND_LINE, "rivals", "", f"a sender other than {self.sender}")
        if not 1 <= self.islands <= MOST_SHARDS:
            raise field_error(COMMAND_LINE, "islands", self.islands, f"1 to {MOST_SHARDS}")
        if not 0 <= self.seed <= MOST_SEED:
            raise field_error(COMMAND_LINE, "seed", self.seed, f"0 to {MOST_SEED}")
        least = len(self.senders) * self.islands
        if not least <= self.budget <= MOST_TRIALS:
            rule = f"{least} to {MOST_TRIALS} trials: a link takes {len(self.senders)}"
            raise field_error(COMMAND_LINE, "budget", self.budget, rule)
        require_known([*self.senders, *self.rivals])

    @property
    def senders(self) -> list[str]:
        """Return who runs on each link."""
        others: dict[str, Sequence[str]] = {
            "rivals": self.rivals,
            "reference": [REFERENCE],
            "version": [self.version or ""],
        }
        return list(dict.fromkeys([self.sender, *others.get(self.measure.against, ())]))

    @property
    def everyone(self) -> list[str]:
        """Return who may run in all: those of each link, and the rivals on the find."""
        return list(dict.fromkeys([*self.senders, *self.rivals]))

    @property
    def points(self) -> int:
        """Return how many links each island searches."""
        return self.budget // (len(self.senders) * self.islands)

    def seed_of(self, island: int) -> int:
        """Return the seed of an island's optimiser, counted from 1."""
        return self.seed if self.islands == 1 else int(np.random.SeedSequence([self.seed, island]).generate_state(1)[0])

    @property
    def stored(self) -> RequestJson:
        """Return it as plain data."""
        return {
            "sender": self.sender,
            "measure": self.measure.name,
            "bounds": self.bounds.model_dump(),
            "rivals": list(self.rivals),
            "against": self.version,
            "budget": self.budget,
            "seed": self.seed,
            "optimiser": self.optimiser,
            "islands": self.islands,
            "first": self.first,
        }

    @classmethod
    def restored(cls, stored: RequestJson, sender: str, file: Path) -> "Request":
        """Return a stored request, of a sender by the name that it has here."""
        bounds = ("find", parse(Bounds, stored["bounds"], file))
        rivals, against, budget, seed = ",".join(stored["rivals"]), stored["against"], stored["budget"], stored["seed"]
        how = (stored["optimiser"], stored["islands"], stored["first"])
        return cls.of(sender, stored["measure"], bounds, rivals, against, budget, seed, *how)

    @property
    def name(self) -> str:
        """Return the name of the search's folder: the same request has the same."""
        plain = "".join(each if each.isalnum() else "_" for each in Path(self.sender).name.removesuffix(".c"))
        return f"{plain}-{self.measure.name}-{Path(self.bounds_name).stem}-{digest(self.stored)[:8]}"

    @property
    def folder(self) -> Path:
        return paths.results() / FOLDER / self.name

    def write(self) -> None:
        """Make the folder, and store the request in it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self.folder / FILE, json.dumps(self.stored, indent=1))
