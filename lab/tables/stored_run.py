# SPDX-License-Identifier: GPL-2.0-or-later
"""One stored run: run.json and its whole trials."""

from functools import cached_property
from pathlib import Path
from typing import cast

from lab.base.errors import UserError
from lab.tables.records import ScenarioRecord, Stanza
from lab.tables.run_json import RunJson
from lab.tables.stored_trial import Trial, read_json


class Run:
    """A run's folder; trials are those that were stored whole."""

    def __init__(self, path: Path) -> None:
        if not (path / "run.json").is_file():
            raise UserError(f"{path}: must be a run's folder, with run.json")
        self.path = path

    @cached_property
    def meta(self) -> RunJson:
        """Return what run.json holds."""
        content: RunJson = read_json(self.path / "run.json", RunJson)
        return content

    @property
    def scenario(self) -> ScenarioRecord:
        """Return the scenario as it was when the run began."""
        return cast("ScenarioRecord", self.meta["scenario"])

    @property
    def ccas(self) -> list[Stanza]:
        """Return the stanza of each sender, in the scenario's order."""
        return cast("list[Stanza]", self.meta["ccas"])

    @property
    def complete(self) -> bool:
        """Return whether every trial is stored."""
        return bool(self.meta["complete"])

    @property
    def in_summary(self) -> bool:
        """Tell whether the first page sums it up; before 2026-11-22 its scenario had `aside`."""
        scenario = self.meta["scenario"]  # `aside` is no field of today's record
        return bool(scenario.get("in_summary", not scenario.get("aside", False)))

    @property
    def trials(self) -> list[Trial]:
        """Return every stored trial, by sender in the scenario's order and by number; without those of `faults`."""
        order = self.scenario["ccas"]
        return sorted(self._found[0], key=lambda trial: (order.index(trial.cca), trial.number))

    @property
    def faults(self) -> list[str]:
        """Return a line for each trial whose trial.json cannot be read."""
        return self._found[1]

    @property
    def cut_short(self) -> bool:
        """Return whether a trial is no longer whole."""
        return bool(self.faults) or not all(trial.is_whole for trial in self.trials)

    @property
    def _found(self) -> tuple[list[Trial], list[str]]:
        trials, faults = [], []
        for file in sorted((self.path / "trials").glob("[!.]*/trial.json")):
            trial = Trial(file.parent)
            try:
                _ = trial.meta
            except UserError as error:
                faults.append(f"{error}: --resume runs the trial again")
            else:
                trials.append(trial)
        return trials, faults
