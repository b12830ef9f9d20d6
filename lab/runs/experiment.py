# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario with all that it names, read and checked together; and the part of it that a run records."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lab.base.choice import suggested
from lab.base.entry_points import brought
from lab.base.errors import COMMAND_LINE, field_error
from lab.base.named_files import require_name, scenario_files, shown
from lab.links.profile import Profile, load_profile, series_of
from lab.links.tc_alone import REPLAY, require_shaper
from lab.runs.flows import Flow, flows_of, refuse_unlike
from lab.schema.cca import Cca, load_cca, search_versions
from lab.schema.load import parse
from lab.schema.scenario import Scenario, load_scenario
from lab.schema.sysctls import load_sysctls
from lab.schema.topology import Topology, load_topology
from lab.senders.named import resolved
from lab.senders.ways import way_of
from lab.tables.run_json import Requested
from lab.traces.importers import content_digest

EXPLANATIONS = ("counterfactuals", "open")  # fields of a claim, written after the run
DEFAULT_S = 30  # of a download, where nothing is stated
DEFAULTS = {"topology": "path", "trials": 3, "duration_s": DEFAULT_S, "seed": 1}
NO_TRIAL = ("campaign",)  # fields of a scenario
ADDED = ("exit_label", "exit_enters_cwr")  # fields of a sender that earlier stored runs do not have
# Fields of a sender, scenario or profile that count in a digest only with another value.
UNSET: list[tuple[str, Any]] = [
    ("module_digest", None),
    ("depends", []),
    ("transport", "tcp"),
    ("stack", None),
    ("kernel", None),
    ("workload", None),
    ("server_start_ms", 0.0),
    ("series_begin", "trial"),
    ("rival_start_s", 0.0),
    ("ecn_at_ends", False),
    ("rivals", []),
]


@dataclass(frozen=True)
class Experiment:
    """A scenario with all that it names."""

    name: str
    scenario: Scenario
    profile: Profile
    topology: Topology
    ccas: dict[str, Cca]
    rivals: Mapping[str, Cca] = field(default_factory=dict)  # senders of other downloads at the same time
    shaper: str = REPLAY  # one of SHAPERS: what replays the link
    group: str = ""  # experiments of one group may share boots; without a group only trials of one run do

    @property
    def senders(self) -> dict[str, Cca]:
        return {**self.ccas, **self.rivals}

    def flows(self, cca: Cca) -> list[Flow]:
        """Return the downloads of a trial of one sender."""
        return flows_of(self.scenario, self.topology, self.rivals, cca)

    def with_senders(self, senders: Mapping[str, Cca]) -> "Experiment":
        """Return the experiment with senders in place of those of the same names."""
        ccas, rivals = (
            {name: senders.get(name, cca) for name, cca in given.items()} for given in (self.ccas, self.rivals)
        )
        return replace(self, ccas=ccas, rivals=rivals)


def load_experiment(
    name: str, overrides: dict[str, Any] | None = None, senders: Mapping[str, Cca] | None = None
) -> Experiment:
    """Read a scenario by name or path, with the profile, topology and senders that it names.

    `senders` are those that it may name, instead of those of cca.yml.
    """
    stem, scenario = load_scenario(name, overrides)
    file = name if name.endswith(".yml") else shown(scenario_files()[name])
    return assemble(stem, scenario, file, senders=senders)


def assemble(
    name: str, scenario: Scenario, file: str, cca_field: str = "ccas", senders: Mapping[str, Cca] | None = None
) -> Experiment:
    """Read what a scenario names; errors name `file` as the place of the fields."""
    ccas = {cca: load_cca(cca, file, cca_field, senders) for cca in scenario.ccas}
    for published in scenario.published:
        load_cca(published.cca, file, "published.cca", senders)
    place = "rival" if scenario.rival else "rivals.cca"
    rivals = {entry.cca: load_cca(entry.cca, file, place, senders) for entry in scenario.beside}
    _refuse_others(scenario, [*ccas.values(), *rivals.values()], file)
    _refuse_unknown_forms(scenario, file)
    topology = load_topology(scenario.topology, file)
    if rivals and not topology.rivals:
        raise field_error(file, "topology", scenario.topology, "one with lab.rival-sender and lab.rival-receiver")
    refuse_unlike(flows_of(scenario, topology, rivals, next(iter(ccas.values())))[1:], scenario, file)
    if scenario.mtu_bytes and scenario.mtu_bytes > topology.mtu_bytes:
        rule = f"at most {topology.mtu_bytes}, the MTU of topology {scenario.topology}"
        raise field_error(file, "mtu_bytes", scenario.mtu_bytes, rule)
    largest_bytes = scenario.mtu_bytes or topology.mtu_bytes
    if scenario.size_bytes and scenario.size_bytes <= largest_bytes:
        rule = f"above {largest_bytes}, the MTU: a download's time begins with its first segment, and one has none"
        raise field_error(file, "size_bytes", scenario.size_bytes, rule)
    return Experiment(name, scenario, load_profile(scenario.profile, file), topology, ccas, rivals)


