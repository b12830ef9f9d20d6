# SPDX-License-Identifier: GPL-2.0-or-later
"""Make every table of the evaluation from the stored runs: results/evaluation/, as Parquet, the claims as CSV too."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import cast

import polars as pl

from lab.base.plain_file import require_folder, write_whole
from lab.base.workers import map_in_processes
from lab.judge.frames import Row
from lab.judge.stored import Stored
from lab.schema.scenario import load_scenario, scenarios
from lab.tables.columns import schema
from lab.tables.csv_text import to_csv
from lab.tables.records import ScenarioRecord
from lab.tables.stored_parquet import write_exact
from lab_papers.evaluation import competing_flows, senders
from lab_papers.evaluation.claims import rows as claims
from lab_papers.evaluation.columns import evaluation_tables
from lab_papers.evaluation.kept import FOLDER, sign
from lab_papers.evaluation.rules import constants, scores
from lab_papers.evaluation.search import sensitivity
from lab_papers.evaluation.search.replay import BASE
from lab_papers.evaluation.status import status
from lab_papers.fullest import Fullest, fullest, stored

MAPPED = ("thesis-leo", "thesis-geo", "thesis-lte")  # thesis 4.5: the links of figures 4.10 to 4.12 and 4.15
NO_REPLAY = "no SEARCH replay: build the kernel first: lab kernel build"
CLAIMED = ("versions", "flows")  # claims are judged by these of every run, the counterfactuals' too
PER_RUN = (*CLAIMED, "heuristics_trials", "heuristics_constants", "means", "paired", "sensitivity")
Tables = dict[str, pl.DataFrame]


def write_all(results: Path, library: Path | None, known: Fullest | None = None) -> tuple[Path, list[str]]:
    """Write all tables; returns their folder, and a line for each run or trial that cannot be read.

    library: the compiled SEARCH core; without one nothing is replayed. known: the runs, where they have been read.
    """
    every, faults, _ = known or fullest(results)
    # What only explains the others has no place among them: its trials are read for the claims alone.
    runs = [one for one in every if not one.counterfactual_of]
    folder = results / FOLDER
    require_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tables = _by_name(_tables, every, library)
    tables["status"] = status(results, [one.run for one in every])
    tables["outcomes"] = _outcomes(runs)
    compared = tables["heuristics_trials"]
    tables["heuristics"] = pl.DataFrame() if compared.is_empty() else scores.scores(compared)
    replayed = {name: tables[name] for name in CLAIMED}
    tables |= {name: _of(runs, table) for name, table in replayed.items()}
    tables["truths"] = _truths(runs, tables["versions"])
    tables["claims"] = claimed(every, replayed)
    for name, table in tables.items():
        keep(folder, name, table)
    write_whole(folder / "claims.csv", to_csv(tables["claims"]).encode())
    sign(folder)
    return folder, [*faults, *(fault for one in every for fault in one.judged.faults)]


def judge_claims(results: Path, library: Path | None, names: Iterable[str] | None) -> tuple[pl.DataFrame, list[str]]:
    """Judge the claims over the runs of some scenarios, or of all, and write nothing; also return the faults."""
    every, faults = stored(results, names, keep=False)
    table = claimed(every, _by_name(_replayed, every, library))
    return table, [*faults, *(fault for one in every for fault in one.judged.faults)]


def judge_by_truths(results: Path, library: Path | None) -> tuple[pl.DataFrame, list[str]]:
    """Return the shares of all scenarios by both truths, and write nothing; also return the faults."""
    every, faults = stored(results, keep=False)
    runs = [one for one in every if not one.counterfactual_of]
    versions = _by_name(_replayed, runs, library)["versions"]
    return _truths(runs, versions), [*faults, *(fault for one in runs for fault in one.judged.faults)]


def _by_name(make: Callable[..., Tables], runs: list[Stored], library: Path | None) -> Tables:
    """Return the tables of all runs, joined; one worker makes all of a run, whose trials it checks once."""
    found = map_in_processes(partial(make, library=library), runs, size=lambda one: one.judged.trials.height)
    return {name: joined(each.get(name, pl.DataFrame()) for each in found) for name in PER_RUN}


def _replayed(one: Stored, library: Path | None) -> Tables:
    """Return what claims are judged by, besides the outcomes."""
    has_base = any(cca["name"] == BASE for cca in one.ccas)
    versions = sensitivity.versions(one, library) if library and has_base else pl.DataFrame()
    return {"versions": versions, "flows": competing_flows.flows(one)}


def _tables(one: Stored, library: Path | None) -> Tables:
    """Return the tables of a run."""
    found = _replayed(one, library)
    if one.counterfactual_of:
        return found
    true = scores.trials(one)
    found |= {"heuristics_trials": true, "heuristics_constants": constants.grid(one, true)}
    found |= {"means": senders.means(one), "paired": senders.differences(one)}
    if library and one.name in MAPPED and not found["versions"].is_empty():
        found["sensitivity"] = sensitivity.maps(one, library)
    return found


def _truths(runs: list[Stored], versions: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame([row for one in runs for row in scores.shares(one, versions)], infer_schema_length=None)


def claimed(every: list[Stored], more: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """Claims in the order of the scenarios, then of runs of other files; a run's own where there is one."""
    known = {one.name: one for one in every}
    own = scenarios()
    rows: list[Row] = []
    for name in [*own, *(name for name in known if name not in own)]:
        one = known.get(name)
        scenario = _scenario(name, one, in_lab=name in own)
        if not scenario.get("counterfactual_of"):
            rows += claims.rows(name, scenario, one, more, known)
    return pl.DataFrame(rows, schema=claims.SCHEMA)


def _scenario(name: str, one: Stored | None, *, in_lab: bool) -> ScenarioRecord:
    """Return what a run was started with, with the explanations of its file where that is one of the lab's."""
    if one and not in_lab:
        return one.run.scenario
    now = cast("ScenarioRecord", load_scenario(name)[1].model_dump())
    return claims.explained_by(one.run.scenario, now) if one else now


def _of(runs: list[Stored], table: pl.DataFrame) -> pl.DataFrame:
    return table if table.is_empty() else table.filter(pl.col("scenario").is_in([one.name for one in runs]))


def _outcomes(runs: list[Stored]) -> pl.DataFrame:
    return joined(
        one.judged.outcomes.select(pl.lit(one.name).alias("scenario"), pl.lit(one.run.path.name).alias("run"), pl.all())
        for one in runs
    )


def keep(folder: Path, name: str, table: pl.DataFrame) -> None:
    """Write one table of the folder."""
    about, draft = evaluation_tables()[name], folder / f".{name}.parquet"
    write_exact(pl.concat([pl.DataFrame(schema=schema(about.columns)), table], how="diagonal_relaxed"), draft, about)
    draft.replace(folder / f"{name}.parquet")


def joined(tables: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Return one table of those that have rows."""
    filled = [table for table in tables if table.height]
    return pl.concat(filled, how="vertical_relaxed") if filled else pl.DataFrame()
