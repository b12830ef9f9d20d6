# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of a comparison before its page: exits by link and sender, then the sentences that are notable."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from rich.console import Group, RenderableType
from rich.text import Text

from lab.report import text, trust
from lab.report.table import Table
from lab_compare.comparison import Comparison
from lab_compare.exits import contradicted
from lab_compare.report.forms import exits_table, ranks_table
from lab_compare.report.sentences import ONE_TRIAL, exit_sentences, none_separated, sentences
from lab_compare.results import LinkResult, digest_of


@dataclass(frozen=True)
class Ranked:
    """What a terminal shows of a comparison."""

    headline: Sequence[str]  # a sentence per link
    notable: Sequence[str]  # of these, what says more than that no sender has separated, and a line for the others
    table: Table
    exit_table: Table
    digest: str
    exits: Sequence[str]  # of each subject, on all links: the shortest answer
    invalid: Sequence[str]  # a line per trial that is left out, and per sender whose packets contradict its records

    def shown(self, width: int, verbose: bool = False) -> RenderableType:
        """Return exits, what is left out, and last the sentences, as a console of that width prints them.

        verbose: also the ranks by all measures, and the sentence of each link.
        """
        tables = (self.table, self.exit_table) if verbose else (self.exit_table,)
        digest = f"Digest of the results: {self.digest}"
        below = map(Text, (digest, *self.invalid, *(self.headline if verbose else self.notable), *self.exits))
        return Group(text.shown((), tables, width), *below)


def ranked(comparison: Comparison, measure: str, found: Sequence[LinkResult]) -> Ranked:
    """Return the answer of a comparison."""
    by_link = sentences(comparison, found, measure)
    headline = [f"{each.link}: {each.text}" for each in by_link]
    notable = [line for line, each in zip(headline, by_link, strict=True) if each.notable]
    one = [ONE_TRIAL] if max((each.trials for each in found), default=0) == 1 else []
    left_out = [
        f"{each.link.name}: {trial.line}"
        for each in found
        if each.stored
        for trial in trust.invalid(each.stored.run.trials)
    ]
    return Ranked(
        [*headline, *one],
        [*notable, *(one or none_separated(by_link))],
        ranks_table(comparison, found, measure),
        exits_table(comparison, found),
        digest_of(found),
        exit_sentences(comparison, found),
        [*left_out, *chain.from_iterable(map(contradicted, found))],
    )
