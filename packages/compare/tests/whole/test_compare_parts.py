# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of a comparison: measures, method, RFC 9743's scorecard, and its worst trials."""

import json
from copy import copy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from lab_compare.comparison import measure_of, primary_of
from lab_compare.growing import looks_of
from lab_compare.link_kinds import Link
from lab_compare.report import worst
from lab_compare.report.cells import labels
from lab_compare.report.explained import explain
from lab_compare.report.page import facts, method
from lab_compare.report.scorecard import HIGH_RTT_MS, NOT_RUN, scorecard
from lab_compare.report.worst import worst_trials

from lab.evaluation.measures import BY_NAME, MEASURES, PRIMARY, RULE, values
from lab.judge.digest import mean_wait_ms
from lab.judge.stored import Stored
from lab.tables.stored_run import Run
from tests import slow_start_model as model
from tests.brief import error_of, present
from tests.compared import Compared, store
from tests.stored_run import change, rewrite, sign, store_run, with_extent
from tests.unit.conftest import one_process  # noqa: F401


def test_more_is_better_of_shares_and_throughput_only_and_an_object_is_named_after_its_size() -> None:
    assert {each.name for each in MEASURES if each.more_is_better} == {"chokepoint", "rule", "throughput"}
    assert {each.name for each in MEASURES if each.binary} == {"chokepoint", "rule"}
    assert {each.name for each in MEASURES if each.shared} == {"harm"}
    sizes = {each.size_bytes: each.short for each in MEASURES if each.size_bytes is not None}
    assert sizes == {100_000: "100 kB (s)", 1_000_000: "1 MB (s)", 5_000_000: "5 MB (s)", 20_000_000: "20 MB (s)"}
    assert all(f"object_{size_bytes}" in BY_NAME for size_bytes in sizes)


def test_a_sender_of_which_one_trial_does_not_know_its_retransmissions_has_none(tmp_path: Path) -> None:
    """A stack's log may name no lost packet exactly where packets were lost: the others are those without a loss."""
    stored = Stored.of(Run(store_run(tmp_path, senders=("search", "cubic"))))
    unknown = pl.when(cca="search", trial=2).then(None).otherwise("retransmits_pkts").alias("retransmits_pkts")
    partly = replace(stored, judged=replace(stored.judged, outcomes=stored.judged.outcomes.with_columns(unknown)))
    measure = [BY_NAME["retransmits"]]
    assert values(partly, measure)["retransmits"]["search"] == [None] * 3
    assert values(partly, measure)["retransmits"]["cubic"] == values(stored, measure)["retransmits"]["cubic"]
    assert None not in values(stored, measure)["retransmits"]["search"]


def test_sources_publish_the_column_of_the_summary_that_has_the_mean() -> None:
    columns = {each.name: each.column for each in MEASURES if each.column}
    assert columns == {
        "chokepoint": "chokepoint_pct",
        "rule": "chokepoint_pct",
        "throughput": "throughput_mbps",
        "retransmits": "retransmits_pkts",
    }


def test_harm_decides_where_a_rival_takes_part_and_an_unknown_measure_is_refused() -> None:
    alone, shared = Link("geo", "geo-viasat", 4), Link("shared", "geo-viasat", 4, rival="cubic")
    assert primary_of(alone, "queueing") == BY_NAME["queueing"]
    assert primary_of(shared, "queueing") == BY_NAME["harm"]
    assert (PRIMARY, RULE) == ("chokepoint", "rule")
    assert error_of(measure_of, "speed").startswith("command line: measure=speed: must be one of chokepoint, rule, ")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    return store(tmp_path_factory.mktemp("results"), 5)


def test_the_mean_wait_is_that_of_the_modelled_queue(compared: Compared) -> None:
    geo = compared[1][0]
    assert geo.stored
    trial = next(trial for trial in geo.stored.run.trials if trial.cca == "cubic_plain")
    drain_ms = trial.qdisc["backlog_bytes"].mean() * 8 / 8e6 * 1e3  # type: ignore[operator]
    assert mean_wait_ms(trial) == pytest.approx(drain_ms, rel=0.02)
    assert values(geo.stored)["queueing"]["cubic_plain"][0] == mean_wait_ms(trial)


