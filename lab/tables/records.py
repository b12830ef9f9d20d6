# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of run.json and trial.json that judging and reporting read, in the fields of the models of lab/schema/."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NotRequired, Required

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # before Python 3.12 pydantic reads this one only

from lab.base.errors import field_error
from lab.schema.cca import Colour, Label, LineStyle, Marker, Name
from lab.schema.load import DocumentAndPlace, rule_of

MOST_TRIALS, MOST_FLOWS = 100_000, 64  # those of lab/schema/scenario.py


class Stanza(TypedDict):
    """A sender's stanza of cca.yml, as far as tables and figures need it."""

    name: Name
    label: Label
    colour: Colour
    marker: Marker
    linestyle: LineStyle


class CounterfactualRecord(TypedDict):
    """An explanation, with the scenario that tests it and the metrics that it predicts to move."""

    scenario: str
    because: str
    moves: Sequence[str]


class ClaimRecord(TypedDict):
    """One row of a paper's table; a value is a mean, or a mean with its standard deviation."""

    source: DocumentAndPlace
    row: str
    cca: str
    values: Mapping[str, float | Annotated[Sequence[float], Field(min_length=2, max_length=2)]]
    replayed: NotRequired[str | None]
    clock: NotRequired[str]
    trials: NotRequired[int | None]
    bound: NotRequired[str | None]
    relative_to: NotRequired[str | None]
    pooled: NotRequired[Sequence[str]]
    not_judged: NotRequired[str | None]
    counterfactuals: NotRequired[Sequence[CounterfactualRecord]]
    open: NotRequired[str | None]


def is_measured(claim: ClaimRecord) -> bool:
    """Return whether a row holds what was measured of one sender on one link: no order, no limit, no total."""
    return not (claim.get("bound") or claim.get("relative_to") or claim.get("pooled"))


class ToleranceRecord(TypedDict):
    """How far a result may lie from a published one: percentage points of shares, percent of everything else."""

    share_points: float
    relative_pct: float


class PublishedRecord(TypedDict, extra_items=float | None):  # type: ignore[call-arg]
    """The values that a source reports for one sender: numbers by metric."""

    cca: str
    source: str
    clock: NotRequired[str]


class RivalRecord(TypedDict):
    """Some downloads beside those under test."""

    cca: str
    count: Annotated[int, Field(ge=1, le=MOST_FLOWS)]
    start_s: NotRequired[float]


class ScenarioRecord(TypedDict, total=False):
    """A scenario as run.json holds it; an older run may lack a field that has a default."""

    question: Required[str]
    profile: Required[str]
    ccas: Required[Sequence[Name]]
    trials: Annotated[int, Field(le=MOST_TRIALS)]
    heuristic: str
    counterfactual_of: str | None
    claims: Sequence[ClaimRecord]
    published: Sequence[PublishedRecord]
    tolerance: ToleranceRecord
    rival: str | None
    rivals: Sequence[RivalRecord]
    replayed: Sequence[str]
    workload: Mapping[str, str | float] | None
    in_summary: bool


def beside(scenario: ScenarioRecord) -> str:
    """Name what downloads beside those under test: its sender, or senders with their counts; empty: nothing does."""
    entries = (f"{entry['count']} {entry['cca']}" for entry in scenario.get("rivals", ()))
    return scenario.get("rival") or ", ".join(entries)


def rivals_of(scenario: ScenarioRecord) -> list[str]:
    """Return the sender of each download beside those under test, in their order."""
    one = scenario.get("rival")
    entries = [RivalRecord(cca=one, count=1)] if one else scenario.get("rivals", ())
    return [entry["cca"] for entry in entries for _ in range(entry["count"])]


class ProfileRecord(TypedDict, total=False):
    """A profile as run.json holds it."""

    title: str
    recorded: Sequence[str]
    published: Sequence[str]
    assumed: Sequence[str]
    down: Mapping[str, Any]
    up: Mapping[str, Any]


class RunRecord(TypedDict):
    """The parts of run.json that come from a user's files."""

    name: Name
    scenario: ScenarioRecord
    profile: ProfileRecord
    ccas: Annotated[Sequence[Stanza], Field(min_length=1)]


@cache
def _adapter(record: Any) -> TypeAdapter[Any]:
    return TypeAdapter(record)


def require(content: Any, record: Any, file: Path) -> None:
    """Raise UserError where plain data breaks a record: one line that names the first field. More is allowed."""
    try:
        _adapter(record).validate_python(content, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise field_error(file, field, first["input"], rule_of(first)) from None
