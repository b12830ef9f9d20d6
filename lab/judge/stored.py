# SPDX-License-Identifier: GPL-2.0-or-later
"""A stored run as pages and notebooks see it: judged, with the names of its link and its senders."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from lab.base.errors import UserError
from lab.judge.judged import Judged, each_judged
from lab.tables.records import Stanza
from lab.tables.stored_run import Run


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

    def require_whole(self) -> "Stored":
        """Return it; UserError names the first damaged trial."""
        if faults := list(dict.fromkeys(self.judged.faults)):  # one of a rule is of every trial
            more = f"; trials damaged besides it: {len(faults) - 1}" if len(faults) > 1 else ""
            raise UserError(f"{faults[0]}{more}")
        return self

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

    @property
    def link(self) -> str:
        """How its link is called."""
        return str(self.run.meta["profile"].get("title") or self.run.scenario["profile"])

    @property
    def run_name(self) -> str:
        """Name the run: its scenario and when it began."""
        return f"{self.name}, {self.run.path.resolve().name}"


def in_order(runs: Iterable[Stored]) -> list[Stored]:
    """Return runs in the order of links in every figure: by profile, so satellites first, then LTE and WiFi."""
    return sorted(runs, key=lambda each: (str(each.run.scenario["profile"]), each.name))
