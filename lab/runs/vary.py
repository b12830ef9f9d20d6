# SPDX-License-Identifier: GPL-2.0-or-later
"""A sweep: one experiment for each point of a grid over fields of the profile, topology, scenario, or a sender.

A point has a name of its own, made of the fields and their values: a point that is stored is found by it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from lab.backends.backend import Site
from lab.base.choice import names, suggested
from lab.base.errors import Faults, field_error
from lab.base.named_files import require_name
from lab.links.profile import OWN, Profile
from lab.runs import run_folder
from lab.runs.estimate import about
from lab.runs.experiment import Experiment, assemble, shaped_by
from lab.runs.find_run import FindRun, of_same_code
from lab.runs.reuse import reuse
from lab.schema.cca import Cca, load_senders
from lab.schema.load import parse, parse_yaml
from lab.schema.scenario import Scenario
from lab.schema.topology import Topology, graph_faults, role_faults
from lab.senders.ways import way_of

OPTION = "--vary"
FILE = Path(OPTION)
MOST_FIELDS = 2  # a page shows curves over one, a heat map over two
MOST_POINTS = 200
OF_SCENARIO = (
    *"topology profile duration_s seed size_bytes mtu_bytes pacing".split(),
    *"ecn_at_ends workload rivals rival rival_start_s".split(),
)
OF_PROFILE = tuple(name for name in Profile.model_fields if name not in OWN)
# Of a base, and no point: what a paper states of the base is not true of a link that was changed.
UNCLAIMED: Mapping[str, Any] = {
    "claims": [],
    "published": [],
    "counterfactual_of": None,
    "campaign": False,
    "in_summary": False,
}
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
Values = Mapping[str, Any]  # of each field


@dataclass(frozen=True)
class Axis:
    """A field with the values that it takes, as they were written."""

    field: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Point:
    """One point of the grid."""

    texts: Mapping[str, str]  # by field
    experiment: Experiment


def axes_of(given: Sequence[str]) -> list[Axis]:
    """Read each FIELD=a,b,c; UserError where a field or a value stands twice, or there are too many points."""
    axes = [_axis(text) for text in given]
    for number, axis in enumerate(axes):
        if axis.field in [other.field for other in axes[:number]]:
            raise field_error(OPTION, axis.field, ",".join(axis.texts), "given once, with all its values")
    if len(axes) > MOST_FIELDS:
        raise field_error(OPTION, "fields", len(axes), f"at most {MOST_FIELDS}: a page shows curves or a heat map")
    return sorted(axes, key=lambda axis: axis.field)


def _axis(given: str) -> Axis:
    field, equals, values = given.partition("=")
    texts = tuple(names(values))
    if not equals or not field or not all(texts):
        raise field_error(OPTION, field or "field", values, "FIELD=a,b,c, such as down.delay_ms=20,50,100")
    read = tuple(parse_yaml(text, OPTION) for text in texts)
    plain = [float(value) if NUMBER.fullmatch(str(value)) else value for value in read]  # YAML 1.1 reads 1e2 as a text
    for number, (text, value) in enumerate(zip(texts, read, strict=True)):
        if value is None or isinstance(value, dict | list):
            raise field_error(OPTION, field, text, "a number or a name")
        if plain[number] in plain[:number]:
            raise field_error(OPTION, field, text, "each value once")
    return Axis(field.strip(), texts)


def points_of(base: Experiment, axes: Sequence[Axis], minutes: float) -> list[Point]:
    """Return the points of the grid, each of which takes `minutes`; without axes the base alone."""
    require_few(axes, base.scenario.trials * len(base.ccas), minutes)
    if not axes:
        return [Point({}, base)]
    return [Point(texts, replace(at(base, texts), name=name)) for name, texts in cells(base.name, axes).items()]


def require_few(axes: Sequence[Axis], trials: int, minutes: float, links: int = 1) -> None:
    """Refuse a grid of too many points, each of so many trials and minutes on each link."""
    count = links * prod(len(axis.texts) for axis in axes)
    if axes and count > MOST_POINTS:
        rule = f"at most {MOST_POINTS}: these are {count * trials} trials, {about(count * minutes)}"
        raise field_error(OPTION, "points", count, rule)


def cells(base: str, axes: Sequence[Axis]) -> dict[str, dict[str, str]]:
    """Return the values of each point by field, as they were written, by the point's name: a run is found by it."""
    points = [
        dict(zip([axis.field for axis in axes], texts, strict=True)) for texts in product(*[a.texts for a in axes])
    ]
    named = {point_name(base, texts): texts for texts in points}
    for texts in points:
        if (other := named[name := point_name(base, texts)]) != texts:
            field = next(field for field in texts if other[field] != texts[field])
            rule = f"written otherwise: with {other[field]}, too, the run is {name}"
            raise field_error(OPTION, field, texts[field], rule)
    return named


