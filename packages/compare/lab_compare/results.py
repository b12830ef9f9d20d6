# SPDX-License-Identifier: GPL-2.0-or-later
"""The results of a comparison, link by link: values, tested pairs and places by every measure."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lab.base import paths
from lab.evaluation.measures import BY_NAME, MEASURES, Measure, Values, values
from lab.evaluation.sequential import Looks, first_look, one_look
from lab.judge.copies import copied
from lab.judge.stored import Stored
from lab.tables.records import beside
from lab.tables.stored_run import Run
from lab_compare.comparison import PREFIX, Comparison
from lab_compare.link_kinds import Link
from lab_compare.ranks import Pair, RankedPlace, pairs, places

DIGITS = 9  # significant ones, of values in the digest


@dataclass(frozen=True)
class LinkResult:
    """One link; no run where none of its trials has a result."""

    link: Link
    stored: Stored | None
    values: Mapping[str, Values]  # by measure
    pairs: Mapping[str, Sequence[Pair]]
    places: Mapping[str, Mapping[str, RankedPlace]]
    unranked: Mapping[str, str] = field(default_factory=dict)  # by measure: why no two senders can have separated

    @property
    def trials(self) -> int:
        """Return how many trials of each sender were requested."""
        return len(self.stored.run.meta["seeds"]) if self.stored else 0

    def valid(self, cca: str) -> int:
        """Return how many valid trials a sender has."""
        return self.stored.judged.trials.filter("valid", cca=cca).height if self.stored else 0

    @property
    def copied(self) -> Mapping[str, int]:
        """Return how many valid trials each sender has, of those whose trials are all the same: one trial."""
        return copied(self.stored.judged.trials) if self.stored else {}


def folder_of(link: Link, began: str) -> Path | None:
    """Return the run of a link; none where none has begun."""
    files = (paths.results() / f"{PREFIX}{link.name}").glob("[0-9]*/run.json")
    return max((file.parent for file in files if file.parent.name >= began), default=None)


def stored_of(links: Iterable[Link], began: str) -> list[tuple[Link, Stored | None]]:
    """Return links with their judged runs; none where no trial is stored."""
    folders = {link: folder_of(link, began) for link in links}
    found = Stored.each_of([Run(folder) for folder in folders.values() if folder])
    runs = {each.run.path: each for each in found if each.judged.trials.height}
    return [(link, runs.get(folder) if folder else None) for link, folder in folders.items()]


def results(comparison: Comparison, began: str, plan: Looks) -> list[LinkResult]:
    """Return the results of all links."""
    return [of_link(link, stored, plan) for link, stored in stored_of(comparison.links, began)]


def of_link(link: Link, stored: Stored | None, plan: Looks) -> LinkResult:
    """Return the results of one link."""
    if stored is None:
        return LinkResult(link, None, {}, {}, {})
    found = values(stored, ranked_by(stored))
    tested = {name: _tested(stored, of_measure, BY_NAME[name], plan) for name, of_measure in found.items()}
    measured = {name: [cca for cca in rows if any(v is not None for v in rows[cca])] for name, rows in found.items()}
    ranked = {name: places(measured[name], tested[name], BY_NAME[name].more_is_better) for name in found}
    unranked = {name: reason for name in found if (reason := _unranked(stored, found[name], plan))}
    return LinkResult(link, stored, found, tested, ranked, unranked)


def of_run(stored: Stored) -> LinkResult:
    """Return the results of an ordinary run: one look, when all of its trials are there."""
    scenario = stored.run.scenario
    profile, duration_s = str(scenario["profile"]), stored.run.meta["scenario"].get("duration_s", 0)
    link = Link(stored.name, profile, duration_s, meaning=stored.link, rival=beside(scenario) or None)
    return of_link(link, stored, one_look(len(stored.run.meta["seeds"])))


def _unranked(stored: Stored, found: Values, plan: Looks) -> str:
    """Return why no two senders can have separated; empty where some can."""
    if len(found) < 2:
        return "one sender: no rank"
    if attempted(stored) < plan.trials[0]:
        return "unfinished: no rank yet"
    if len(copied(stored.judged.trials)) == len(found):
        return "all trials the same: one, no rank"
    needed = first_look(len(found) * (len(found) - 1) // 2)
    return f"no rank: {needed} trials needed" if attempted(stored) < needed else ""


def tested_pairs(comparison: Comparison, stored: Stored | None, measure: Measure, plan: Looks) -> list[Pair]:
    """Test every pair of senders on a link by one measure; a pair without trials has not separated."""
    found = values(stored, [measure]).get(measure.name) if stored else None
    if stored is None or found is None:
        return pairs({name: [] for name in comparison.senders}, plan, measure.binary)
    return _tested(stored, found, measure, plan)


def _tested(stored: Stored, found: Values, measure: Measure, plan: Looks) -> list[Pair]:
    alike = copied(stored.judged.trials)
    tested = pairs(found, plan, measure.binary, attempted(stored))
    return [replace(pair, hopeless=pair.hopeless or {pair.first, pair.second} <= alike.keys()) for pair in tested]


def attempted(stored: Stored) -> int:
    """Return up to which number every trial was run or has failed: a look is taken when all its trials are.

    A comparison stores it after each look. Within one, senders take turns: what is missing below the last stored trial
    of each sender has failed.
    """
    trials = len(stored.run.meta["seeds"])
    if stored.run.complete:
        return trials
    last: dict[str, int] = {}
    for trial in stored.run.trials:
        last[trial.cca] = max(trial.number, last.get(trial.cca, 0))
    return min(max(stored.run.meta.get("attempted", 0), min(last.values(), default=0)), trials)


def digest_of(found: Sequence[LinkResult]) -> str:
    """Digest what was requested and what came out: equal where another machine had the same results."""
    return hashlib.sha256(json.dumps([_content(each) for each in found], sort_keys=True).encode()).hexdigest()[:16]


def _content(found: LinkResult) -> object:
    if found.stored is None:
        return [found.link.name, None]
    meta = found.stored.run.meta
    measured = {
        name: {cca: [None if value is None else f"{value:.{DIGITS}g}" for value in row] for cca, row in by_cca.items()}
        for name, by_cca in found.values.items()
    }
    return [found.link.name, meta["digests"], meta["kernel"]["kernel_digest"], measured]


def ranked_by(stored: Stored) -> list[Measure]:
    """Return the measures that rank the senders of a run: with a rival harm alone."""
    shared = bool(beside(stored.run.scenario))
    return [measure for measure in MEASURES if measure.shared == shared]
