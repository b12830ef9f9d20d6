# SPDX-License-Identifier: GPL-2.0-or-later
"""When each sender of a link left slow start, and on which side of the chokepoint, by the queue's truth."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean

from lab.base.format import trials_text
from lab.judge.classify import ExitClass
from lab.judge.registry import LASTING
from lab_compare.results import LinkResult


@dataclass(frozen=True)
class Exit:
    """An exit of one trial; null where the sender stayed, the trial is invalid, or there is nothing to judge it by."""

    t_s: float | None
    exit_class: str | None
    contradiction: str | None = None  # how the packets contradict it, where a user's code wrote it


@dataclass(frozen=True)
class Exits:
    """The exits of a sender's valid trials on a link, by number of the trial."""

    by_trial: Mapping[int, Exit]

    @property
    def mean_s(self) -> float | None:
        """Return the mean time from the SYN; null where no packets show that it left."""
        known = [left.t_s for left in self.by_trial.values() if left.t_s is not None and not left.contradiction]
        return fmean(known) if known else None

    @property
    def counts(self) -> dict[str, int]:
        """Return how many exits were early, at the chokepoint and late."""
        classes = [left.exit_class for left in self.by_trial.values()]
        return {str(zone): classes.count(zone) for zone in ExitClass}

    @property
    def contradictions(self) -> list[str]:
        """Return how the packets contradict exits on record."""
        return [left.contradiction for left in self.by_trial.values() if left.contradiction]


def exits_of(found: LinkResult) -> dict[str, Exits]:
    """Return the exits of each sender; of one without a valid trial there are none."""
    if found.stored is None:
        return {}
    rows = found.stored.judged.outcomes.filter("valid", heuristic=LASTING)
    by_cca: dict[str, dict[int, Exit]] = {cca: {} for cca in found.stored.run.scenario["ccas"]}
    for cca, trial, *left in rows.select("cca", "trial", "exit_s", "exit_class", "contradiction").iter_rows():
        by_cca[cca][trial] = Exit(*left)
    return {cca: Exits(by_trial) for cca, by_trial in by_cca.items()}


def contradicted(found: LinkResult) -> Iterator[str]:
    """Yield a line per sender with exits that the packets contradict."""
    for cca, exits in exits_of(found).items():
        if lines := exits.contradictions:
            count = f"in {len(lines)} of {trials_text(len(exits.by_trial))}"
            yield f"{found.link.name}: {cca}: the exit on record counts as missed {count}: {lines[0]}"
