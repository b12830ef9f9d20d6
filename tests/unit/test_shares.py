# SPDX-License-Identifier: GPL-2.0-or-later
"""How downloads share their link: by what was acknowledged while all of them were there."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from lab.evaluation.shares import jain, shares_of
from lab.judge.stored import Stored
from lab.report.shares import of_run
from lab.tables.records import beside
from lab.tables.stored_run import Run
from tests.stored_run import rewrite, store_run


def trial(*flows: tuple[str, float, float, float]) -> Any:
    """Return a trial whose flows have a sender, a start, an end and a steady rate in Mb/s, an ACK each 10 ms."""
    rows = [
        {"flow": number, "t_s": at_s, "snd_una_bytes": 1 + round((at_s - begin_s) * rate_mbps * 1e6 / 8)}
        for number, (_, begin_s, end_s, rate_mbps) in enumerate(flows, 1)
        for at_s in (begin_s + 0.01 * step for step in range(round((end_s - begin_s) * 100) + 1))
    ]
    meta = [
        {"flow": number, "cca": cca, "data_s": begin_s, "end_s": end_s}
        for number, (cca, begin_s, end_s, _) in enumerate(flows, 1)
    ]
    return SimpleNamespace(cca=flows[0][0], acks=pl.DataFrame(rows), meta={"flows": meta})


def test_rates_are_of_the_time_that_all_downloads_have_in_common() -> None:
    found = shares_of(trial(("search", 0, 10, 6), ("cubic", 0, 10, 3), ("cubic", 8, 10, 3)))
    assert found.senders == ["search", "cubic", "cubic"]
    assert found.rates_mbps == pytest.approx([6, 3, 3], rel=0.02)
    assert [found.of_fair_pct(place) for place in range(3)] == pytest.approx([150, 75, 75], rel=0.02)
    assert jain(found.rates_mbps) == pytest.approx(12**2 / (3 * 54), rel=0.02)
    assert shares_of(trial(("search", 0, 1, 6), ("cubic", 2, 3, 3))).rates_mbps == []
    found = shares_of(trial(("search", 0, 1, 6), ("cubic", 0, 1, 0)))
    assert (found.of_fair_pct(1), jain(found.rates_mbps)) == (0, 0.5)


def test_the_downloads_beside_that_under_test_have_a_name_in_both_forms() -> None:
    common: Any = {"question": "?", "profile": "geo", "ccas": ["cubic"]}
    entries = [{"cca": "cubic", "count": 15}, {"cca": "bbr", "count": 16}]
    names = [beside(common | fields) for fields in ({}, {"rival": "bbr"}, {"rivals": entries})]
    assert names == ["", "bbr", "15 cubic, 16 bbr"]


def test_the_page_has_a_row_for_the_download_under_test_and_one_for_each_entry_of_its_rivals(tmp_path: Path) -> None:
    """Nothing was acknowledged to the rivals of these trials: the download under test has three equal shares."""
    run = store_run(tmp_path, trials=2, senders=("cubic",))
    assert of_run(Stored.of(Run(run))) == ((), ())
    meta = json.loads((run / "run.json").read_text())
    entries = [{"cca": "reno", "count": 1, "start_s": 0.0}, {"cca": "bbr", "count": 1, "start_s": 0.0}]
    rewrite(run / "run.json", meta | {"scenario": meta["scenario"] | {"rivals": entries}})
    for file in run.glob("trials/*/trial.json"):
        trial_json = json.loads(file.read_text())
        own = trial_json["flows"][0] | {"data_s": 1.0, "end_s": 5.0}
        rivals = [own | {"flow": number, "cca": each["cca"]} for number, each in enumerate(entries, 2)]
        rewrite(file, trial_json | {"flows": [own, *rivals]})
    (sentence,), (table,) = of_run(Stored.of(Run(run)))
    assert sentence.endswith(" gets 300 % of an equal share of 3 downloads (Jain's index 0.33).")
    (group,) = table.groups
    assert {row.cells[1] for row in group.rows} == {"1"}
    assert [row.cells[0] for row in group.rows] == ["under test", "beside it: reno", "beside it: bbr"]
    assert [row.cells[3] for row in group.rows] == ["300 (0)", "0 (0)", "0 (0)"]
