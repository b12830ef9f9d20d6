# SPDX-License-Identifier: GPL-2.0-or-later
"""What a cell of the matrix shows by one measure: value, rank, difference, the published value, and its bar."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab.base.format import NONE, number
from lab.base.stats import mean_of
from lab.evaluation.measures import Measure, judge_of
from lab.judge.classify import ExitClass
from lab.judge.copies import distinct
from lab.judge.stored import Stored
from lab.report.published import Published, published
from lab_compare.matrix.texts import difference_text, leads, rank_text, value_text
from lab_compare.ranks import of
from lab_compare.results import LinkResult


@dataclass(frozen=True)
class Reading:
    """A sender on a link by one measure, as text; `bar` has the widths of its parts in percent."""

    value: str
    rank: str  # empty: it is not ranked
    leads: bool  # nobody is ahead, and somebody is behind
    versus: str  # the difference from the row's subject, with its interval; empty: it is the subject, or not ranked
    published: Published | None
    published_text: str
    bar: Mapping[str, float]
    spoken: str

    @property
    def small(self) -> str:
        """Return the line below the bar."""
        theirs = f"{self.published.ran or 'paper'} {self.published_text}" if self.published else ""
        return "; ".join(part for part in (self.versus, theirs) if part)


@dataclass(frozen=True)
class Shown:
    """A sender of a run in a row: the run's results, those of all runs of the link, and who it is compared with."""

    found: LinkResult
    of_link: Sequence[LinkResult]  # the row's own run first
    cca: str
    subject: str
    labels: Mapping[str, str]

    @property
    def own(self) -> bool:
        """Return whether it is of the row's own run: then its trials are paired with the others."""
        return self.found is self.of_link[0]


def read(shown: Shown, measure: Measure) -> Reading:
    """Read a sender's cell by a measure that it has values of."""
    found, cca, name = shown.found, shown.cca, measure.name
    ranked = shown.own and name not in found.unranked
    place = found.places[name].get(cca) if ranked else None
    pair = of(found.pairs[name], shown.subject, cca) if ranked and cca != shown.subject else None
    value, rank = value_text(measure, found.values[name][cca]), rank_text(place) if place else ""
    versus = difference_text(measure, pair, cca) if pair else ""
    theirs = _published(shown, measure)
    text = NONE if theirs is None else _published_text(theirs, measure)
    bar = _classes(found, measure, cca) if measure.binary else {"amount": _share_pct(shown, measure)}
    spoken = [f"{shown.labels[cca]}, {found.link.title}: {value.replace('/', ' of ', 1) if measure.binary else value}"]
    spoken[0] += "".join(f", {bar[zone]:.0f} % {zone}" for zone in ("early", "late") if bar.get(zone))
    spoken += [f"rank {rank.replace(NONE, ' to ')}"] if rank else []
    if pair and versus:
        apart = "separated" if pair.separated else "not separated"
        spoken.append(f"{versus} against {shown.labels[shown.subject]} on the same trials, {apart}")
    spoken += [f"{theirs.source}{f' ({theirs.ran})' if theirs.ran else ''}: {text}"] if theirs else []
    return Reading(value, rank, leads(place, found.places[name]), versus, theirs, text, bar, "; ".join(spoken))


def _published(shown: Shown, measure: Measure) -> Published | None:
    """Return what a source publishes; a share that none gives for this run's scenario, of the link's other runs."""
    if not measure.column or not shown.found.stored:
        return None
    own = published(shown.found.stored, shown.cca, measure.column)
    if own or not measure.binary:
        return own
    others: list[Stored] = [each.stored for each in shown.of_link if each.stored]
    found = [published(each, shown.cca, measure.column) for each in others]
    return next((each for each in found if each and not each.ran), None)


def _published_text(theirs: Published, measure: Measure) -> str:
    return f"{theirs.value:.3g} %" if measure.binary else f"{number(theirs.value, 0)} {measure.unit}"


def _classes(found: LinkResult, measure: Measure, cca: str) -> dict[str, float]:
    """Return the shares of early, chokepoint and late exits in percent; nothing where none was judged."""
    assert found.stored
    rule = judge_of(measure, found.stored)
    rows = distinct(found.stored.judged.outcomes).filter(cca=cca, heuristic=rule)
    classes = rows["exit_class"].drop_nulls()
    return {str(zone): 100 * int((classes == str(zone)).sum()) / classes.len() for zone in ExitClass if classes.len()}


def _share_pct(shown: Shown, measure: Measure) -> float:
    """Return a mean in percent of the largest one of the link's runs."""
    rows = [row for each in shown.of_link for row in each.values.get(measure.name, {}).values()]
    most = max((mean for row in rows if (mean := mean_of(row)) is not None), default=0.0)
    own = mean_of(shown.found.values[measure.name][shown.cca]) or 0.0
    return max(0.0, 100 * own / most) if most > 0 else 0.0
