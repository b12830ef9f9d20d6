# SPDX-License-Identifier: GPL-2.0-or-later
"""What becomes of every table, figure and numbered sentence of the sources: a claim, a figure, or why neither."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from lab.schema.load import Strict, read_yaml
from lab.schema.scenario import Text
from lab_papers.evaluation.claims.numbered import Claim, numbered

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
