# SPDX-License-Identifier: GPL-2.0-or-later
"""What an exit from slow start costs a workload: objects and groups (pages, chunks, calls) against the same seed's.

All senders of a seed request the same objects over the same link. A trial's value is the mean over the objects that
every sender of the seed had whole: a trial that ended before its last object then compares like with like. The cost is
the difference to CUBIC without HyStart, which leaves upon a loss only; `behind_best` is the one to the best sender of
the seed. Differences to that reference are tested as everywhere (lab.evaluation.sequential), with Holm's correction.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from operator import attrgetter
from statistics import fmean

from lab.base.stats import Paired, Values, differences_of, paired
from lab.evaluation.sequential import holm, level, one_look
from lab.judge.copies import distinct
from lab.judge.registry import TRUTH
from lab.judge.short_flow import ShortFlow, short_flow
from lab.judge.stored import Stored

REFERENCE = "cubic_plain"
Times = tuple[float | None, ...]


@dataclass(frozen=True)
class Cost:
    """One sender; costs are in ms, of a trial's mean object or group."""

    cca: str
    flows: Sequence[ShortFlow]
    group_s: Values
    object_ms: Paired
    group_ms: Paired
    early_ms: Paired  # of a group, over the trials with an early exit
    behind_best_ms: Paired  # of a group
    separated: bool  # from the reference, by the time of a group

    @property
    def left(self) -> int:
        """Return how many connections left slow start."""
        return sum(flow.left for flow in self.flows)

    @property
    def early(self) -> int:
        """Return how many left it early."""
        return sum(flow.early for flow in self.flows)

    @property
    def limited(self) -> int:
        """Return how many left it while the application was the limit."""
        return sum(bool(flow.limited) for flow in self.flows)

    @property
    def unfinished(self) -> int:
        """Return how many objects were not whole when their trial ended."""
        return sum(time_s is None for flow in self.flows for time_s in flow.objects_s)


def short_flows(stored: Stored) -> list[ShortFlow]:
    """Judge every valid trial of a run with a workload."""
    truth = distinct(stored.judged.outcomes).filter(heuristic=TRUTH)
    classes = {(cca, trial): name for cca, trial, name in truth.select("cca", "trial", "exit_class").rows()}
    trials = [copy(trial) for trial in stored.run.trials if (trial.cca, trial.number) in classes]
    return [short_flow(trial, classes[trial.cca, trial.number]) for trial in trials]


def costs(flows: Sequence[ShortFlow], ccas: Sequence[str], trials: int) -> list[Cost]:
    """Compare all senders, in their order; `trials` of each were requested."""
    groups, objects = (
        _means(flows, ccas, trials, times) for times in (attrgetter("groups_s"), attrgetter("objects_s"))
    )
    best = [min((each for each in row if each is not None), default=None) for row in zip(*groups.values(), strict=True)]
    none: Values = [None] * trials
    reference = groups.get(REFERENCE, none)
    others = [cca for cca in ccas if cca != REFERENCE]
    levels = [level(differences_of(groups[cca], reference), one_look(trials)) for cca in others]
    separated = dict(zip(others, holm(levels), strict=True))
    found = []
    for cca in ccas:
        own = [flow for flow in flows if flow.cca == cca]
        early = {flow.trial for flow in own if flow.early}
        of_early = [value if number in early else None for number, value in enumerate(groups[cca], start=1)]
        found.append(
            Cost(
                cca,
                own,
                groups[cca],
                _paired_ms(objects[cca], objects.get(REFERENCE, none)),
                _paired_ms(groups[cca], reference),
                _paired_ms(of_early, reference),
                _paired_ms(groups[cca], best),
                separated.get(cca, False),
            )
        )
    return found


def _means(
    flows: Sequence[ShortFlow], ccas: Sequence[str], trials: int, times: Callable[[ShortFlow], Times]
) -> Mapping[str, Values]:
    """Return each trial's mean over what every sender of its seed had whole; null where there is none."""
    found: dict[str, list[float | None]] = {cca: [None] * trials for cca in ccas}
    for number in range(1, trials + 1):
        of_seed = {flow.cca: times(flow) for flow in flows if flow.trial == number}
        whole = [place for place, row in enumerate(zip(*of_seed.values(), strict=True)) if None not in row]
        for cca, row in of_seed.items():
            known = [time_s for place in whole if (time_s := row[place]) is not None]
            found[cca][number - 1] = fmean(known) if known else None
    return found


def _paired_ms(first: Values, second: Values) -> Paired:
    in_ms = [[None if value is None else 1000 * value for value in values] for values in (first, second)]
    return paired(*in_ms)
