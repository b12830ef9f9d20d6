# SPDX-License-Identifier: GPL-2.0-or-later
"""The result of each link of a comparison in a sentence: who leads, and from whom the subject has not separated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab.base.format import counted, significant, trials_text
from lab.evaluation.measures import Measure
from lab.judge.copies import copied_text
from lab_compare.comparison import Comparison, primary_of
from lab_compare.exits import Exits, exits_of
from lab_compare.matrix.texts import apart_text, rank_text, value_text
from lab_compare.ranks import Pair, not_separated
from lab_compare.report.cells import labels
from lab_compare.results import LinkResult

ONE_TRIAL = "One trial of each sender: values only. No sender can separate from another."


@dataclass(frozen=True)
class Sentence:
    """The result of a link."""

    link: str
    text: str
    notable: bool  # more than that no sender has separated


def sentences(comparison: Comparison, found: Sequence[LinkResult], measure: str) -> list[Sentence]:
    """Return one sentence per link: who leads by the deciding measure, and from whom the subject has not separated."""
    return [_sentence(comparison, each, primary_of(each.link, measure)) for each in found]


def none_separated(by_link: Sequence[Sentence]) -> list[str]:
    """Return one line for all links on which no sender has separated from another."""
    names = [each.link for each in by_link if not each.notable]
    return [f"No sender has separated from another on {listed(names)}."] if names else []


def exit_sentences(comparison: Comparison, found: Sequence[LinkResult]) -> list[str]:
    """Return one sentence per subject: when it leaves slow start on each link, and whether that is right."""
    named, exits = labels(comparison), [(each.link.name, exits_of(each)) for each in found if each.stored]
    return [
        f"{named[subject]} leaves slow start {'; '.join(_left(link, of_link[subject]) for link, of_link in exits)}."
        for subject in comparison.subjects
        if exits
    ]


def _left(link: str, exits: Exits) -> str:
    """Return one link's part: `on geo at 7.91 s, 3 of 3 at the chokepoint`."""
    if not exits.by_trial:
        return f"on {link} in no valid trial"
    count = len(exits.contradictions)
    forged = [f"with {counted(count, 'record')} that the packets contradict"] if count else []
    if exits.mean_s is None:
        return f"on {link} {', '.join(forged) or 'without a recorded exit'} in {trials_text(len(exits.by_trial))}"
    words = {"early": "early", "chokepoint": "at the chokepoint", "late": "late"}
    judged = sum(exits.counts.values())
    shares = [f"{count} of {judged} {words[zone]}" for zone, count in exits.counts.items() if count]
    return ", ".join((f"on {link} at {significant(exits.mean_s, 2)} s", *(shares or ["not judged"]), *forged))


def _sentence(comparison: Comparison, found: LinkResult, measure: Measure) -> Sentence:
    link = found.link.title
    if measure.name not in found.values:
        return Sentence(link, _no_result(found), notable=True)
    named, places = labels(comparison), found.places[measure.name]
    values = {name: value_text(measure, found.values[measure.name][name]) for name in places}
    trials = f"{trials_text(found.trials)} each"
    without = [named[name] for name in comparison.senders if name not in places]
    lacking = f" {listed(without)}: no exit was judged." if without and measure.binary else ""
    lacking += "".join(f" {named[cca]}: {copied_text(count)}." for cca, count in found.copied.items())
    if not places:
        return Sentence(link, f"{measure.title}:{lacking or ' no sender has a value.'}", notable=True)
    if all(place.worst == len(places) for place in places.values()):
        shown = ", ".join(f"{named[name]} {values[name]}" for name in places)
        apart = "" if found.trials == 1 else f" No sender has separated from another after {trials}."
        return Sentence(link, f"{measure.title}: {shown}.{apart}{lacking}", notable=bool(lacking))
    by_rank = sorted(places, key=lambda name: (places[name].best, places[name].worst))
    shown = ", ".join(f"{rank_text(places[name])} {named[name]} ({values[name]})" for name in by_rank)
    tied = _tied(comparison, found, measure)
    return Sentence(link, f"{measure.title}: {shown}; {trials}.{tied}{lacking}", notable=True)


def _no_result(found: LinkResult) -> str:
    if not found.stored or found.stored.judged.trials["valid"].any():
        return "no result."
    return f"no result: none of its {trials_text(found.stored.judged.trials.height)} is valid."


def _tied(comparison: Comparison, found: LinkResult, measure: Measure) -> str:
    """Return from whom each subject has not separated, and whether it still may."""
    named, lines = labels(comparison), []
    for subject in comparison.subjects:
        tested = not_separated(found.pairs[measure.name], [subject])
        for hopeless, what in ((True, "is tied with"), (False, "has not separated from")):
            others = [_tie(named, measure, pair, subject) for pair in tested if pair.hopeless == hopeless]
            lines += [f" {named[subject]} {what} {listed(others)}."] if others else []
    return "".join(lines)


def _tie(named: Mapping[str, str], measure: Measure, pair: Pair, subject: str) -> str:
    """Return the other sender of a pair, and how far they may be apart."""
    other = pair.second if pair.first == subject else pair.first
    return f"{named[other]} ({apart_text(measure, pair)})"


def listed(names: Sequence[str]) -> str:
    """Return names with commas, and `and` before the last."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
