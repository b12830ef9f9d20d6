# SPDX-License-Identifier: GPL-2.0-or-later
"""One stored run: run.json and its whole trials."""

from collections.abc import Iterator
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Final, cast

from lab.base.errors import UserError, field_error
from lab.base.plain_file import require_folder
from lab.schema.cca import cca_names
from lab.tables.records import RunRecord, ScenarioRecord, Stanza, require, rivals_of
from lab.tables.run_json import RunJson
from lab.tables.stored_trial import AGAIN, Trial, read_json

OF_ITS_RUN: Final = ("scenario", "profile", "duration_s", "seed", "backend", "engine", "shaper")  # fields of a trial
MOST_IN_ALL = 1_000_000  # trials: their names are held


class Run:
    """A run's folder; trials are those that were stored whole and still are, checked at first use."""

    def __init__(self, path: Path) -> None:
        if not (path / "run.json").is_file():
            raise UserError(f"{path}: must be a run's folder, with run.json")
        self.path = path

    @classmethod
    def checked(cls, path: Path, whole: list[Trial], faulty: dict[str, str]) -> "Run":
        """Return a run whose trials another process has just checked; whole, faulty: as that found them."""
        run = cls(path)
        run.whole, run.faulty = whole, faulty
        return run

    def __getstate__(self) -> dict[str, Path]:
        """Take nothing along to another process: what that uses it reads and checks itself."""
        return {"path": self.path}

    @cached_property
    def meta(self) -> RunJson:
        """Return what run.json holds."""
        file = self.path / "run.json"
        content: RunJson = read_json(file, RunJson)
        require(content, RunRecord, file)
        for wrong in _contradictions(content):
            raise field_error(file, *wrong)
        return content

    @property
    def scenario(self) -> ScenarioRecord:
        """Return the scenario as it was when the run began."""
        return cast("ScenarioRecord", self.meta["scenario"])

    @property
    def ccas(self) -> list[Stanza]:
        """Return the stanza of each sender, in the order of cca.yml; those that it no longer has come last."""
        order = cca_names()
        stanzas = cast("list[Stanza]", self.meta["ccas"])
        return sorted(stanzas, key=lambda each: order.index(each["name"]) if each["name"] in order else len(order))

    @property
    def complete(self) -> bool:
        """Return whether every trial is stored."""
        return bool(self.meta["complete"])

    @property
    def in_summary(self) -> bool:
        """Return whether the first page sums it up."""
        return self.scenario.get("in_summary", True)

    @property
    def trials(self) -> list[Trial]:
        """Return every stored trial, by sender in the scenario's order and by number; without those of `faults`."""
        return [copy(trial) for trial in self.whole]

    def trial(self, cca: str, number: int) -> Trial | None:
        """Return one stored trial; none where it is missing or damaged."""
        require_folder(self.path / "trials")
        trial = Trial(self.path / "trials" / f"{cca}-{number:03d}")
        return trial if trial.path.is_dir() and not self.fault_of(trial) else None

    @cached_property
    def whole(self) -> list[Trial]:
        """Return `trials` themselves, with what their trial.json holds, and with no table: each copy reads its own."""
        order = self.scenario["ccas"]
        whole = [trial for trial in self._stored if trial.path.name not in self.faulty]
        return sorted(whole, key=lambda trial: (order.index(trial.cca), trial.number))

    @property
    def faults(self) -> list[str]:
        """Return a line for each trial with a missing or damaged file."""
        return [f"{fault}: {AGAIN}" for fault in self.faulty.values()]

    @property
    def missing(self) -> list[str]:
        """Return the trials that are missing or damaged; a complete run may lose one later."""
        stored, numbers = {trial.path.name for trial in self.trials}, range(1, len(self.meta["seeds"]) + 1)
        every = (f"{cca}-{number:03d}" for cca in self.scenario["ccas"] for number in numbers)
        return [name for name in every if name not in stored]

    @cached_property
    def _stored(self) -> list[Trial]:
        require_folder(self.path / "trials")
        return [Trial(folder) for folder in sorted((self.path / "trials").glob("[!.]*/"))]

    @cached_property
    def faulty(self) -> dict[str, str]:
        """Return what is wrong with each damaged trial, by the name of its folder."""
        return {trial.path.name: fault for trial in self._stored if (fault := self.fault_of(trial))}

    def fault_of(self, trial: Trial) -> str | None:
        """Return the line that names what is wrong with a trial of this run; null where all is well."""
        try:
            require_folder(trial.path)
        except UserError as error:
            return str(error)
        if fault := trial.fault:
            return fault
        return next((str(field_error(trial.path / "trial.json", *wrong)) for wrong in self._foreign(trial)), None)

    def _foreign(self, trial: Trial) -> Iterator[tuple[str, object, str]]:
        """Yield field, value and rule of what is another run's or trial's: a folder can be copied with its digests."""
        if self.scenario.get("workload") and "workload" not in trial.meta:
            yield "workload", "", "given, as the scenario has one"
        if trial.cca not in self.scenario["ccas"]:
            yield "cca", trial.cca, f"one of {', '.join(self.scenario['ccas'])}"
        if (own := f"{trial.cca}-{trial.number:03d}") != trial.path.name:
            yield "trial", trial.number, f"that of its folder: this is {own}"
        if (own := trial.meta["flows"][0]["cca"]) != trial.cca:
            yield "flows[0].cca", own, f"{trial.cca}, whose trial this is"
        others, rivals = [flow["cca"] for flow in trial.meta["flows"][1:]], rivals_of(self.scenario)
        if others != rivals:
            shown, rule = (", ".join(each) or "none" for each in (others, rivals))
            yield "rivals", shown, f"{rule}, as in run.json"
        seeds = self.meta["seeds"]
        if not 1 <= trial.number <= len(seeds):
            yield "trial", trial.number, f"from 1 to {len(seeds)}, as run.json has seeds"
            return
        scenario = {"scenario": self.meta["name"], "seed": seeds[trial.number - 1], "profile": self.scenario["profile"]}
        stated: dict[str, object] = {**self.meta["scenario"], **self.meta, **scenario}
        for name in OF_ITS_RUN:
            if (found := trial.meta[name]) != stated.get(name, found):
                yield name, found, f"{stated[name]}, as in run.json"


def _contradictions(meta: RunJson) -> Iterator[tuple[str, object, str]]:
    """Yield field, value and rule of what run.json states in two ways: a page would show one of them."""
    scenario = cast("ScenarioRecord", meta["scenario"])
    looks = {name: [each[name] for each in meta["ccas"]] for name in ("name", "label")}
    if sorted(looks["name"]) != sorted(scenario["ccas"]) or len(set(looks["name"])) < len(looks["name"]):
        yield "ccas", ", ".join(looks["name"]), f"those of the scenario, each once: {', '.join(scenario['ccas'])}"
    for label in looks["label"]:
        if looks["label"].count(label) > 1:
            yield "ccas.label", label, "of one sender"
    if scenario.get("claims") and "tolerance" not in scenario:
        yield "scenario.tolerance", "", "given where there are claims"
    seeds = len(meta["seeds"])
    if seeds != (trials := scenario.get("trials", seeds)):
        yield "seeds", f"{seeds} numbers", f"as many as there are trials: {trials}"
    if seeds * len(looks["name"]) > MOST_IN_ALL:
        yield "seeds", f"{seeds} numbers", f"at most {MOST_IN_ALL} trials of all senders"
