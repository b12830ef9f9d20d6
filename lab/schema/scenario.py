# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios: what to measure."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from lab.paths import SCENARIOS
from lab.schema.load import Strict, choose, load, names, shown

Number = Annotated[float, Field(strict=False)]
Heuristic = Literal["latency_offset", "median_throughput_1s", "median_throughput_after", "truth"]


Metric = Literal[
    "early_pct",
    "chokepoint_pct",
    "late_pct",
    "timely_pct",
    "capacity_s",
    "loss_s",
    "exit_s",
    "headroom_s",
    "throughput_mbps",
    "median_mbps",
    "exit_bitrate_mbps",
    "retransmits_pkts",
    "download_s",
    "throughput_ratio",
    "retransmits_ratio",
    "rtt_ratio",
]


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


class Tolerance(Strict):
    """How far a result may lie from a published one and still agree: stated here, before the run."""

    share_points: Annotated[Number, Field(gt=0)] = 10  # of shares, in percentage points
    relative_pct: Annotated[Number, Field(gt=0)] = 25  # of everything else, of the published value


class Claims(Strict):
    """One row of a published table: `values` by metric, a mean or [mean, standard deviation]."""

    source: Annotated[str, Field(pattern=r"^[^,]+, .+$")]  # document, then the place in it
    row: str
    cca: str
    values: Annotated[
        dict[Metric, Number | Annotated[list[Number], Field(min_length=2, max_length=2)]], Field(min_length=1)
    ]
    replayed: str | None = None  # of a SEARCH version, replayed over the downloads of `cca`
    trials: Annotated[int, Field(ge=1)] | None = None
    not_judged: str | None = None  # why this link cannot judge the row
    known: str | None = None  # what is known of why it differs


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
    # As the source had them. Nothing is waited here: each trial begins on a kernel and a link that nobody used before.
    pause_s: Annotated[Number, Field(ge=0)] = 0
    round_pause_s: Annotated[Number, Field(ge=0)] = 0  # after one download of each sender
    size_bytes: Annotated[int, Field(ge=1)] | None = (
        None  # the download ends with this many bytes, at the latest after duration_s
    )
    mtu_bytes: Annotated[int, Field(ge=576)] | None = None  # of both ends' routes; none: that of the topology's wires
    pacing: Literal["fq"] | None = None  # the qdisc of the senders' hosts that paces; none: as the sender needs
    rival: str | None = None  # the sender of a second download, from a server of its own, at the same time
    replayed: list[str] = []  # SEARCH versions, replayed over the downloads without HyStart
    tolerance: Tolerance = Tolerance()
    claims: list[Claims] = []
    aside: bool = False  # asks about the lab and not about a link: left out of what the first page sums up

    @field_validator("ccas")
    @classmethod
    def _each_once(cls, ccas: list[str]) -> list[str]:
        if len(set(ccas)) != len(ccas):
            raise ValueError("a list that names each sender once")
        return ccas

    @model_validator(mode="after")
    def _claims_of_its_senders(self) -> "Scenario":
        for claims in self.claims:
            if claims.cca not in self.ccas:
                raise ValueError(f"claims of its own senders, not of {claims.cca}")
        return self


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
