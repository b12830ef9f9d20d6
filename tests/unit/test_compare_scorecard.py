# SPDX-License-Identifier: GPL-2.0-or-later
"""The scorecard of a comparison: a criterion of RFC 9743 counts as run only where a trial tested it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lab.evaluation.compare.measures import PRIMARY
from lab.judge.stored import Stored
from lab.report.compare.scorecard import HIGH_RTT_MS, NOT_RUN, scorecard
from lab.tables.stored_run import Run
from tests import slow_start_model as model
from tests.compared import Compared, store
from tests.first_screen import change
from tests.stored_run import rewrite, store_run


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    return store(tmp_path_factory.mktemp("results"), 5)


def test_the_scorecard_claims_only_what_a_trial_tested_on_the_link_that_it_needs(compared: Compared) -> None:
    comparison, found = compared
    state = {row.section: row.state for row in scorecard(comparison, found)}
    assert {name for name, each in state.items() if each != NOT_RUN} == {"5.1.2", "5.1.3", "5.1.5", "6.1", "6.3", "6.4"}
    none = [replace(each, stored=None, values={}, pairs={}, places={}) for each in found]
    assert {row.state for row in scorecard(comparison, none)} == {NOT_RUN}
    comparison, found = compared
    state = {row.section: row.state for row in scorecard(comparison, found[:1])}
    assert state["6.4"] == "run"
    assert state["6.3"] == NOT_RUN


def test_two_downloads_that_shared_a_link_are_in_the_scorecard(compared: Compared, tmp_path: Path) -> None:
    comparison, (geo, _) = compared
    run = store_run(tmp_path, 2, senders=("search",))
    for file in run.glob("trials/*/trial.json"):
        meta = json.loads(file.read_text())
        first = meta["flows"][0] | {"throughput_mbps": 4.0 + meta["trial"]}
        rewrite(file, meta | {"flows": [first, first | {"flow": 2, "throughput_mbps": 2.0}]})
    shared = replace(geo, link=replace(geo.link, rival="search"), stored=Stored.of(Run(run)))
    (row,) = (row for row in scorecard(comparison, [shared]) if row.section == "5.1.4")
    assert (row.state, row.seen) == ("in part", ["GEO, modelled: 5.5 and 2.0 Mb/s, 2 trials"])
    others = replace(shared, link=replace(geo.link, rival="bbr"))
    (row,) = (row for row in scorecard(comparison, [others]) if row.section == "5.1.4")
    assert row.state == NOT_RUN


def test_a_long_round_trip_and_an_active_queue_are_tested_where_they_are(compared: Compared, tmp_path: Path) -> None:
    comparison, (geo, _) = compared
    for rtt_ms, kind, expected in ((399, "bfifo", {"6.1"}), (HIGH_RTT_MS, "fq_codel", {"7.1", "7.5"})):
        path = model.Path(8, rtt_ms - 1, 600_000, 4)  # the first trial of a stored run has 1 ms more
        run = store_run(tmp_path, 1, name=kind, link=path, senders=("search",))
        change(run, profile={"down": {"queue": {"kind": kind}}})
        one = replace(geo, stored=Stored.of(Run(run)))
        seen = {row.section: row for row in scorecard(comparison, [one]) if row.state != NOT_RUN}
        assert set(seen) & {"6.1", "7.1", "7.5"} == expected
        assert all(row.ran.endswith("on one link") for row in seen.values() if row.section in expected)


def test_harm_to_another_download_is_in_the_scorecard_where_it_was_measured(compared: Compared) -> None:
    comparison, (geo, wired) = compared
    values = {**wired.values, "harm": wired.values[PRIMARY]}
    harmful = replace(wired, values=values, places={**wired.places, "harm": {}})
    seen = [row for row in scorecard(comparison, [geo, harmful]) if row.ran.startswith("harm to one CUBIC")]
    assert [(row.state, row.ran) for row in seen] == [
        ("in part", "harm to one CUBIC that begins at the same time, on one link")
    ]
    assert all(line.startswith("wired, modelled: ") for line in seen[0].seen)
