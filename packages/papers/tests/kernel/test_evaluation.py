# SPDX-License-Identifier: GPL-2.0-or-later
"""What many trials show: verdicts, the rules against the truth, SEARCH replayed, and the tables of stored runs."""

from pathlib import Path
from typing import cast

import polars as pl
import pytest
from lab_papers.evaluation.claims import rows as claims
from lab_papers.evaluation.claims.verdict import UNJUDGED
from lab_papers.evaluation.search.replay import class_of, downloads, exit_of, varied
from lab_papers.evaluation.write import write_all
from lab_papers.search_replay import PRINTED, version

from lab.judge.registry import rules
from lab.judge.stored import Stored
from lab.schema.scenario import load_scenario, scenarios
from lab.tables.records import ScenarioRecord
from lab.tables.stored_run import Run
from tests.brief import folder_at
from tests.stored_run import change, rewrite, store_run

CLAIM = {"source": "thesis, table 5.3", "row": "GEO", "cca": "cubic_plain", "values": {"late_pct": 100, "exit_s": 2.0}}
BLANK = {"replayed": None, "trials": None, "not_judged": None}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stored run of the scenario geo, of modelled downloads, with two claims."""
    folder = tmp_path_factory.mktemp("results")
    run = store_run(folder)
    requested = {"trials": 3, "profile": "geo-viasat", "heuristic": "latency_offset", "claims": [CLAIM | BLANK]}
    change(run, wall_s=90.0, scenario=requested | {"tolerance": {"share_points": 10, "relative_pct": 25}})
    (run.parent / "latest").symlink_to(run.name)
    return folder


@pytest.fixture(scope="module")
def stored(results: Path) -> Stored:
    return Stored.of(Run(results / "geo" / "latest"))


def test_a_run_is_held_to_the_claims_it_was_started_with(stored: Stored) -> None:
    rows = list(claims.rows("geo", stored.run.scenario, stored, {}))
    assert [row["metric"] for row in rows] == ["late_pct", "exit_s"]
    late = rows[0]
    assert (late["ours"], late["trials"], late["verdict"]) == (100.0, 3, UNJUDGED)
    assert late["why"] == "only 3 trials: must be 10 to agree"
    assert late["minutes"] == 1.5
    assert not load_scenario("geo")[1].claims


def test_a_scenario_that_has_not_run_is_pending_and_its_claims_are_open() -> None:
    _, scenario = load_scenario("thesis-geo")
    rows = list(claims.rows("thesis-geo", cast("ScenarioRecord", scenario.model_dump()), None, {}))
    largest = "a largest value of all downloads grows with their number, and has no interval: ours is shown"
    found = {(row["verdict"], row["why"], row["ours"]) for row in rows}
    assert found == {(UNJUDGED, "not run yet", None), ("cannot be judged here", largest, None)}


def test_a_replay_over_a_download_without_hystart_leaves_before_its_loss(stored: Stored, search_library: Path) -> None:
    found = [*downloads(stored)]
    assert [one.trial for one in found] == [1, 2, 3]
    for one in found:
        left = exit_of(search_library, one, version(search_library, "search2"))
        assert left
        assert one.own
        assert left.t_s < one.own.t_s
        assert class_of(one, left, "truth") == "chokepoint"
        assert class_of(one, one.own, "truth") == "late"


def test_a_higher_threshold_never_leaves_earlier(stored: Stored, search_library: Path) -> None:
    for one in downloads(stored):
        exits = [exit_of(search_library, one, varied(PRINTED, threshold_pct=percent)) for percent in range(5, 51, 5)]
        times = [left.t_s for left in exits if left]
        assert times == sorted(times)
        assert times[0] < times[-1]


def test_all_tables_are_written_and_a_run_cut_short_is_a_line(results: Path, search_library: Path) -> None:
    folder, faults = write_all(results, search_library)
    assert faults == []
    written = {file.stem: pl.read_parquet(file) for file in folder.glob("*.parquet")}
    assert written["claims"].equals(pl.read_parquet(folder / "claims.parquet"))
    claimed = {name for name in scenarios() if load_scenario(name)[1].claims and name != "geo"}
    assert set(written["claims"]["scenario"]) == claimed | {"geo"}
    assert pl.read_csv(folder / "claims.csv").height == written["claims"].height
    assert written["outcomes"].height == len(rules()) * len(Run(results / "geo" / "latest").trials)
    broken = folder_at(results / "thesis-leo" / "latest")
    rewrite(broken / "run.json", {"format": 1})
    _, faults = write_all(results, None)
    assert faults == [f"{broken / 'run.json'}: format=1: must be 2: another version of the lab stored it"]
