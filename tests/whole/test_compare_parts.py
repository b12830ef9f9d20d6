# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of a comparison: measures, method, RFC 9743's scorecard, its worst trials, and what a CI expects of it."""

import io
import json
from copy import copy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest
import typer
from rich.console import Console

from lab.base.errors import UserError
from lab.commands.expect import Expected, conclude
from lab.evaluation.compare.campaign import looks_of
from lab.evaluation.compare.expect import judged, read, require_known
from lab.evaluation.compare.measures import BY_NAME, MEASURES, PRIMARY, RULE, measure_of, primary_of, values
from lab.judge.queueing import mean_wait_ms
from lab.judge.stored import Stored
from lab.report.compare import worst
from lab.report.compare.cells import labels
from lab.report.compare.page import facts, method
from lab.report.compare.scorecard import HIGH_RTT_MS, NOT_RUN, scorecard
from lab.report.compare.worst import explain, worst_trials
from lab.runs.link_kinds import Link
from lab.tables.stored_run import Run
from tests import slow_start_model as model
from tests.compared import Compared, store
from tests.stored_run import change, rewrite, store_run


def test_more_is_better_of_shares_and_throughput_only_and_an_object_is_named_after_its_size() -> None:
    assert {each.name for each in MEASURES if each.more_is_better} == {"chokepoint", "rule", "throughput"}
    assert {each.name for each in MEASURES if each.binary} == {"chokepoint", "rule"}
    assert {each.name for each in MEASURES if each.shared} == {"harm"}
    sizes = {each.size_bytes: each.short for each in MEASURES if each.size_bytes is not None}
    assert sizes == {100_000: "100 kB (s)", 1_000_000: "1 MB (s)", 5_000_000: "5 MB (s)", 20_000_000: "20 MB (s)"}
    assert all(f"object_{size_bytes}" in BY_NAME for size_bytes in sizes)


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
    with pytest.raises(UserError, match=r"^command line: measure=speed: must be one of chokepoint, rule, "):
        measure_of("speed")


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
        first = meta["flows"][0] | {"throughput_mbps": 4.0 + meta["trial"]}
        rewrite(file, meta | {"flows": [first, first | {"flow": 2, "throughput_mbps": 2.0}]})
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
    shown = explain(geo, named, {geo.found.link.name: "report.html"})
    assert shown is not None
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
    shown = explain(geo, labels(comparison), {geo.found.link.name: None})
    assert shown is not None
    assert shown.sentences[0].endswith("; the queue never stayed filled: early; nothing was lost.")


@pytest.mark.parametrize(
    ("own", "other", "behind"), [(0.0, 0.0, 0.0), (1.0, 4.0, 0.75), (4.0, 1.0, -0.75), (0.0, 2.0, 1.0)]
)
def test_how_far_a_sender_is_behind_is_a_share_of_the_larger_value(own: float, other: float, behind: float) -> None:
    found: Any = SimpleNamespace(values={"throughput": {"a": [own], "b": [other]}})
    assert worst._behind(found, BY_NAME["throughput"], "a", "b", 0) == behind


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("geo chokepoint >= cubic", '"LINK: MEASURE OPERATOR SENDER"'),
        ("geo: chokepoint = cubic", '"LINK: MEASURE OPERATOR SENDER"'),
        ("geo: speed >= cubic", "of a measure: chokepoint, "),
        ("mars: chokepoint >= cubic", "of a link that runs: geo, wired"),
        ("geo: chokepoint >= vegas", "compared with a number or one of search, cubic"),
    ],
)
def test_what_cannot_be_expected_is_refused_before_anything_runs(compared: Compared, text: str, rule: str) -> None:
    with pytest.raises(UserError, match=r"command line: expect=.*: must be ") as refused:
        require_known([read(text)], compared[0])
    assert rule in str(refused.value)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("geo: throughput >= search", True),
        ("geo: throughput > search", False),
        ("geo: throughput > 0.5", True),
        ("geo: throughput < 0.5", False),
        ("geo: harm <= cubic", False),  # it has no value without a rival
    ],
)
def test_means_of_the_valid_trials_decide(compared: Compared, text: str, holds: bool) -> None:
    (row,) = judged([read(text)], ["search"], compared[1])
    assert (row.holds, row.link, row.subject) == (holds, "geo", "search")
    assert row.found.startswith("search ")


def test_one_that_fails_is_a_status_a_line_and_a_failure_in_both_files(compared: Compared, tmp_path: Path) -> None:
    both = tuple(map(read, ("geo: throughput > 0.5", "wired: throughput < 0.5")))
    expected = Expected(both, tmp_path / "found.json", tmp_path / "found.xml")
    printed = io.StringIO()
    with pytest.raises(typer.Exit) as end:
        conclude(expected, ["search"], compared[1], Console(file=printed, width=200))
    assert end.value.exit_code == 1
    assert [line.split()[0] for line in printed.getvalue().splitlines()] == ["holds", "FAILS"]
    assert [row["holds"] for row in json.loads((tmp_path / "found.json").read_text())] == [True, False]
    suite = ElementTree.parse(tmp_path / "found.xml").getroot()  # noqa: S314 (our own)
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.get("classname") for case in suite if case.find("failure") is not None] == ["wired"]


@pytest.mark.parametrize(
    ("texts", "folder", "line"),
    [
        (("geo: throughput > 0.5",), "nosuch", "junit=.*/nosuch/found.xml: must be in a folder that can be written"),
        ((), "", "junit=.*found.xml: must be used with --expect"),
    ],
)
def test_a_file_of_no_expectation_or_in_no_folder_is_refused_before_any_trial(
    tmp_path: Path, texts: tuple[str, ...], folder: str, line: str
) -> None:
    with pytest.raises(UserError, match=line):
        Expected(tuple(map(read, texts)), junit=tmp_path / folder / "found.xml")


def test_all_that_hold_are_no_failure(compared: Compared) -> None:
    conclude(Expected((read("geo: throughput > 0.5"),)), ["search"], compared[1], Console(file=io.StringIO()))
