# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetch the recordings that experiments need before they run."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from rich.console import Console

from lab.base.errors import UserError
from lab.runs.experiment import Experiment
from lab.runs.recordings import files_of, unfetched
from lab.traces.candidates import Mirror
from lab.traces.fetch import fetch


def fetch_for(experiments: Sequence[Experiment], mirror: Path | None, console: Console) -> list[str]:
    """Fetch what experiments need, and print the licences; return one line per experiment that lacks a recording."""
    place = Mirror(mirror) if mirror else None
    for _, files in groupby(files_of(experiments), key=lambda file: file.collection):
        try:
            for line in fetch(list(files), place):
                console.print(line, soft_wrap=True, markup=False)
        except UserError as error:  # this origin cannot be reached; the others may be
            console.print(str(error), soft_wrap=True, markup=False)
    lacking = [_line(each) for each in experiments if unfetched(each)]
    for line in lacking:
        console.print(line, soft_wrap=True, markup=False)
    return lacking


def _line(experiment: Experiment) -> str:
    names = " ".join(each.name for each in unfetched(experiment))
    return f"missing   {experiment.name}: not run: recordings not fetched: lab traces fetch {names}"
