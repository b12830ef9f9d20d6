# SPDX-License-Identifier: GPL-2.0-or-later
"""The results folder as pages and notebooks see it: the fullest run of each scenario, judged."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from lab.base.errors import UserError
from lab.judge.classify import ExitClass
from lab.judge.judged import Judged, each_judged
from lab.tables.fullest_run import fullest_run
from lab.tables.records import Stanza, is_measured
from lab.tables.stored_run import Run

LATEST = "latest"


@dataclass(frozen=True)
class Stored:
    """A scenario's run with the outcomes of its trials."""

    name: str
    run: Run
    judged: Judged

    @classmethod
    def of(cls, run: Run) -> "Stored":
        """Judge a run; its name is its scenario's folder."""
        (found,) = cls.each_of([run])
        return found

    @classmethod
    def each_of(cls, runs: Collection[Run], keep: bool = True) -> Iterator["Stored"]:
        """Judge runs, all by the same processes."""
        for run, found in zip(runs, each_judged(runs, keep), strict=True):
            yield cls(run.path.resolve().parent.name, run, found)

    @property
    def ccas(self) -> list[Stanza]:
        """The stanzas of its senders, in the order of cca.yml."""
        return list(self.run.ccas)

    @property
    def counterfactual_of(self) -> str | None:
        """The scenario that this run repeats with something changed; null where it is one of its own."""
        base: str | None = self.run.scenario.get("counterfactual_of")
        return base

    def label(self, cca: str) -> str:
        """How a sender is called."""
        return next(str(stanza["label"]) for stanza in self.ccas if stanza["name"] == cca)

    def published_pct(self, cca: str) -> dict[str, float | None]:
        """Return the shares of a sender's exits that a paper gives for this scenario; null where none does."""
        scenario = self.run.scenario
        rows: list[Mapping[str, str | float | Sequence[float] | None]] = [
            dict(claim["values"])
            for claim in scenario.get("claims", [])
            if claim["cca"] == cca and not claim.get("replayed") and is_measured(claim)
        ]
        rows += [row for row in scenario.get("published", []) if row["cca"] == cca]
        given = next((row for row in rows if row.get("chokepoint_pct") is not None), {})
        first = {zone: given.get(f"{zone}_pct") for zone in map(str, ExitClass)}
        return {
            zone: cast("float | None", value[0] if isinstance(value, list) else value) for zone, value in first.items()
        }

    @property
    def link(self) -> str:
        """How its link is called."""
        return str(self.run.meta["profile"].get("title") or self.run.scenario["profile"])

    @property
    def run_name(self) -> str:
        """Name the run: its scenario and when it began."""
        return f"{self.name}, {self.run.path.resolve().name}"


def stored(results: Path, names: Iterable[str] | None = None, keep: bool = True) -> tuple[list[Stored], list[str]]:
    """Every scenario's fullest run (or of those named), and a line for each that cannot be read."""
    runs, faults = fullest_runs(results, names)
    return list(Stored.each_of(runs.values(), keep)), faults


def fullest_runs(results: Path, names: Iterable[str] | None = None) -> tuple[dict[Path, Run], list[str]]:
    """Return the run that stands for each scenario by the folder `latest`, and a line for each that cannot be read."""
    wanted = None if names is None else list(names)
    found: dict[Path, Run] = {}
    faults: list[str] = []
    for file in sorted(results.glob(f"*/{LATEST}/run.json")):
        if wanted is not None and file.parent.parent.name not in wanted:
            continue
        try:
            run = fullest_run(file.parent)
            _ = run.trials  # those that are whole
        except UserError as error:
            faults.append(str(error))
        else:
            found[file.parent] = run
    return found, faults


def in_order(runs: Iterable[Stored]) -> list[Stored]:
    """Return runs in the order of links in every figure: by profile, so satellites first, then LTE and WiFi."""
    return sorted(runs, key=lambda each: (str(each.run.scenario["profile"]), each.name))


def first_stored(results: Path, names: Sequence[str]) -> Stored | None:
    """Return the first of some scenarios that has a run; none when none has."""
    for name in names:
        if (results / name / LATEST / "run.json").exists():
            return Stored.of(fullest_run(results / name / LATEST))
    return None
