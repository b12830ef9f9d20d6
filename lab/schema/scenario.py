# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios: what to measure, the values that papers report, and the runs that test why ours differ."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from lab.base.choice import choose, suggested
from lab.base.errors import COMMAND_LINE, UserError, field_error
from lab.base.named_files import NAME, require_name, scenario_files, shown
from lab.schema.heuristics import DEFAULT_RULE, rule_files
from lab.schema.load import DocumentAndPlace, Real, Strict, parse, read_yaml
from lab.schema.workload import workload_of

Text = Annotated[str, Field(min_length=1)]
Pair = Annotated[list[Real], Field(min_length=2, max_length=2)]
MOST_DURATION_S = 3600
MOST_FLOWS = 64  # of a trial: tested with 32
MOST_SIZE_BYTES = 10**10 // 8 * MOST_DURATION_S  # of the fastest link, 10 Gb/s, in the longest trial

# What a source's times count from: the first data segment, or the SYN. Ours count from the SYN.
Clock = Literal["data", "syn"]
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
    "startup_ratio",
    "detection_rtts",
    "after_capacity_s",
    "download_20mb_s",
    "bins_error_points",
    "bins_suffice_pct",
    "capacity_found_pct",
    "largest_rtt_s",
    "largest_rtt_ratio",
    "rtt_cycle_hz",
    "overhead_pct",
]
Bound = Literal["at_most", "at_least"]


def each_once(what: str) -> AfterValidator:
    """Require names of which none comes twice."""

    def check(names: list[str]) -> list[str]:
        if len(set(names)) != len(names):
            raise ValueError(f"a list that names each {what} once")
        return names

    return AfterValidator(check)


class Published(Strict):
    """The values that a source reports for one sender, shown next to ours."""

    cca: str
    source: str
    clock: Clock = "data"
    trials: Annotated[int, Field(ge=1)] | None = None
    early_pct: Real | None = None
    chokepoint_pct: Real | None = None
    late_pct: Real | None = None
    capacity_s: Real | None = None
    capacity_s_sd: Real | None = None
    loss_s: Real | None = None
    loss_s_sd: Real | None = None
    exit_s: Real | None = None
    exit_s_sd: Real | None = None


class Tolerance(Strict):
    """How far a result may lie from a published one and still agree: stated here, before the run."""

    share_points: Annotated[Real, Field(gt=0)] = 10.0  # of shares, in percentage points
    relative_pct: Annotated[Real, Field(gt=0)] = 25.0  # of everything else, of the published value


class Counterfactual(Strict):
    """An explanation with the run that tests it: a scenario that is `counterfactual_of` this one."""

    scenario: Text
    because: Text  # the explanation, as a reader sees it
    moves: Annotated[list[Metric], Field(min_length=1)]  # what it predicts to move towards the published values


class Claims(Strict):
    """One row of a published table: `values` by metric, a mean or [mean, standard deviation]."""

    source: DocumentAndPlace
    row: str
    cca: str
    values: Annotated[dict[Metric, Real | Pair], Field(min_length=1)]
    replayed: str | None = None  # of a SEARCH version, replayed over the downloads of `cca`
    clock: Clock = "data"
    trials: Annotated[int, Field(ge=1)] | None = None
    # Of a sentence that states an order or a limit: our interval decides, without a tolerance.
    bound: Bound | None = None
    # A sender: the values are ratios of means, over those of its downloads of the same links.
    relative_to: str | None = None
    # Scenarios: the row is of their downloads and this one's together.
    pooled: Annotated[list[str], each_once("scenario")] = []
    not_judged: Text | None = None  # why this link cannot test the row
    # Why ours differs. Each explanation names the run that tests it: a text alone explains nothing.
    counterfactuals: list[Counterfactual] = []
    open: Text | None = None  # of a row that no run explains: what was tried, and its result

    @model_validator(mode="after")
    def _moves_something(self) -> "Claims":
        for one in self.counterfactuals:
            if not set(one.moves) & set(self.values):
                raise ValueError(f"a counterfactual that moves one of the row's values: {', '.join(self.values)}")
        return self


class Rivals(Strict):
    """Downloads by one sender beside the one under test, at the same time, each from a server of its own."""

    cca: str
    count: Annotated[int, Field(ge=1)] = 1
    start_s: Annotated[Real, Field(ge=0)] = 0.0  # how much later than the download under test they begin


