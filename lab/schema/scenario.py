# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios: what to measure."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from lab.paths import SCENARIOS
from lab.schema.load import Strict, choose, load, names, shown

Number = Annotated[float, Field(strict=False)]
Heuristic = Literal["latency_offset", "median_throughput_1s", "median_throughput_after", "truth"]


class Published(Strict):
    """What a source reports of one sender, to stand beside ours."""

    cca: str
    source: str
    trials: Annotated[int, Field(ge=1)] | None = None
    early_pct: Number | None = None
    chokepoint_pct: Number | None = None
    late_pct: Number | None = None
    capacity_s: Number | None = None
    capacity_s_sd: Number | None = None
    loss_s: Number | None = None
    loss_s_sd: Number | None = None
    exit_s: Number | None = None
    exit_s_sd: Number | None = None


class Scenario(Strict):
    """One experiment, as a question."""

    question: Annotated[str, Field(min_length=1)]
    topology: str
    profile: str
    ccas: Annotated[list[str], Field(min_length=1)]
    trials: Annotated[int, Field(ge=1, le=100_000)]
    duration_s: Annotated[int, Field(ge=1, le=3600)]
    seed: Annotated[int, Field(ge=0)]
    heuristic: Heuristic = "latency_offset"  # the at-capacity rule that the headline follows
    published: list[Published] = []

    @field_validator("ccas")
    @classmethod
    def _each_once(cls, ccas: list[str]) -> list[str]:
        if len(set(ccas)) != len(ccas):
            raise ValueError("a list that names each sender once")
        return ccas


def load_scenario(name: str, overrides: dict[str, Any] | None = None) -> tuple[str, Scenario]:
    """Read a scenario by name or path; returns its name with it. Overrides that are None are ignored."""
    file = Path(name)
    if file.suffix != ".yml":
        file = SCENARIOS / f"{choose('scenario', name, names(SCENARIOS, '*.yml'), 'command line', 'scenario')}.yml"
    scenario = load(Scenario, file)
    changes = {key: value for key, value in (overrides or {}).items() if value is not None}
    if changes:
        from lab.schema.load import parse

        scenario = parse(Scenario, scenario.model_dump() | changes, Path(f"{shown(file)} (command line)"))
    return file.stem, scenario
