# SPDX-License-Identifier: GPL-2.0-or-later
"""Workloads over QUIC, on both stacks: the same objects as over TCP, whole, certified, judged, idle between calls."""

import itertools
from typing import Any

import polars as pl
import pytest
from lab_quic.ngtcp2.build import NGTCP2
from lab_quic.quinn.build import QUINN
from quic_trials import run

from lab.judge.outcome import outcome
from lab.judge.short_flow import short_flow
from lab.tables.digests import SUMS
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on

CALLS = {"kind": "requests", "count": 4, "response_bytes": 200_000, "gap_s": 1.0, "gaps": "fixed"}
CHUNKS = {"kind": "video", "chunks": 3, "rate_mbps": 4, "chunk_s": 1, "buffer_s": 1.5, "spread": 0}
WORKLOADS = [{"kind": "web", "pages": 2, "reading_s": 1}, {"kind": "web_archive", "pages": 1}, CHUNKS, CALLS]
MOST_S = 60

SENDERS = [
    pytest.param(sender, marks=pytest.mark.skipif(build.find() is None, reason=f"{program} is not built: {how}"))
    for sender, build, program, how in (
        ("search_quic", QUINN, "lab-quic", "lab run tcp-quic builds it"),
        ("hystartpp_ngtcp2", NGTCP2, "lab-ngtcp2", "lab run quic-stacks builds it"),
    )
]


def requested(bench: Bench, sender: str, workload: dict[str, Any], name: str = "", duration_s: int = MOST_S) -> Trial:
    return run(SMALL, sender, bench, f"quic-{name or workload['kind']}", duration_s, workload=workload)


@pytest.mark.parametrize("sender", SENDERS)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_workload_is_certified_and_whole(bench: Bench, sender: str, workload: dict[str, Any]) -> None:
    trial = requested(bench, sender, workload)
    assert [check for check in trial.meta["certificate"]["checks"] if not check["ok"]] == []
    objects = trial.meta["workload"]["objects"]
    assert all(each["whole_s"] is not None for each in objects)
    assert trial.meta["flows"][0]["bytes"] == sum(each["bytes"] for each in objects)
    assert trial.meta["flows"][0]["seconds"] < MOST_S
    assert all(row["loss_agrees"] for row in outcome(trial))


@pytest.mark.parametrize("sender", SENDERS)
def test_the_objects_are_those_of_the_same_seed_over_tcp(bench: Bench, sender: str) -> None:
    workload = WORKLOADS[0]
    experiment = experiment_on(SMALL, "search", duration_s=MOST_S, workload=workload)
    tcp = bench.run(experiment, "search", "quic-web-over-tcp").meta["workload"]["objects"]
    quic = requested(bench, sender, workload).meta["workload"]["objects"]
    same = ("exchange", "group", "bytes")
    assert [[each[key] for key in same] for each in quic] == [[each[key] for key in same] for each in tcp]  # type: ignore[literal-required]


@pytest.mark.parametrize("sender", SENDERS)
def test_an_object_is_whole_when_its_last_byte_has_come(bench: Bench, sender: str) -> None:
    trial = requested(bench, sender, CALLS)
    data = trial.packets.filter(pl.col("to_client"), pl.col("len_bytes") > 0)
    had, end_bytes = data.with_columns(pl.col("seq_bytes") + pl.col("len_bytes") - 1), 0
    for each in trial.meta["workload"]["objects"]:
        end_bytes += each["bytes"]
        arrived_s = had.filter(pl.col("seq_bytes") >= end_bytes)["t_s"].min()
        assert each["whole_s"] == pytest.approx(arrived_s, abs=0.001)


@pytest.mark.parametrize("sender", SENDERS)
def test_requests_leave_when_the_plan_says_and_the_application_limits_between_them(bench: Bench, sender: str) -> None:
    trial = requested(bench, sender, CALLS)
    found = trial.meta["workload"]
    for before, after in itertools.pairwise(found["objects"]):
        assert before["whole_s"] is not None
        assert after["requested_s"] == pytest.approx(before["whole_s"] + 1.0, abs=0.001)
        (*_, state) = [limited for at_s, limited in found["limited"] if at_s <= before["whole_s"] + 0.5]
        assert state == 1
    assert {limited for _, limited in found["limited"]} == {0, 1}
    assert 0 < found["busy_s"] < trial.meta["flows"][0]["end_s"] - 3 * 0.8


@pytest.mark.parametrize("sender", SENDERS)
def test_a_player_waits_until_a_chunk_fits_its_buffer(bench: Bench, sender: str) -> None:
    objects = requested(bench, sender, CHUNKS).meta["workload"]["objects"]
    first, second, third = ((each["requested_s"], each["whole_s"]) for each in objects)
    assert None not in (*first, *second, *third)
    assert second[0] == pytest.approx(first[1] + 0.5, abs=0.01)  # type: ignore[operator]  # 1 s is there, 1.5 s fit
    assert third[0] == pytest.approx(first[1] + 1.5, abs=0.01)  # type: ignore[operator]


@pytest.mark.parametrize("sender", SENDERS)
def test_the_same_workload_is_the_same_byte_for_byte(bench: Bench, sender: str) -> None:
    first, again = (requested(bench, sender, CALLS, name) for name in ("requests", "again"))
    assert (again.path / SUMS).read_text() == (first.path / SUMS).read_text()


@pytest.mark.parametrize("sender", SENDERS)
def test_a_session_that_never_ends_ends_at_its_time(bench: Bench, sender: str) -> None:
    endless = {"kind": "requests", "count": 5000, "response_bytes": 1_000_000, "gap_s": 0}
    trial = requested(bench, sender, endless, "endless", duration_s=3)
    assert trial.valid, trial.meta["certificate"]
    assert trial.meta["flows"][0]["seconds"] == pytest.approx(3)
    whole = [each for each in trial.meta["workload"]["objects"] if each["whole_s"] is not None]
    assert 1 <= len(whole) < 20


@pytest.mark.parametrize("sender", SENDERS)
def test_objects_smaller_than_a_packet_are_certified(bench: Bench, sender: str) -> None:
    small = {"kind": "requests", "count": 3, "response_bytes": 1, "gap_s": 0.2}
    trial = requested(bench, sender, small, "small")
    assert trial.valid, trial.meta["certificate"]
    assert short_flow(trial, None).objects_s[0] == pytest.approx(0.1, abs=0.01)  # one round trip