class Scenario(Strict):
    """One experiment, as a question."""

    question: Annotated[str, Field(min_length=1)]
    topology: str
    profile: str
    ccas: Annotated[list[str], Field(min_length=1), each_once("sender")]
    trials: Annotated[int, Field(ge=1, le=100_000)]
    duration_s: Annotated[int, Field(ge=1, le=MOST_DURATION_S)]
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    counterfactual_of: str | None = None  # the scenario that this one repeats with something changed
    heuristic: str = DEFAULT_RULE  # the at-capacity rule that the headline follows
    published: list[Published] = []
    # As in the source. The lab does not wait: each trial begins with a kernel and a link that are new.
    pause_s: Annotated[Real, Field(ge=0)] = 0.0
    round_pause_s: Annotated[Real, Field(ge=0)] = 0.0  # after one download of each sender
    # The download ends with this many bytes, at the latest after duration_s.
    size_bytes: Annotated[int, Field(ge=1, le=MOST_SIZE_BYTES)] | None = None
    mtu_bytes: Annotated[int, Field(ge=576, le=65_520)] | None = None  # of both ends' routes; none: the wires'
    pacing: Literal["fq"] | None = None  # qdisc that paces on the senders' hosts; None: only if the sender needs one
    ecn_at_ends: bool = False  # both ends negotiate ECN (RFC 3168): a queue that can marks instead of dropping
    # What the client requests over one connection, and when: a name of lab/schema/workloads/, or its parameters.
    workload: dict[str, Any] | None = None
    rivals: list[Rivals] = []  # other downloads at the same time
    rival: Text | None = None  # of one entry of `rivals`, one download, in short: its sender
    rival_start_s: Annotated[Real, Field(ge=0)] = 0.0  # and its start
    replayed: list[str] = []  # SEARCH versions, replayed over the downloads without HyStart
    tolerance: Tolerance = Tolerance()
    claims: list[Claims] = []
    campaign: bool = False  # part of `lab reproduce`; a counterfactual takes it from its base
    in_summary: bool = True  # false: a question about the lab, not a link: left out of the first page's summary

    @field_validator("workload", mode="before")
    @classmethod
    def _whole_workload(cls, workload: Any) -> Any:
        """Return the parameters of a workload with their defaults, as a run stores them."""
        return None if workload is None else workload_of(workload).model_dump()

    @field_validator("heuristic")
    @classmethod
    def _known_rule(cls, heuristic: str) -> str:
        if heuristic not in rule_files():
            raise ValueError(f"a known at-capacity rule: {suggested(heuristic, sorted(rule_files()))}")
        return heuristic

    @model_validator(mode="after")
    def _workload_alone(self) -> "Scenario":
        for name in ("size_bytes", "rival", "rivals"):
            if self.workload and getattr(self, name):
                raise ValueError(f"a scenario without {name} where it has a workload")
        return self

    @property
    def beside(self) -> list[Rivals]:
        """Return the entries of all downloads beside the one under test."""
        return [Rivals(cca=self.rival, start_s=self.rival_start_s)] if self.rival else self.rivals

    @model_validator(mode="after")
    def _rivals_in_time(self) -> "Scenario":
        if self.rival_start_s and not self.rival:
            raise ValueError("a scenario without rival_start_s where it has no rival")
        if self.rival and self.rivals:
            raise ValueError("a scenario with rival or rivals, not with both")
        if any(entry.start_s >= self.duration_s for entry in self.beside):
            name = "rival_start_s" if self.rival else "start_s of rivals"
            raise ValueError(f"a scenario whose {name} is below its duration_s, {self.duration_s}")
        if sum(entry.count for entry in self.rivals) >= MOST_FLOWS:
            raise ValueError(f"a scenario of at most {MOST_FLOWS - 1} rivals")
        return self

    @model_validator(mode="after")
    def _claims_of_its_senders(self) -> "Scenario":
        for claims in self.claims:
            for cca in filter(None, (claims.cca, claims.relative_to)):
                if cca not in self.ccas:
                    raise ValueError(f"claims of its own senders, not of {cca}")
        return self


# A counterfactual is held to the claims of its base, by their tolerance: a file of its own cannot move them.
FIXED = ("claims", "tolerance", "published")
# Fields that may also differ, but alone make no counterfactual: they change neither the link nor the senders.
BESIDES = ("question", "ccas", "trials", "campaign", "in_summary", "counterfactual_of")


def load_scenario(name: str, overrides: dict[str, Any] | None = None) -> tuple[str, Scenario]:
    """Read a scenario by name or path; returns its name with it. Overrides that are None are ignored."""
    file = Path(name)
    if file.suffix != ".yml":
        file = _known(name, COMMAND_LINE, "scenario")
    scenario = _read(file)
    changes = {key: value for key, value in (overrides or {}).items() if value is not None}
    if changes:
        scenario = parse(Scenario, scenario.model_dump() | changes, Path(f"{shown(file)} (command line)"))
    return require_name(file.stem, shown(file)), scenario


def _known(name: str, file: str, field: str) -> Path:
    known = scenario_files()
    return known[choose("scenario", name, list(known), file, field)]


def _read(file: Path) -> Scenario:
    """Read one file; a counterfactual inherits the fields that it does not change from its base."""
    content = read_yaml(file)
    if isinstance(content, dict) and "down" in content and "question" not in content:
        rule = f"left out of a scenario: 'lab run --profile {shown(file)}' runs a link without one"
        raise field_error(shown(file), "down", "...", rule)
    base_name = content.get("counterfactual_of") if isinstance(content, dict) else None
    if base_name is None:
        return parse(Scenario, content, file)
    base = _base(str(base_name), file)
    for field in FIXED:
        if field in content:
            raise field_error(shown(file), field, "...", f"left out: a counterfactual is held to those of {base_name}")
    inherited = base.model_dump(exclude=set(FIXED))
    if not {key for key, value in content.items() if value != inherited.get(key)} - set(BESIDES):
        raise field_error(shown(file), "counterfactual_of", base_name, "followed by what differs from it")
    return parse(Scenario, inherited | content, file)


def _base(name: str, file: Path) -> Scenario:
    """Read the base of a counterfactual: a scenario in the same folder, or one of the lab's."""
    neighbour = file.parent / f"{name}.yml"
    found = neighbour if NAME.fullmatch(name) and neighbour.exists() else _known(name, shown(file), "counterfactual_of")
    content = read_yaml(found)
    if isinstance(content, dict) and "counterfactual_of" in content:
        raise field_error(shown(file), "counterfactual_of", name, "a scenario that is no counterfactual itself")
    return parse(Scenario, content, found)


def scenarios() -> list[str]:
    """Name every scenario; counterfactuals come last, because they only explain the others."""
    return sorted(scenario_files(), key=lambda name: (is_counterfactual(name), name))


def is_counterfactual(name: str) -> bool:
    """Return whether a scenario tests an explanation of another one; not of one that cannot be read."""
    try:
        return load_scenario(name)[1].counterfactual_of is not None
    except UserError:  # the command that needs its content reports it
        return False
