# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of a comparison before its page: a row per sender and link, then a sentence per link."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from lab.evaluation.compare.comparison import Comparison
from lab.evaluation.compare.results import LinkResult, digest_of
from lab.report import text, trust
from lab.report.compare.forms import NARROW, ranks_table
from lab.report.compare.sentences import ONE_TRIAL, exit_sentences, sentences
from lab.report.table import Table


@dataclass(frozen=True)
class Ranked:
    """What a terminal shows of a comparison."""

    headline: Sequence[str]
    table: Table
    narrow: Table  # fewer measures
    digest: str
    exits: Sequence[str]  # of each subject, on all links: the shortest answer
    invalid: Sequence[str]  # a line per trial that is left out

    def shown(self, width: int) -> RenderableType:
        """Return ranks, what is left out, and last the sentences, as a console of that width prints them."""
        table = self.narrow if width < text.NARROW_CHARS else self.table
        digest = f"Digest of the results: {self.digest}"
        below = map(Text, (digest, *self.invalid, *self.headline, *self.exits))
        return Group(text.shown((), (table,), width), *below)


def ranked(comparison: Comparison, measure: str, found: Sequence[LinkResult]) -> Ranked:
    """Return the answer of a comparison."""
    headline = [f"{sentence.link}: {sentence.text}" for sentence in sentences(comparison, found, measure)]
    if max((each.trials for each in found), default=0) == 1:
        headline.append(ONE_TRIAL)
    tables = (ranks_table(comparison, found, measure), ranks_table(comparison, found, measure, NARROW))
    left_out = [
        f"{each.link.name}: {trial.line}"
        for each in found
        if each.stored
        for trial in trust.invalid(each.stored.run.trials)
    ]
    return Ranked(headline, *tables, digest_of(found), exit_sentences(comparison, found), left_out)
