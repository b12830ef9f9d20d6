# SPDX-License-Identifier: GPL-2.0-or-later
"""One stored run: run.json and its whole trials."""

from functools import cached_property
from pathlib import Path
from typing import Any

from lab.errors import UserError
from lab.store.trial import Trial, read_json


class Run:
    """A run's folder; trials are those that were stored whole."""

    def __init__(self, path: Path) -> None:
        if not (path / "run.json").is_file():
            raise UserError(f"{path}: must be a run's folder, with run.json")
        self.path = path

    @cached_property
    def meta(self) -> dict[str, Any]:
        """What run.json holds."""
        return read_json(self.path / "run.json")

    @property
    def complete(self) -> bool:
        return bool(self.meta["complete"])

    @property
    def trials(self) -> list[Trial]:
        """Every whole trial, by sender in the scenario's order and number."""
        order = self.meta["scenario"]["ccas"]
        found = [Trial(file.parent) for file in (self.path / "trials").glob("[!.]*/trial.json")]
        return sorted(found, key=lambda trial: (order.index(trial.cca), trial.number))