def test_a_wait_that_ends_long_after_the_download_is_whole_on_a_link_that_does_not_change(compared: Compared) -> None:
    geo = compared[1][0]
    assert geo.stored
    trial = copy(next(trial for trial in geo.stored.run.trials if trial.cca == "cubic_plain"))
    trial.qdisc = trial.qdisc.with_columns(backlog_bytes=pl.lit(30_000_000, pl.Int64))
    assert mean_wait_ms(trial) == pytest.approx(30_000)  # 8 Mb/s: a megabyte a second


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
        first = with_extent(meta["flows"][0], throughput_mbps=4.0 + meta["trial"])
        rewrite(file, meta | {"flows": [first, with_extent(first, flow=2, throughput_mbps=2.0)]})
    change(run, scenario={"rival": "search"})
    shared = replace(geo, link=replace(geo.link, rival="search"), stored=Stored.of(Run(run)))
    (row,) = (row for row in scorecard(comparison, [shared]) if row.section == "5.1.4")
    assert (row.state, row.seen) == ("in part", ["GEO, modelled: 5.5 and 2.0 Mb/s, 2 trials"])
    invalid = next(run.glob("trials/*-002/trial.json"))
    rewrite(invalid, json.loads(invalid.read_text()) | {"certificate": {"valid": False, "checks": []}})
    (row,) = (
        row for row in scorecard(comparison, [replace(shared, stored=Stored.of(Run(run)))]) if row.section == "5.1.4"
    )
    assert row.seen == ["GEO, modelled: 5.0 and 2.0 Mb/s, 1 trial"]
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


@pytest.mark.parametrize(
    ("queue", "sections"),
    [
        ({"kind": "fq"}, set()),
        ({"kind": "policer"}, set()),
        ({"kind": "pie"}, {"7.1"}),
        ({"kind": "disturb", "hold_every_pkts": 0, "copy_every_pkts": 50}, set()),
        ({"kind": "disturb", "hold_every_pkts": 50, "hold_pkts": 8}, {"7.7"}),
    ],
)
def test_queues_count_as_they_do(compared: Compared, tmp_path: Path, queue: dict[str, Any], sections: set[str]) -> None:
    comparison, (geo, _) = compared
    run = store_run(tmp_path, 1, senders=("search",))
    change(run, profile={"down": {"queue": queue}})
    rows = scorecard(comparison, [replace(geo, stored=Stored.of(Run(run)))])
    assert {row.section for row in rows if row.state != NOT_RUN} & {"6.1", "7.1", "7.7"} == sections


@pytest.mark.parametrize(
    ("loss_pct", "state"), [([29.9, 29.9], NOT_RUN), ([0.0, 100.0], NOT_RUN), ([30.0, 50.0], "in part")]
)
def test_heavy_loss_is_tested_where_a_link_always_loses_so_much(
    compared: Compared, tmp_path: Path, loss_pct: list[float], state: str
) -> None:
    comparison, (geo, _) = compared
    run = store_run(tmp_path, 1, senders=("search",))
    (trial,) = Run(run).trials
    steps = pl.DataFrame({"quantity": "up.loss_pct", "t_s": [0.0, 5.0], "value": loss_pct})
    pl.concat([trial.table("link"), steps]).write_parquet(trial.path / "link.parquet")
    sign(trial.path / "link.parquet")
    rows = scorecard(comparison, [replace(geo, stored=Stored.of(Run(run)))])
    assert {row.section: row.state for row in rows}["5.1.1"] == state


def test_harm_to_another_download_is_in_the_scorecard_where_it_was_measured(compared: Compared) -> None:
    comparison, (geo, wired) = compared
    values = {**wired.values, "harm": wired.values[PRIMARY]}
    harmful = replace(wired, values=values, places={**wired.places, "harm": {}})
    seen = [row for row in scorecard(comparison, [geo, harmful]) if row.ran.startswith("harm to one CUBIC")]
    assert [(row.state, row.ran) for row in seen] == [
        ("in part", "harm to one CUBIC that begins at the same time, on one link")
    ]
    assert all(line.startswith("wired, modelled: ") for line in seen[0].seen)


