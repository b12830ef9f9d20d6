# SPDX-License-Identifier: GPL-2.0-or-later
"""A workload in the virtual kernel: whole objects and a judged, shown run; and many downloads on one link."""

import itertools
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from lab.backends.records import TrialError
from lab.base.errors import UserError
from lab.evaluation.shares import jain, shares_of
from lab.judge.outcome import outcome
from lab.report.answer import answer_of
from lab.report.write import write_report
from lab.runs.experiment import load_experiment
from lab.runs.trial import prepare
from lab.tables.digests import SUMS
from lab.tables.stored_trial import Trial
from tests import workloads
from tests.brief import present
from tests.command import lab, lab_ok, refused, scenario_file
from tests.conftest import SMALL, Bench, experiment_on
from tests.workloads import CALLS, CHUNKS, MOST_S


def run(
    bench: Bench, name: str, workload: object, cca: str = "search", duration_s: int = MOST_S, **fields: Any
) -> Trial:
    experiment = experiment_on(SMALL, cca, duration_s=duration_s, workload=workload, **fields)
    return bench.run(experiment, cca, f"workload-{name}")


@pytest.fixture(scope="module")
def calls(bench: Bench) -> Trial:
    return run(bench, "calls", CALLS)


@pytest.mark.parametrize("workload", workloads.EVERY)
def test_every_workload_is_certified_and_whole(bench: Bench, workload: dict[str, Any]) -> None:
    workloads.require_certified_and_whole(run(bench, workload["kind"], workload))


def test_objects_are_whole_and_requested_when_the_capture_has_it(calls: Trial) -> None:
    """The client's log and the capture are two witnesses; the log comes from a process, which wakes up later."""
    workloads.require_whole_with_the_last_byte(calls)
    sent = calls.packets.filter(~pl.col("to_client"), pl.col("flow") == 1, pl.col("len_bytes") > 0)
    objects = calls.meta["workload"]["objects"]
    assert sent["len_bytes"].to_list() == [350] * len(objects)
    assert [each["requested_s"] for each in objects] == pytest.approx(sent["t_s"].to_list(), abs=0.001)
    for before, after in itertools.pairwise(objects):
        assert before["whole_s"] is not None
        assert after["requested_s"] == pytest.approx(before["whole_s"] + 1.0, abs=0.001)


def test_the_kernel_reports_that_the_application_limits_the_sender_between_two_calls(calls: Trial) -> None:
    found = calls.meta["workload"]
    for before, after in zip(found["objects"], found["objects"][1:], strict=False):
        assert before["whole_s"] is not None
        assert after["requested_s"] is not None
        middle_s = (before["whole_s"] + after["requested_s"]) / 2
        (*_, state) = [limited for at_s, limited in found["limited"] if at_s <= middle_s]
        assert state == 1
    assert {limited for _, limited in found["limited"]} == {0, 1}
    assert found["rwnd_limited_s"] == 0
    assert 0 < found["busy_s"] < calls.meta["flows"][0]["end_s"] - 3 * 1.0


def test_a_player_waits_until_a_chunk_fits_its_buffer(bench: Bench) -> None:
    workloads.require_waits_for_the_buffer(run(bench, "video", CHUNKS))


def test_the_same_trial_is_the_same_byte_for_byte(bench: Bench, calls: Trial) -> None:
    again = run(bench, "again", CALLS)
    assert (again.path / SUMS).read_text() == (calls.path / SUMS).read_text()


def test_a_session_and_an_object_without_end_end_at_their_time(bench: Bench) -> None:
    trial = run(bench, "endless", workloads.ENDLESS, duration_s=3)
    workloads.require_ended_at_its_time(trial)
    objects = workloads.objects_of(trial)
    assert len(objects) == 5000
    assert objects[len([each for each in objects if each["whole_s"] is not None])]["requested_s"] is None
    trial = run(bench, "huge", {"kind": "requests", "count": 1, "response_bytes": 10**9}, duration_s=2)
    assert trial.valid, trial.meta["certificate"]
    assert trial.meta["workload"]["objects"][0]["whole_s"] is None


def test_objects_smaller_than_a_segment_are_certified(bench: Bench) -> None:
    trial = run(bench, "small", workloads.TINY)
    workloads.require_a_round_trip_each(trial)
    assert trial.exits.is_empty()


def test_a_sender_that_is_not_there_is_one_line(bench: Bench) -> None:
    experiment = experiment_on(SMALL, "reno", duration_s=2, workload=CALLS)
    job = bench.job(experiment, "reno", "workload-no-sender")
    job.folder.mkdir(parents=True)
    plan = prepare(job, job.folder)
    plan["flows"][0]["algorithm"] = "no_such_sender"
    with pytest.raises((TrialError, UserError)) as failed:
        bench.backend.run_plan(plan, job.folder)
    assert "\n" not in str(failed.value)


