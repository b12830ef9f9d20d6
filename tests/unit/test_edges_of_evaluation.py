# SPDX-License-Identifier: GPL-2.0-or-later
"""Edges of the evaluation: the best constants of a rule, the state of scenarios, recorded downloads, comparisons."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from lab_papers.evaluation.columns import STATUS
from lab_papers.evaluation.competing_flows import flows
from lab_papers.evaluation.recorded.bands import marks
from lab_papers.evaluation.recorded.rate import acked_after_s, cycle_hz, median_rtt_ms
from lab_papers.evaluation.rules import constants, scores
from lab_papers.evaluation.search.replay import BASE
from lab_papers.evaluation.status import status

from lab.evaluation.compare import results as compared
from lab.evaluation.compare.campaign import looks_of
from lab.evaluation.compare.comparison import Comparison, known_senders
from lab.evaluation.compare.measures import BY_NAME, PRIMARY, REFERENCE, values
from lab.evaluation.compare.results import LinkResult, attempted, of_run
from lab.evaluation.short_flows import short_flows
from lab.judge.stored import Stored, first_stored, in_order
from lab.judge.stored import stored as every_stored
from lab.report.short_flows import of_run as on_page
from lab.runs.link_kinds import Link
from lab.tables.columns import schema
from lab.tables.stored_run import Run
from tests.stored_run import store_run
from tests.unit.test_recorded_sums import flat

RULE = "latency_offset"


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return Stored.of(Run(store_run(tmp_path_factory.mktemp("results"), 2, senders=("search", BASE))))


# ---- the constants of the rules


@pytest.fixture(scope="module")
def points(stored: Stored) -> pl.DataFrame:
    return constants.grid(stored, scores.trials(stored)).filter(rule=RULE)


def test_one_point_of_a_rule_is_the_best_and_none_misjudges_fewer_exits(points: pl.DataFrame) -> None:
    (best,) = points.filter("best").to_dicts()
    least_pct = points["misjudged_pct"].min()
    assert best["misjudged_pct"] == least_pct
    assert best["rms_s"] == points.filter(misjudged_pct=least_pct)["rms_s"].min()
    assert points["published"].sum() == 1


def test_the_published_point_of_a_rule_judges_each_trial_as_the_rule_does(stored: Stored, points: pl.DataFrame) -> None:
    judged = scores.trials(stored).filter(rule=RULE).drop_nulls(["rule_class", "truth_class"])
    wrong = judged.filter(pl.col("rule_class") != pl.col("truth_class"))
    assert 0 < wrong.height < judged.height
    assert points.filter("published")["misjudged_pct"].item() == 100 * wrong.height / judged.height


def test_an_exit_behind_the_first_loss_is_late_at_each_point_whatever_its_cause(tmp_path: Path) -> None:
    run = store_run(tmp_path, 1, senders=(BASE,))
    file = run / "trials" / f"{BASE}-001" / "exits.parquet"
    pl.read_parquet(file).with_columns(cause=pl.lit("hystart")).write_parquet(file)
    own = Stored.of(Run(run))
    published = constants.grid(own, scores.trials(own)).filter("published", rule=RULE)
    assert published["misjudged_pct"].to_list() == [0.0]


def test_the_distance_from_the_truth_is_a_root_mean_square(points: pl.DataFrame) -> None:
    found = points.filter(pl.col("bias_s").is_not_null())
    assert found.height > 1
    assert (found["rms_s"] >= found["bias_s"].abs() - 1e-9).all()
    one = constants._row("geo", RULE, constants.gridded()[RULE].published, [score(3.0), score(-4.0), score(None)])
    assert one["rms_s"] == pytest.approx(np.sqrt(12.5))
    assert (one["trials"], one["found"]) == (3, 2)
    assert one["bias_s"] == pytest.approx(-0.5)


def score(difference_s: float | None) -> constants.Score:
    point = constants.gridded()[RULE].published
    return constants.Score(RULE, point, difference_s, difference_s is not None, None)


# ---- the state of scenarios


def test_before_any_run_the_table_of_scenarios_has_its_types(tmp_path: Path) -> None:
    table = status(tmp_path)
    assert table.schema == schema(STATUS)
    assert table["stored"].sum() == 0
    assert set(table["state"]) == {"pending"}


@pytest.mark.parametrize(("complete", "state"), [(True, "complete"), (False, "unfinished")])
def test_a_scenario_with_a_run_is_complete_or_unfinished_as_the_run_is(
    tmp_path: Path, complete: bool, state: str
) -> None:
    run = store_run(tmp_path, 1, senders=("search", "cubic"))
    meta = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(meta | {"complete": complete, "wall_s": 90.0}))
    (run.parent / "latest").symlink_to(run.name)
    (row,) = status(tmp_path).filter(scenario="geo").to_dicts()
    assert (row["state"], row["stored"], row["valid"], row["minutes"]) == (state, 2, 2, 1.5)


def test_a_ratio_to_nothing_is_null(tmp_path: Path) -> None:
    run = store_run(tmp_path, 1, senders=("cubic",))
    (file,) = run.glob("trials/*/trial.json")
    meta = json.loads(file.read_text())
    first = meta["flows"][0] | {"retransmits_pkts": 0}
    file.write_text(json.dumps(meta | {"flows": [first, first | {"flow": 2, "cca": "bbr", "retransmits_pkts": 3}]}))
    meta = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(meta | {"scenario": meta["scenario"] | {"rival": "bbr"}}))
    table = flows(Stored.of(Run(run)))
    assert table["retransmits_ratio"].to_list() == [None, None]
    assert table["throughput_ratio"].to_list() == [1.0, 1.0]


# ---- recorded downloads


def test_a_round_trip_that_was_not_measured_is_between_its_neighbours() -> None:
    t_s = np.arange(0.1, 20, 0.1)
    rtt_ms = np.where(t_s < 4.0, 600.0, 900.0)
    with_gaps = np.where(np.arange(t_s.size) % 3 == 1, np.nan, rtt_ms)
    assert median_rtt_ms(flat(t_s, with_gaps)) == median_rtt_ms(flat(t_s, rtt_ms)) == pytest.approx(900)
    never = flat(t_s, np.full(t_s.size, np.nan))
    assert median_rtt_ms(never) is None
    assert cycle_hz(never) is None


def test_a_mark_is_when_the_segment_of_its_number_was_acknowledged() -> None:
    t_s = np.arange(0.5, 12, 0.005)
    one = flat(t_s, np.full(t_s.size, 600.0))
    assert acked_after_s(one, t_s.size + 1) is None
    (row,) = marks([one]).to_dicts()
    for segments in (50, 200, 500, 1000, 2000):
        assert acked_after_s(one, segments) == pytest.approx(t_s[segments - 1])
        (name,) = [name for name in row if str(segments) in name.replace("_", " ").split()]
        assert row[name] == pytest.approx(t_s[segments - 1])


# ---- comparisons


def test_a_pair_is_tested_by_the_measure_that_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    senders = ("search", "cubic")
    link = Link("geo", "geo-viasat", 4)
    comparison = Comparison(["search"], known_senders(senders), [link], 6)
    plan = looks_of(comparison)
    none = compared.tested_pairs(comparison, link, BY_NAME[PRIMARY], "", plan)
    assert [(pair.separated, pair.difference.pairs) for pair in none] == [(False, 0)]
    assert compared.of_link(link, None, plan) == LinkResult(link, None, {}, {}, {})
    run = store_run(tmp_path, 6, name="compare-geo", senders=senders)
    (run.parent / "latest").symlink_to(run.name)
    meta = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(meta | {"seeds": list(range(6))}))
    (by_class,), (by_rate,) = (
        compared.tested_pairs(comparison, link, BY_NAME[name], "", plan) for name in (PRIMARY, "throughput")
    )
    assert by_class.difference.difference == pytest.approx(1.0)  # one always at the chokepoint, the other never
    assert by_rate.difference.difference == pytest.approx(0.0)
    assert by_class.difference.pairs == by_rate.difference.pairs == 6


def test_a_look_is_taken_up_to_the_last_trial_that_every_sender_has(tmp_path: Path) -> None:
    run = store_run(tmp_path, 3, senders=("search", "cubic"))
    assert attempted(Stored.of(Run(run))) == 3
    meta = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(meta | {"complete": False}))
    for file in (run / "trials" / "cubic-003").iterdir():
        file.unlink()
    (run / "trials" / "cubic-003").rmdir()
    assert attempted(Stored.of(Run(run))) == 2
    shutil.rmtree(run / "trials")
    assert attempted(Stored.of(Run(run))) == 0


def share(run: Path, rates: Mapping[tuple[str, int], float]) -> None:
    """Have a rival of that throughput in each trial."""
    for file in run.glob("trials/*/trial.json"):
        meta = json.loads(file.read_text())
        rival = meta["flows"][0] | {"flow": 2, "throughput_mbps": rates[meta["cca"], meta["trial"]]}
        file.write_text(json.dumps(meta | {"flows": [meta["flows"][0], rival]}))
    meta = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(meta | {"scenario": meta["scenario"] | {"rival": REFERENCE}}))


def test_a_shared_link_without_the_reference_has_no_harm(tmp_path: Path) -> None:
    run = store_run(tmp_path, 1, senders=("search",))
    share(run, {("search", 1): 2.0})
    assert values(Stored.of(Run(run))) == {}


def test_harm_is_what_the_rival_lost_against_its_share_next_to_the_reference(tmp_path: Path) -> None:
    run = store_run(tmp_path, 2, senders=("search", REFERENCE))
    rates = {("search", 1): 2.0, ("search", 2): 6.0, (REFERENCE, 1): 4.0, (REFERENCE, 2): 4.0}
    share(run, rates)
    meta = json.loads((run / "run.json").read_text())
    for who, found in ((REFERENCE, [50.0, -50.0, None]), ("bbr", None)):
        (run / "run.json").write_text(json.dumps(meta | {"scenario": meta["scenario"] | {"rival": who}}))
        harm = values(Stored.of(Run(run))).get("harm")
        assert (harm and harm["search"]) == found
    (run / "run.json").write_text(json.dumps(meta | {"scenario": meta["scenario"] | {"rival": REFERENCE}}))
    assert set(of_run(Stored.of(Run(run))).values) == {"harm"}


def test_runs_stand_by_their_link_and_then_by_name(tmp_path: Path) -> None:
    kept = []
    for name, profile in (("b", "geo"), ("a", "wifi"), ("c", "geo")):
        run = store_run(tmp_path, 1, name=name, senders=("cubic",))
        meta = json.loads((run / "run.json").read_text())
        changed = {"name": name, "scenario": meta["scenario"] | {"profile": profile}}
        (run / "run.json").write_text(json.dumps(meta | changed))
        (run.parent / "latest").symlink_to(run.name)
        kept.append(Stored.of(Run(run)))
    assert [each.run.path.parent.name for each in in_order(kept)] == ["b", "c", "a"]
    assert [each.name for each in every_stored(tmp_path)[0]] == ["a", "b", "c"]
    assert [each.name for each in every_stored(tmp_path, ["c", "none"])[0]] == ["c"]
    first = first_stored(tmp_path, ["none", "a", "b"])
    assert first is not None
    assert first.run.scenario["profile"] == "wifi"
    assert first_stored(tmp_path, ["none"]) is None


# ---- short flows


def test_a_run_with_a_workload_has_a_flow_per_valid_trial_and_a_table_on_its_page(tmp_path: Path) -> None:
    run = store_run(tmp_path, 2, senders=("cubic_plain", "bbr"))
    assert on_page(Stored.of(Run(run))) == ((), ())
    item = {"exchange": 1, "group": 1, "bytes": 1000, "requested_s": 0.5, "whole_s": 1.5}
    none = dict.fromkeys(("stalled_s", "busy_s", "rwnd_limited_s", "sndbuf_limited_s"), 0.0)
    content = {"objects": [item], "limited": [[0.0, 1.0]], **none}
    for file in run.glob("trials/*/trial.json"):
        file.write_text(json.dumps(json.loads(file.read_text()) | {"workload": content}))
    meta = json.loads((run / "run.json").read_text())
    with_workload = {"scenario": meta["scenario"] | {"workload": {"kind": "requests"}}, "seeds": [1, 2]}
    (run / "run.json").write_text(json.dumps(meta | with_workload))
    stored = Stored.of(Run(run))
    judged = short_flows(stored)
    assert sorted((flow.cca, flow.trial) for flow in judged) == [("bbr", 1), ("cubic_plain", 1), ("cubic_plain", 2)]
    answers, (table,) = on_page(stored)
    assert len(answers) == 2
    assert [group.label for group in table.groups] == [stanza["label"] for stanza in stored.ccas]
    assert table.groups[0].rows[0].cells[4] == "1.00"
