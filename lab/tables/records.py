# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of run.json and trial.json that judging and reporting read, in the fields of the models of lab/schema/."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict


class Stanza(TypedDict):
    """A sender's stanza of cca.yml, as far as tables and figures need it."""

    name: str
    label: str
    colour: str
    marker: str
    linestyle: str


class CounterfactualRecord(TypedDict):
    """An explanation, with the scenario that tests it and the metrics that it predicts to move."""

    scenario: str
    because: str
    moves: Sequence[str]


class ClaimRecord(TypedDict):
    """One row of a paper's table; a value is a mean, or a mean with its standard deviation."""

    source: str
    row: str
    cca: str
    values: Mapping[str, float | Sequence[float]]
    replayed: NotRequired[str | None]
    clock: NotRequired[str]
    trials: NotRequired[int | None]
    not_judged: NotRequired[str | None]
    counterfactuals: NotRequired[Sequence[CounterfactualRecord]]
    open: NotRequired[str | None]


class Explanations(TypedDict):
    """What a scenario's file may add to a claim after the run."""

    counterfactuals: Sequence[CounterfactualRecord]
    open: str | None


class ToleranceRecord(TypedDict):
    """How far a result may lie from a published one: percentage points of shares, percent of everything else."""

    share_points: float
    relative_pct: float


class ScenarioRecord(TypedDict, total=False):
    """A scenario as run.json holds it; an older run may lack a field that has a default."""

    question: str
    profile: str
    ccas: Sequence[str]
    trials: int
    heuristic: str
    counterfactual_of: str | None
    claims: Sequence[ClaimRecord]
    published: Sequence[Mapping[str, str | float | None]]
    tolerance: ToleranceRecord
    rival: str | None
    in_summary: bool
