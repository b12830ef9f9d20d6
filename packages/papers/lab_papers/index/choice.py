# SPDX-License-Identifier: GPL-2.0-or-later
"""Which trials the first page carries in its browser; each scenario's own page carries all of its trials."""

from collections.abc import Sequence

import polars as pl

from lab.judge.representative import representatives
from lab.judge.stored import Stored
from lab.report.matrix.matrix import kind_of


def shown_first(outcomes: pl.DataFrame) -> pl.DataFrame:
    """Return the outcomes of each sender's trials with the earliest, the median and the latest exit."""
    medians = representatives(outcomes)
    keys: set[tuple[str, int]] = set(medians.items())
    left = outcomes.filter("valid", pl.col("exit_s").is_not_null()).sort("exit_s", "trial")
    for (cca,), of_cca in left.group_by(["cca"], maintain_order=True):
        keys |= {(str(cca), int(of_cca["trial"][place])) for place in (0, -1)}
    chosen = pl.DataFrame(sorted(keys), schema={"cca": pl.String, "trial": pl.Int64}, orient="row")
    return outcomes.join(chosen, on=["cca", "trial"], how="semi", maintain_order="left")


def browsed_runs(links: Sequence[Stored]) -> list[Stored]:
    """Return the runs of the browser, GEO with SEARCH first: its chart has every panel."""
    return sorted(links, key=lambda each: (not _has_search(each), kind_of(str(each.run.scenario["profile"])) != "GEO"))


def _has_search(stored: Stored) -> bool:
    return any(stanza["name"].startswith("search") for stanza in stored.ccas)