def _refuse_unknown_forms(scenario: Scenario, file: str) -> None:
    """Refuse a form of SEARCH that no package replays over the downloads; without a package nothing replays at all."""
    forms = brought("lab.replayed")
    known = [*search_versions(), *forms]
    for name in filter(None, (*scenario.replayed, *(claims.replayed for claims in scenario.claims))):
        if forms and name not in known:
            raise field_error(file, "replayed", name, f"a version of SEARCH: {suggested(name, known)}")


def _refuse_others(scenario: Scenario, senders: list[Cca], file: str) -> None:
    """Refuse a sender next to a second download, which runs over TCP, or in a workload, where it cannot be."""
    other = next((sender for sender in senders if scenario.ecn_at_ends and sender.transport != "tcp"), None)
    if other:
        raise field_error(file, "ecn_at_ends", True, f"absent with {other.name}: it is a setting of TCP")
    others, workload = ", ".join(entry.cca for entry in scenario.beside), (scenario.workload or {}).get("kind")
    for sender in senders:
        way = way_of(sender)
        if others and way.alone:
            name = "rival" if scenario.rival else "rivals"
            raise field_error(file, name, others, f"absent with {way.alone} ({sender.name})")
        if workload and not way.has_workloads:
            raise field_error(file, "workload", workload, f"absent with {way.alone} ({sender.name})")


def shaped_by(experiment: Experiment, shaper: str) -> Experiment:
    """Return the experiment with another shaper, whose runs have a folder of their own: no claim is judged by them."""
    require_shaper(shaper, experiment.profile)
    if shaper == REPLAY:
        return experiment
    return replace(experiment, name=f"{experiment.name}-{shaper}", shaper=shaper)


def specification(experiment: Experiment) -> Requested:
    """Return the experiment's part of run.json: all that it names, with a digest of each part."""
    requested: Requested = {
        "name": experiment.name,
        "scenario": experiment.scenario.model_dump(),
        "profile": experiment.profile.model_dump(),
        "topology": experiment.topology.model_dump(),
        "sysctls": load_sysctls().model_dump(),
        "ccas": [cca.model_dump() for cca in experiment.ccas.values()],
        "shaper": experiment.shaper,
        "digests": {},
    }
    stanzas = [cca.model_dump() for cca in experiment.rivals.values()]
    if experiment.scenario.rival:
        requested["rival"] = stanzas[0]
    elif stanzas:
        requested["rivals"] = stanzas
    parts = {**requested, "scenario": trial_part(requested["scenario"])}
    undigested = ("name", "digests", *(["shaper"] if experiment.shaper == REPLAY else []))  # earlier stored runs
    requested["digests"] = {name: digest(part) for name, part in parts.items() if name not in undigested}
    if recordings := _own_recordings(experiment.profile):
        requested["digests"]["recordings"] = digest(recordings)
    return requested


def _own_recordings(profile: Profile) -> dict[str, str]:
    """Digest each recording in the profile's folder: the profile has its name alone, whatever it holds today."""
    files = {series.file: profile.file.parent / series.file for _, series in series_of(profile) if series.file}
    return {name: content_digest(path) for name, path in files.items() if path.is_file()}


def trial_part(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario without the fields that decide no trial: explanations of results, and the campaign."""
    rows = [{key: row[key] for key in row if key not in EXPLANATIONS} for row in scenario.get("claims", [])]
    return {key: scenario[key] for key in scenario if key not in NO_TRIAL} | {"claims": rows}


def digest(part: Any) -> str:
    """Digest plain data, whatever the order of its keys, under the names that stored runs have."""
    return hashlib.sha256(json.dumps(first_names(part), sort_keys=True).encode()).hexdigest()[:16]


def first_names(part: Any) -> Any:
    """Return plain data with each renamed key as it was first stored, and without fields added since.

    Digests of runs before and after a renaming or an addition are equal: it changes no trial.
    """
    if isinstance(part, list):
        return [first_names(each) for each in part]
    if not isinstance(part, dict):
        return part
    kept = {key: value for key, value in part.items() if key not in ADDED and (key, value) not in UNSET}
    return dict(_first_name(key, first_names(value)) for key, value in kept.items())


def _first_name(key: str, value: Any) -> tuple[str, Any]:
    """Undo the renamings of 2026-11-22."""
    if key == "in_summary":
        return "aside", not value
    return ("tells_exit", value) if key == "reports_exit" else (key, value)


def try_link(profile: str, ccas: list[str], overrides: dict[str, Any]) -> Experiment:
    """Build `try-<profile>`, without a scenario file; overrides that are None take the defaults."""
    given = {name: value for name, value in overrides.items() if value is not None}
    ccas, senders = resolved(ccas)
    do = "does" if len(ccas) == 1 else "do"
    question = f"When {do} {', '.join(ccas)} leave slow start on link {Path(profile).stem}?"
    content = {"question": question, "profile": profile, "ccas": ccas} | DEFAULTS | given
    name = require_name(Path(profile).stem, COMMAND_LINE)
    scenario = parse(Scenario, content, Path(COMMAND_LINE))
    return assemble(f"try-{name}", scenario, COMMAND_LINE, "cca", senders)