def point_name(base: str, texts: Mapping[str, str]) -> str:
    """Return the name of a point: that of its base, and its fields."""
    parts = (re.sub(r"[^A-Za-z0-9_.-]", "-", f"{field}-{text}") for field, text in texts.items())
    return require_name("-".join((base, *parts)), OPTION)


def at(base: Experiment, texts: Mapping[str, str]) -> Experiment:
    """Return an experiment with other values of some fields; no claim is of it."""
    values = {field: parse_yaml(text, OPTION) for field, text in texts.items()}
    point = _with_scenario(base, {field: value for field, value in values.items() if _is_of_scenario(field)})
    for field, value in values.items():
        if not _is_of_scenario(field):
            point = _with(point, field, value)
    return replace(point, scenario=point.scenario.model_copy(update=UNCLAIMED))


def _is_of_scenario(field: str) -> bool:
    """Return whether a field is of the scenario: `topology` names a file, `topology.links.0.mtu` is a field of it."""
    return field.partition(".")[0] in OF_SCENARIO and not field.startswith("topology.")


def _with_scenario(experiment: Experiment, values: Values) -> Experiment:
    """Return an experiment with other fields of its scenario, all at once: a rival needs its topology."""
    if not values:
        return experiment
    content = experiment.scenario.model_dump()
    if any(field.startswith("rivals.") for field in values):  # of the short form, too
        entries = [entry.model_dump() for entry in experiment.scenario.beside]
        content |= {"rivals": entries, "rival": None, "rival_start_s": 0.0}
    for field, value in values.items():
        content = _changed(content, field, value)
    scenario, known = parse(Scenario, content, FILE), load_senders() | experiment.senders
    return shaped_by(assemble(experiment.name, scenario, OPTION, senders=known), experiment.shaper)


def _with(experiment: Experiment, field: str, value: Any) -> Experiment:
    """Return an experiment with another value of a field, checked by the field's own rule."""
    first, _, rest = field.partition(".")
    if first in experiment.senders and rest:
        return _with_parameter(experiment, first, rest, value)
    if first in OF_PROFILE:
        profile = parse(Profile, _changed(experiment.profile.model_dump(), field, value), FILE)
        profile._file = experiment.profile.file
        return replace(experiment, profile=profile)
    if first == "topology":
        topology = parse(Topology, _changed(experiment.topology.model_dump(by_alias=True), field, value), FILE)
        topology._file = experiment.topology.file
        if wrong := graph_faults(topology, FILE) or role_faults(topology):
            raise Faults(wrong)
        return replace(experiment, topology=topology)
    known = [*OF_PROFILE, *OF_SCENARIO, *(f"{name}.PARAMETER" for name in experiment.senders)]
    rule = f"a field of profile, topology, scenario or sender: {suggested(field, known)}"
    raise field_error(OPTION, field, value, rule)


def _with_parameter(experiment: Experiment, sender: str, name: str, value: Any) -> Experiment:
    """Return an experiment with another parameter of a sender; its code tells which there are."""
    cca = experiment.senders[sender]
    if not way_of(cca).has_parameters(cca):
        raise field_error(OPTION, f"{sender}.{name}", value, "a parameter of a sender that has some")
    changed = parse(Cca, cca.model_dump() | {"params": {**cca.params, name: value}}, FILE)
    return experiment.with_senders({sender: changed})


def _changed(content: dict[str, Any], field: str, value: Any) -> dict[str, Any]:
    """Return plain data with another value of a field; UserError where the place is in none."""
    content = deepcopy(content)
    *way, last = field.split(".")
    here: Any = content
    for part in way:
        here = here[int(part)] if _is_place(here, part) else here.get(part) if isinstance(here, dict) else None
    if _is_place(here, last):
        here[int(last)] = value
    elif isinstance(here, dict):
        here[last] = value
    else:
        raise field_error(OPTION, field, value, "a field that this experiment has")
    return content


def _is_place(here: Any, part: str) -> bool:
    return isinstance(here, list) and part.isdigit() and int(part) < len(here)


def stored_or_new(keep_capture: bool) -> FindRun:
    """Return what finds the run of a point, or opens one with the trials that earlier runs of the point have."""

    def find(experiment: Experiment, site: Site) -> Path:
        stored = of_same_code(experiment, site)
        if stored is not None:
            return stored
        folder = run_folder.create(experiment, site)
        with run_folder.locked(folder):
            reuse(experiment, folder, site, keep_capture)
        return folder

    return find


def require_parameters(points: Iterable[Mapping[str, str]], known: Mapping[str, Sequence[str]]) -> None:
    """Refuse a parameter that a sender has not: the kernel would load its module without it."""
    for texts in points:
        for field, text in texts.items():
            sender, _, name = field.partition(".")
            if sender in known and name not in known[sender]:
                raise field_error(OPTION, field, text, f"a parameter of {sender}: {suggested(name, known[sender])}")
