# SPDX-License-Identifier: GPL-2.0-or-later
"""The worst trial of a subject on each link, and the best sender on the same draw."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.base.stats import mean_of
from lab.evaluation.measures import BY_NAME, Measure
from lab.report.template import Picture
from lab_compare.comparison import primary_of
from lab_compare.results import LinkResult


@dataclass(frozen=True)
class Worst:
    """A trial in which a subject did worst on a link against the best other sender."""

    found: LinkResult
    cca: str
    best: str
    trial: int
    behind: float  # how far it is behind the best by the deciding measure, in shares of the better value


@dataclass(frozen=True)
class Explained:
    """What the page shows of it."""

    title: str
    sentences: Sequence[str]
    picture: Picture
    page: str


def worst_trials(found: Sequence[LinkResult], subjects: Sequence[str], measure: str) -> list[Worst]:
    """Return the worst trial of each subject on each link, the worst of all first."""
    chosen = [_worst(each, cca, primary_of(each.link, measure)) for each in found for cca in subjects]
    return sorted((each for each in chosen if each), key=lambda each: -each.behind)


def _worst(found: LinkResult, cca: str, measure: Measure) -> Worst | None:
    ordered = [measure, *(BY_NAME[name] for name in ("throughput", "queueing") if name != measure.name)]
    measured = [each for each in ordered if each.name in found.values]
    if not measured:
        return None
    best = _best(found, cca, measured)
    if best is None:
        return None
    had = found.values[measured[0].name]
    both = [number for number in range(found.trials) if None not in (had[cca][number], had[best][number])]
    if not both:
        return None
    number = max(both, key=lambda each: [_behind(found, one, cca, best, each) for one in measured])
    return Worst(found, cca, best, number + 1, _behind(found, measured[0], cca, best, number))


def _best(found: LinkResult, cca: str, measures: Sequence[Measure]) -> str | None:
    """Return the other sender with the best mean, by the next measure where the first is equal."""
    others = [name for name in found.values[measures[0].name] if name != cca]
    known = [name for name in others if mean_of(found.values[measures[0].name][name]) is not None]

    def quality(name: str) -> list[float]:
        means = [(each, mean_of(found.values[each.name][name])) for each in measures]
        return [0.0 if mean is None else mean if each.more_is_better else -mean for each, mean in means]

    return max(known, key=quality, default=None)


def _behind(found: LinkResult, measure: Measure, cca: str, best: str, number: int) -> float:
    """Return how far a sender is behind another in a trial: -1 to 1, of the larger value."""
    own, other = (found.values[measure.name][name][number] for name in (cca, best))
    if own is None or other is None:
        return 0.0
    scale = max(abs(own), abs(other))
    difference = other - own if measure.more_is_better else own - other
    return difference / scale if scale else 0.0
