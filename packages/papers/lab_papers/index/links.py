# SPDX-License-Identifier: GPL-2.0-or-later
"""The ranking matrix of all scenarios: which run stands for each link, and which other runs fill its gaps."""

from collections.abc import Iterable, Sequence

import polars as pl
from lab_compare.matrix.matrix import Linked, Matrix, Page, kind_of, matrix
from lab_compare.results import of_run

from lab.evaluation.measures import MEASURES
from lab.judge.representative import representatives
from lab.judge.stored import Stored
from lab.report.published import short_label
from lab.schema.cca import load_ccas
from lab.tables.records import beside


def linked(runs: Iterable[Stored], page: Page) -> Matrix:
    """Return the matrix of some runs.

    Where several runs share a link, the one with most valid trials is ranked (see fullness), and another one is shown
    for a sender that it lacks. A shared link has a row of its own where senders can be compared on it.
    """
    by_link: dict[tuple[str, str], list[Stored]] = {}
    for stored in runs:
        scenario = stored.run.scenario
        by_link.setdefault((str(scenario["profile"]), beside(scenario)), []).append(stored)
    chosen = [
        sorted(of_link, key=fullness, reverse=True)
        for (_, rival), of_link in by_link.items()
        if not rival or any(len(each.ccas) > 1 for each in of_link)
    ]
    rows = [Linked(of_run(of_link[0]), [of_run(other) for other in _filling(of_link)]) for of_link in chosen]
    senders = _senders([stored for of_link in chosen for stored in of_link])
    found = [each for row in rows for each in (row.found, *row.others)]
    measures = [measure for measure in MEASURES if any(measure.name in each.values for each in found)]
    return matrix(rows, senders, list(senders)[:1], page, measures or MEASURES[:1])


def fullness(stored: Stored) -> tuple[bool, int]:
    """Rank runs of a link: by valid trials, after runs whose downloads may end before slow start does."""
    sized = bool(stored.run.meta["scenario"].get("size_bytes"))
    return not sized, int(stored.judged.trials["valid"].sum())


def _filling(of_link: Sequence[Stored]) -> list[Stored]:
    """Return the other runs of a link that have a sender which those before them lack."""
    known: set[str] = set(of_link[0].run.scenario["ccas"])
    chosen = []
    for stored in of_link[1:]:
        if lacking := set(stored.run.scenario["ccas"]) - known:
            chosen.append(stored)
            known |= lacking
    return chosen


def _senders(runs: Iterable[Stored]) -> dict[str, str]:
    """Return every sender of some runs with its label: versions of SEARCH first, each in the order of cca.yml."""
    labels = {stanza["name"]: short_label(stanza["label"]) for stored in runs for stanza in stored.ccas}
    order = list(load_ccas())
    known = {name: place for place, name in enumerate(order)}
    return {
        name: labels[name]
        for name in sorted(labels, key=lambda name: (not name.startswith("search"), known.get(name, len(order)), name))
    }


def shown_first(outcomes: pl.DataFrame) -> pl.DataFrame:
    """Return what the first page's browser carries: each sender's trials with the earliest, median and latest exit."""
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