def test_a_whole_experiment_answers_on_its_page(tmp_path: Path) -> None:
    calls = {"kind": "requests", "count": 3, "response_bytes": 300_000}
    file = scenario_file(tmp_path, ccas=["cubic", "cubic_plain"], trials=1, duration_s=60, workload=calls)
    lab_ok(tmp_path / "results", "run", str(file), "--jobs", "1")
    (page,) = (tmp_path / "results").glob("mine/2*/report.html")
    text = page.read_text(encoding="utf-8")
    assert "connections never left slow start." in text
    assert "What leaving slow start costs each call." in text
    assert json.loads((page.parent / "run.json").read_text())["scenario"]["workload"]["response_bytes"] == 300_000
    write_report(page.parent)
    assert answer_of(page.parent).tables[0].name == "short-flows"
    assert (page.parent / "tables" / "short-flows.csv").exists()


def test_a_workload_in_real_time_is_refused(tmp_path: Path) -> None:
    file = scenario_file(tmp_path, workload="web")
    line = refused(lab(tmp_path, "run", str(file), "--backend", "host"))
    assert "must be virtual: workload web runs in the virtual kernel only" in line


COUNT = 32
SEGMENT_SHARE = 1448 / 1514  # payload of a frame


@pytest.fixture(scope="module")
def shared(bench: Bench) -> Trial:
    """32 downloads by CUBIC over 100 Mb/s, eight of which begin 2 s later."""
    entries = [{"cca": "cubic", "count": COUNT - 9}, {"cca": "cubic", "count": 8, "start_s": 2}]
    fields: dict[str, Any] = {"rivals": entries, "ccas": ["cubic"], "duration_s": 8}
    return bench.run(load_experiment("share-32", fields), "cubic", "many-flows")


def test_each_of_32_downloads_is_measured_and_the_trial_is_valid(shared: Trial) -> None:
    assert shared.valid, shared.meta["certificate"]
    flows = shared.meta["flows"]
    assert [flow["flow"] for flow in flows] == list(range(1, COUNT + 1))
    assert [flow["seconds"] for flow in flows[:-8]] == pytest.approx([8] * (COUNT - 8))
    assert [flow["end_s"] for flow in flows[-8:]] == pytest.approx([flows[0]["end_s"]] * 8)
    for flow in flows[-8:]:
        assert flow["data_s"] - flows[0]["data_s"] == pytest.approx(2, abs=0.5)  # its handshake waits in the queue
    assert all(flow["bytes"] > 100_000 for flow in flows)


def test_equal_senders_fill_and_share_the_link_and_agree_with_iperf3(shared: Trial) -> None:
    found = shares_of(shared)
    index = present(jain(found.rates_mbps))
    assert 0.7 < index <= 1
    assert sum(found.rates_mbps) == pytest.approx(100 * SEGMENT_SHARE, rel=0.05)
    # iperf3 reads whole blocks, and counts until its own end; the trace has a row per buffer, and ends earlier.
    for flow in shared.meta["flows"][1:]:
        if "error" not in flow["iperf3"]:
            assert flow["bytes"] == pytest.approx(flow["iperf3"]["bytes"], abs=2_000_000)
            assert flow["retransmits_pkts"] is not None
            assert flow["retransmits_pkts"] <= flow["iperf3"]["retransmits_pkts"]


def test_the_tables_know_each_download_and_the_capture_holds_the_one_under_test_alone(shared: Trial) -> None:
    assert shared.acks["flow"].unique().sort().to_list() == list(range(1, COUNT + 1))
    assert shared.exits["flow"].n_unique() == COUNT
    assert set(shared.packets["flow"].drop_nulls().unique()) <= {0, 1}
    (own,) = {row["exit_s"] for row in outcome(shared)}
    assert own == shared.exits.filter(pl.col("flow") == 1)["t_s"][0]


def test_a_download_that_begins_late_is_measured_as_itself_wherever_its_entry_stands(bench: Bench) -> None:
    entries = [{"cca": "cubic", "start_s": 1}, {"cca": "cubic"}]
    experiment = load_experiment("share-32", {"rivals": entries, "ccas": ["cubic"], "duration_s": 3})
    trial = bench.run(experiment, "cubic", "late-first")
    first, late, early = trial.meta["flows"]
    assert late["data_s"] - first["data_s"] == pytest.approx(1, abs=0.2)
    assert early["data_s"] - first["data_s"] == pytest.approx(0, abs=0.2)
    assert early["iperf3"]["seconds"] == pytest.approx(early["seconds"], abs=0.1)
    assert late["end_s"] == pytest.approx(first["end_s"])
    assert late["iperf3"]["seconds"] == pytest.approx(2, abs=0.1)
