# SPDX-License-Identifier: GPL-2.0-or-later
"""The runs of a question: ordinary experiments, which `lab report results/questions-*/latest` shows, too."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from lab_compare.link_kinds import Link, links
from lab_papers.evaluation.search.replay import BASE
from rich.console import Console

from bench.questions.schema import FOLDER, Form, Question
from lab.base.errors import UserError
from lab.commands.prepare import prepare, run_all
from lab.judge.stored import Stored
from lab.kernel.recipe import Recipe
from lab.links.profile import load_profile
from lab.runs.experiment import Experiment, load_experiment
from lab.runs.options import RunOptions
from lab.runs.vary import at, point_name
from lab.schema.cca import Cca, load_ccas
from lab.schema.scenario import Scenario
from lab.schema.topology import load_topology
from lab.tables.stored_run import Run

SEED = 37
PREFIX = "questions-"
HERE = "bench/questions"
REPLAYED = "When would forms of SEARCH leave slow start over these downloads?"  # of one run for all that replay


@dataclass(frozen=True)
class Place:
    """Where forms are compared: a link, a point of one, or a scenario."""

    name: str
    experiment: Experiment


def places(name: str, asked: Question) -> Iterator[Place]:
    """Return the runs of a question. Downloads that are replayed belong to a link: several questions share them."""
    senders = senders_of(asked)
    for scenario in asked.scenarios:
        content = {"ccas": list(senders), "trials": asked.trials}
        own = FOLDER / "scenarios" / f"{scenario}.yml"
        experiment = load_experiment(str(own) if own.exists() else scenario, content, senders)
        yield Place(scenario, replace(experiment, name=f"{PREFIX}{name}-{scenario}"))
    for link in map(_link, asked.links):
        run = PREFIX + (link.name if asked.way in ("replayed", "window") else f"{name}-{link.name}")
        experiment = _experiment(run, asked, link, senders)
        points = [{field: f"{value:g}"} for field, values in asked.vary.items() for value in values]
        yield from ([_point(experiment, link.name, each) for each in points] or [Place(link.name, experiment)])


def senders_of(asked: Question) -> dict[str, Cca]:
    """Return what runs: the forms as senders of their own, or a download without HyStart to be replayed."""
    known = load_ccas()
    if asked.way in ("replayed", "window"):
        return {BASE: known[BASE]}
    return {name: _sender(name, form, known) for name, form in asked.forms.items()}


def _sender(name: str, form: Form, known: Mapping[str, Cca]) -> Cca:
    stanza = known[form.sender]
    return (
        stanza.model_copy(update={"name": name, "params": {**stanza.params, **form.params}}) if form.params else stanza
    )


def _link(name: str) -> Link:
    own = FOLDER / "profiles" / f"{name}.yml"
    (found,) = links([str(own) if own.exists() else name])
    return found


def _experiment(run: str, asked: Question, link: Link, senders: dict[str, Cca]) -> Experiment:
    shared = asked.way in ("replayed", "window")
    scenario = Scenario(
        question=REPLAYED if shared else asked.question,
        topology="path",
        profile=link.profile,
        ccas=list(senders),
        trials=asked.trials,
        duration_s=asked.duration_s or link.duration_s,
        seed=SEED,
        mtu_bytes=link.mtu_bytes,
        pacing=link.pacing,
        in_summary=False,
    )
    return Experiment(run, scenario, load_profile(link.profile, HERE), load_topology("path", HERE), senders)


def _point(experiment: Experiment, link: str, texts: dict[str, str]) -> Place:
    (shown,) = (f"{link}, {field} {text}" for field, text in texts.items())
    return Place(shown, replace(at(experiment, texts), name=point_name(experiment.name, texts)))


def run(wanted: list[Place], console: Console) -> dict[str, Stored]:
    """Run what is missing; return each place's judged run. A trial without a result is named."""
    made = (place.experiment for place in wanted)
    runs = run_all(made, prepare(Recipe(), console), RunOptions(keep_capture=False), console)
    for line in (line for each in runs for line in each.failures):
        console.print(line, markup=False)
    if not runs:
        raise UserError("questions: trials: must have a result")
    folders = {each.experiment.name: each.folder for each in runs}
    return {place.name: Stored.of(Run(folders[place.experiment.name])) for place in wanted}