def test_the_page_states_which_sender_runs_on_another_kernel(compared: Compared) -> None:
    comparison, found = compared
    first, *others = comparison.senders
    needy = comparison.senders[first].model_copy(update={"kernel": "kernel-0"})
    plan = looks_of(comparison)
    senders = {first: needy, **{name: comparison.senders[name] for name in others}}
    shown = method(replace(comparison, senders=senders), plan, PRIMARY)
    stated = [line for line in shown if "a kernel of its own" in line]
    assert len(stated) == 1
    assert needy.label in stated[0]
    assert "kernel-0" in dict(facts(replace(comparison, senders=senders), found, []))[f"sender {first}"]
    assert not [line for line in method(comparison, plan, PRIMARY) if "a kernel of its own" in line]


def test_the_page_has_a_command_that_another_machine_takes_and_the_measure_by_its_title(compared: Compared) -> None:
    comparison, found = compared
    typed = ["/srv/lab/__main__.py", "compare", "--expect", "geo: chokepoint >= cubic"]
    assert dict(facts(comparison, found, typed))["command"] == "lab compare --expect 'geo: chokepoint >= cubic'"
    assert (
        "every other sender by the measure 'At the chokepoint'" in method(comparison, looks_of(comparison), PRIMARY)[0]
    )


def test_the_page_states_another_initial_window_and_a_fixed_number_of_trials(compared: Compared) -> None:
    comparison = compared[0]
    first, *_ = comparison.senders
    hasty = comparison.senders[first].model_copy(update={"first_window_pkts": 8192})
    senders = {**comparison.senders, first: hasty}
    lines = method(replace(comparison, senders=senders), looks_of(comparison), PRIMARY)
    assert lines[-1] == f"The receiver of {hasty.label} begins with 8192 packets, and not with 44."
    fixed = replace(compared[0], fixed=True)
    first = method(fixed, looks_of(fixed), PRIMARY)[0]
    assert f"Each sender had {fixed.trials} trials on each link" in first
    assert "Looks after" not in first


def test_a_worst_trial_is_explained_by_its_exit_its_queue_its_loss_and_what_came_of_it(compared: Compared) -> None:
    comparison, found = compared
    named = labels(comparison)
    (geo,) = (each for each in worst_trials(found, ["cubic_plain"], PRIMARY) if each.found.link.name == "geo")
    shown = present(explain(geo, named, {geo.found.link.name: "report.html"}))
    own, best, cost = shown.sentences
    assert geo.found.stored
    rows = geo.found.stored.judged.outcomes.filter(trial=geo.trial, heuristic="truth")
    for cca, sentence, kind in (("cubic_plain", own, "late"), (geo.best, best, "at the chokepoint")):
        (row,) = rows.filter(cca=cca).to_dicts()
        assert sentence.startswith(
            f"{named[cca]} left slow start at {row['exit_s']:.2f} s (cause: {row['exit_cause']})"
        )
        assert f"after the queue stayed filled ({row['capacity_s']:.2f} s): {kind}; " in sentence
    (late,) = rows.filter(cca="cubic_plain").to_dicts()
    assert own.endswith(f"; the first loss came at {late['loss_s']:.2f} s.")
    assert "throughput" in cost
    assert " against " in cost
    assert (shown.page, shown.title) == ("report.html", f"GEO, modelled: {named['cubic_plain']}, trial {geo.trial}, "
                                         f"next to {named[geo.best]}")  # fmt: skip


def test_a_sender_that_left_before_the_queue_filled_and_lost_nothing_is_explained(compared: Compared) -> None:
    comparison, found = compared
    (geo,) = (each for each in worst_trials(found, ["cubic"], PRIMARY) if each.found.link.name == "geo")
    shown = present(explain(geo, labels(comparison), {geo.found.link.name: None}))
    assert shown.sentences[0].endswith("; the queue never stayed filled: early; nothing was lost.")


@pytest.mark.parametrize(
    ("own", "other", "behind"), [(0.0, 0.0, 0.0), (1.0, 4.0, 0.75), (4.0, 1.0, -0.75), (0.0, 2.0, 1.0)]
)
def test_how_far_a_sender_is_behind_is_a_share_of_the_larger_value(own: float, other: float, behind: float) -> None:
    found: Any = SimpleNamespace(values={"throughput": {"a": [own], "b": [other]}})
    assert worst._behind(found, BY_NAME["throughput"], "a", "b", 0) == behind
