# SPDX-License-Identifier: GPL-2.0-or-later
"""When each sender of a link left slow start, and on which side of the chokepoint, by the queue's truth."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from lab.evaluation.compare.results import LinkResult
from lab.judge.classify import ExitClass
from lab.judge.registry import LASTING


@dataclass(frozen=True)
class Exit:
    """An exit of one trial; null where the sender stayed, the trial is invalid, or there is nothing to judge it by."""

    t_s: float | None
    exit_class: str | None


@dataclass(frozen=True)
class Exits:
    """The exits of a sender's valid trials on a link, by number of the trial."""

    by_trial: Mapping[int, Exit]

    @property
    def mean_s(self) -> float | None:
        """Return the mean time from the SYN; null where it never left."""
        known = [left.t_s for left in self.by_trial.values() if left.t_s is not None]
        return fmean(known) if known else None

    @property
    def counts(self) -> dict[str, int]:
        """Return how many exits were early, at the chokepoint and late."""
        classes = [left.exit_class for left in self.by_trial.values()]
        return {str(zone): classes.count(zone) for zone in ExitClass}

    @property
    def stayed(self) -> int:
        """Return how many trials ended in slow start."""
        return sum(left.t_s is None for left in self.by_trial.values())


def exits_of(found: LinkResult) -> dict[str, Exits]:
    """Return the exits of each sender; of one without a valid trial there are none."""
    if found.stored is None:
        return {}
    rows = found.stored.judged.outcomes.filter("valid", heuristic=LASTING)
    by_cca: dict[str, dict[int, Exit]] = {cca: {} for cca in found.stored.run.scenario["ccas"]}
    for cca, trial, exit_s, exit_class in rows.select("cca", "trial", "exit_s", "exit_class").iter_rows():
        by_cca[cca][trial] = Exit(exit_s, exit_class)
    return {cca: Exits(by_trial) for cca, by_trial in by_cca.items()}
