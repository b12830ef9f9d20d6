# SPDX-License-Identifier: GPL-2.0-or-later
"""The claims as a reviewer counts them: C1, C2, … per table or figure of a source; E1, E2, … per scenario."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from lab.base import paths
from lab.base.choice import choose
from lab.base.errors import COMMAND_LINE
from lab.base.named_files import scenario_files
from lab.schema.load import Strict, read_yaml
from lab.schema.scenario import Claims, Text, load_scenario, scenarios


@dataclass(frozen=True)
class Claim:
    """All rows of one table or figure that one scenario repeats."""

    number: int
    experiment: int  # of its scenario, which several claims may share
    scenario: str
    document: str
    place: str
    rows: tuple[Claims, ...]

    @property
    def name(self) -> str:
        """Return its name, such as C3."""
        return f"C{self.number}"

    @property
    def source(self) -> str:
        """Return document and place."""
        return f"{self.document}, {self.place}"

    @property
    def scenarios(self) -> list[str]:
        """Return what must run: its scenario, those that are pooled with it, and the counterfactuals."""
        pooled = (name for row in self.rows for name in row.pooled)
        tests = (one.scenario for row in self.rows for one in row.counterfactuals)
        return list(dict.fromkeys([self.scenario, *pooled, *tests]))


def numbered() -> list[Claim]:
    """Return the claims of the checkout's scenarios: in the order of these, then of their rows in the file."""
    found: list[Claim] = []
    experiments: list[str] = []
    own = [name for name in scenarios() if scenario_files()[name].parent == paths.SCENARIOS]
    for name in sorted(own):
        rows = load_scenario(name)[1].claims
        if rows:
            experiments.append(name)
        for source in dict.fromkeys(row.source for row in rows):
            document, place = source.split(", ", 1)
            of_source = tuple(row for row in rows if row.source == source)
            found.append(Claim(len(found) + 1, len(experiments), name, document, place, of_source))
    return found


def claim_of(name: str) -> Claim:
    """Return a claim by its name; UserError names all."""
    known = {each.name: each for each in numbered()}
    return known[choose("claim", name, list(known), COMMAND_LINE, "claim")]


FILE = Path(__file__).with_name("sources.yml")


class PlaceInPaper(Strict):
    """A place in a source, as sources.yml lists it."""

    place: Text
    says: Text | None = None  # of a sentence: what it states
    judged_as: Text | None = None  # where a claim has the same value
    page: Text | None = None  # the notebook that shows it
    why: Text | None = None  # it is no claim


@dataclass(frozen=True)
class Covered:
    """A place, with the claims that judge it."""

    entry: PlaceInPaper
    claims: tuple[Claim, ...]

    @property
    def how(self) -> str:
        """Return what became of it, in words; empty of a place that nothing covers."""
        names = ", ".join(f"{claim.name} ({claim.scenario})" for claim in self.claims)
        parts = (
            f"claim: {names}" if names else "",
            f"figure: analysis/{self.entry.page}.py" if self.entry.page else "",
            f"why not: {self.entry.why}" if self.entry.why else "",
        )
        return "; ".join(filter(None, parts))


def covered() -> list[Covered]:
    """Return every place of the list with its claims."""
    claims = numbered()
    return [
        Covered(entry, tuple(claim for claim in claims if claim.source in (entry.place, entry.judged_as)))
        for entry in TypeAdapter(list[PlaceInPaper]).validate_python(read_yaml(FILE))
    ]
