# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetch the recordings that experiments need before they run."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from lab_formats.fetching.candidates import Mirror
from lab_formats.fetching.download import Unreachable
from lab_formats.fetching.fetch import fetch
from rich.console import Console

from lab.base.errors import UserError
from lab.commands.lines import say
from lab.runs.experiment import Experiment
from lab.runs.stand_ins import lack_of, stand_in_of, unfetched
from lab.traces.datasets import Dataset


def fetch_for(experiments: Sequence[Experiment], mirror: Path | None, console: Console) -> list[str]:
    """Fetch what experiments need, and print the licences; return one line per experiment that lacks a recording.

    All origins are on one server: where it cannot be reached, no other file is requested.
    """
    place = Mirror(mirror) if mirror else None
    for _, files in groupby(_files_of(experiments), key=lambda file: file.collection):
        try:
            for line in fetch(list(files), place):
                say(console, line)
        except Unreachable as error:
            say(console, str(error))
            break
        except UserError as error:  # these files are not there; those of other collections may be
            say(console, str(error))
    lacking = [_line(each, lack) for each in experiments if (lack := lack_of(each))]
    for line in lacking:
        say(console, line)
    return lacking


def _files_of(experiments: Iterable[Experiment]) -> list[Dataset]:
    """Return the files to fetch for experiments, those of a collection together; none that has no licence."""
    files = {file.name: file for each in experiments for one in unfetched(each) for file in one.files}
    licensed = [file for file in files.values() if file.origin.may_be_passed_on]
    return sorted(licensed, key=lambda file: file.collection)


def as_run(experiment: Experiment) -> Experiment | None:
    """Return the run over the stand-in, which no claim is judged by; none where nothing stands in."""
    profile = stand_in_of(experiment.profile)
    if profile is None or experiment.scenario.counterfactual_of:
        return None
    name = profile.file.stem
    scenario = experiment.scenario.model_copy(update={"profile": name, "claims": [], "published": []})
    return replace(experiment, name=f"{experiment.name}-on-{name}", scenario=scenario, profile=profile)


def _line(experiment: Experiment, lack: str) -> str:
    stand_in = as_run(experiment)
    instead = f"; {stand_in.name}, over a modelled link, runs instead: no claim is judged by it" if stand_in else ""
    return f"missing   {experiment.name}: not run: {lack}{instead}"
