# SPDX-License-Identifier: GPL-2.0-or-later
"""All scenarios, profiles, topologies and senders of the lab."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from lab.base.choice import choose
from lab.base.errors import COMMAND_LINE, Faults, UserError, field_error
from lab.base.named_files import profile_files, scenario_files, shown, topology_files
from lab.judge.registry import rules
from lab.links.faults import cautions, faults, is_fetched, too_short
from lab.links.profile import load_profile
from lab.runs.experiment import DEFAULT_S, load_experiment
from lab.schema.cca import load_senders
from lab.schema.scenario import Scenario, load_scenario, scenarios
from lab.schema.sysctls import load_sysctls
from lab.schema.topology import RIVALS, ROLES, SHAPES, load_topology, role_faults
from lab.traces.datasets import datasets


def require_named(name: str, scenario: Scenario) -> None:
    """Refuse claims pooled with no other scenario, and an explanation whose scenario is no counterfactual of this."""
    known = scenario_files()
    file, field = shown(known[name]), "claims.counterfactuals.scenario"
    others = [other for other in known if other != name]
    for row in scenario.claims:
        for pooled in row.pooled:
            choose("scenario", pooled, others, file, "claims.pooled")
        for one in row.counterfactuals:
            choose("scenario", one.scenario, list(known), file, field)
            if load_scenario(one.scenario)[1].counterfactual_of != name:
                raise field_error(file, field, one.scenario, f"a scenario with counterfactual_of: {name}")


def _scenario(name: str) -> str:
    _, scenario = load_scenario(name)
    base = f"(counterfactual of {scenario.counterfactual_of}) " if scenario.counterfactual_of else ""
    return f"{base}{scenario.question}"


KINDS: dict[str, tuple[Callable[[], Iterable[str]], Callable[[str], str]]] = {
    "scenarios": (scenarios, _scenario),
    "profiles": (profile_files, lambda name: load_profile(name, "lab list").title),
    "topologies": (topology_files, lambda name: " - ".join(load_topology(name, "lab list", False).topology.nodes)),
    "senders": (load_senders, lambda name: load_senders()[name].label),
}  # the names of a kind, and the sentence of a name


def names_by_kind() -> dict[str, list[str]]:
    """Return the names of every kind, as `lab list` groups them."""
    return {kind: list(names()) for kind, (names, _) in KINDS.items()}


def described(kind: str) -> list[tuple[str, str]]:
    """Return each name of a kind with its sentence; UserError where there is no such kind."""
    names, sentence_of = KINDS[choose("kind", kind, list(KINDS), COMMAND_LINE, "kind")]
    return [(name, sentence_of(name)) for name in names()]


def check_all() -> Iterator[str]:
    """Load everything and open what profiles name; yield cautions, then the counts. Faults names all that is wrong."""
    load_sysctls()
    ccas, heuristics = load_senders(), rules()
    found: list[UserError] = []
    for name in profile_files():
        with _kept(found):
            yield from _checked_profile(name, found)
    for name in topology_files():
        with _kept(found):
            yield from _checked_topology(name, found)
    for name in scenarios():
        with _kept(found):
            found += _scenario_faults(name)
    if found:
        raise Faults(found)
    yield (
        f"{len(scenarios())} scenarios, {len(profile_files())} profiles, {len(topology_files())} topologies, "
        f"{len(ccas)} senders, {len(heuristics)} at-capacity rules, "
        f"{len(datasets())} recordings: all good"
    )


@contextmanager
def _kept(found: list[UserError]) -> Iterator[None]:
    """Keep an error of the block, and go on behind it."""
    try:
        yield
    except UserError as error:
        found.append(error)


def _checked_topology(name: str, found: list[UserError]) -> Iterator[str]:
    """Read a topology; yield what was passed over. A containerlab file without any label of the lab is none yet."""
    topology = load_topology(name, "lab check", labelled=False)
    if topology.note:
        yield f"note: {topology.note}"
    wrong = role_faults(topology)
    if any(map(topology.labelled, (*ROLES, *RIVALS, *SHAPES))):
        found += wrong
    else:
        yield from (f"caution: no trial can run over it: {error}" for error in wrong)


def _checked_profile(name: str, found: list[UserError]) -> Iterator[str]:
    """Load a profile and its recordings; yield cautions."""
    profile = load_profile(name, "lab check")
    wrong = list(faults(profile))
    found += wrong
    if wrong:
        return
    yield from (f"caution: {words}" for words in cautions(name, profile))
    if is_fetched(profile) and (error := too_short(profile, DEFAULT_S)):
        yield f"caution: {error}: that is a trial of 'lab run --profile {name}' without --duration"


def _scenario_faults(name: str) -> list[UserError]:
    """Load a scenario with all that it names; return why its link is too short."""
    experiment = load_experiment(name)
    require_named(name, experiment.scenario)
    if not is_fetched(experiment.profile):
        return []
    error = too_short(experiment.profile, experiment.scenario.duration_s)
    return [error] if error else []
