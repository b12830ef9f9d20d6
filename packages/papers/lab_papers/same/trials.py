# SPDX-License-Identifier: GPL-2.0-or-later
"""The trials of lab/same.yml, as jobs."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from lab.backends.backend import Backend
from lab.base.errors import field_error
from lab.base.named_files import shown
from lab.base.paths import LAB
from lab.links.profile import Profile, load_profile
from lab.runs.experiment import Experiment
from lab.runs.trial import Job
from lab.schema.cca import load_cca, load_ccas
from lab.schema.load import Strict, load, parse
from lab.schema.scenario import Scenario
from lab.schema.topology import load_topology

FILE = LAB / "same.yml"
QUESTION = "Does every machine give the same packets?"
WAYS = ("down", "up")
Fields = dict[str, Any]


class Same(Strict):
    """lab/same.yml: the seeds, a link, and the runs."""

    trials: Annotated[int, Field(ge=1)]
    seed: int
    link: Fields
    runs: dict[str, "Run"]


class Run(Strict):
    """Some trials of the same link: fields of a scenario, and how its link differs from the common one."""

    ccas: list[str] | Literal["all"]
    duration_s: int
    topology: str = "path"
    profile: str | None = None
    rival: str | None = None
    size_bytes: int | None = None
    mtu_bytes: int | None = None
    pacing: str | None = None
    down: Fields = {}
    up: Fields = {}


def jobs(backend: Backend, folder: Path, of: Iterable[Experiment]) -> list[Job]:
    """Return every trial of experiments as a job below a folder; its parent's name and its own name it."""
    return [
        Job(experiment, cca, number, folder / experiment.name / f"{cca}-{number:03d}", backend, keep_capture=False)
        for experiment in of
        for cca in experiment.scenario.ccas
        for number in range(1, experiment.scenario.trials + 1)
    ]


def name_of(job: Job) -> str:
    """Return the name of a trial in the reference."""
    return f"{job.folder.parent.name}/{job.folder.name}"


def experiments(file: Path = FILE) -> Iterator[Experiment]:
    """Read the runs."""
    same = load(Same, file)
    for name, run in same.runs.items():
        yield _experiment(name, run, same, file)


def _experiment(name: str, run: Run, same: Same, file: Path) -> Experiment:
    fields = run.model_dump(exclude_none=True, exclude={"ccas", "profile", *WAYS})
    names = list(load_ccas()) if run.ccas == "all" else run.ccas
    content = {"question": QUESTION, "trials": same.trials, "seed": same.seed, "profile": run.profile or name}
    scenario = parse(Scenario, content | fields | {"ccas": names}, file)
    ccas = {cca: load_cca(cca, shown(file), f"runs.{name}.ccas") for cca in names}
    rivals = {run.rival: load_cca(run.rival, shown(file), f"runs.{name}.rival")} if run.rival else {}
    topology = load_topology(scenario.topology, shown(file))
    link = _link(name, run, same, file)
    return Experiment(name, scenario, link, topology, ccas, rivals, group=f"same-{run.topology}")


def _link(name: str, run: Run, same: Same, file: Path) -> Profile:
    if run.profile is None:
        return parse(Profile, same.link | {way: same.link[way] | getattr(run, way) for way in WAYS}, file)
    if run.down or run.up:
        raise field_error(shown(file), f"runs.{name}.profile", run.profile, "left out where down or up is given")
    return load_profile(run.profile, shown(file))
