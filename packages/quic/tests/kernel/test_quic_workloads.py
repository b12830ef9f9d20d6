# SPDX-License-Identifier: GPL-2.0-or-later
"""Workloads over QUIC, on both stacks: the same objects as over TCP, whole, certified, judged, idle between calls."""

import itertools
from typing import Any

import pytest
from lab_quic.ngtcp2.build import NGTCP2
from lab_quic.quinn.build import QUINN
from quic_trials import run

from lab.tables.digests import SUMS
from lab.tables.stored_trial import Trial
from tests import workloads
from tests.conftest import SMALL, Bench, experiment_on
from tests.workloads import CALLS, CHUNKS, MOST_S

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
@pytest.mark.parametrize("workload", workloads.EVERY)
def test_every_workload_is_certified_and_whole(bench: Bench, sender: str, workload: dict[str, Any]) -> None:
    workloads.require_certified_and_whole(requested(bench, sender, workload))


@pytest.mark.parametrize("sender", SENDERS)
def test_the_objects_are_those_of_the_same_seed_over_tcp(bench: Bench, sender: str) -> None:
    workload = workloads.EVERY[0]
    experiment = experiment_on(SMALL, "search", duration_s=MOST_S, workload=workload)
    tcp = bench.run(experiment, "search", "quic-web-over-tcp").meta["workload"]["objects"]
    quic = requested(bench, sender, workload).meta["workload"]["objects"]
    same = ("exchange", "group", "bytes")
    assert [[each[key] for key in same] for each in quic] == [[each[key] for key in same] for each in tcp]  # type: ignore[literal-required]


@pytest.mark.parametrize("sender", SENDERS)
def test_an_object_is_whole_when_its_last_byte_has_come(bench: Bench, sender: str) -> None:
    workloads.require_whole_with_the_last_byte(requested(bench, sender, CALLS))


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
    workloads.require_waits_for_the_buffer(requested(bench, sender, CHUNKS))


@pytest.mark.parametrize("sender", SENDERS)
def test_the_same_workload_is_the_same_byte_for_byte(bench: Bench, sender: str) -> None:
    first, again = (requested(bench, sender, CALLS, name) for name in ("requests", "again"))
    assert (again.path / SUMS).read_text() == (first.path / SUMS).read_text()


@pytest.mark.parametrize("sender", SENDERS)
def test_a_session_that_never_ends_ends_at_its_time(bench: Bench, sender: str) -> None:
    workloads.require_ended_at_its_time(requested(bench, sender, workloads.ENDLESS, "endless", duration_s=3))


@pytest.mark.parametrize("sender", SENDERS)
def test_objects_smaller_than_a_packet_are_certified(bench: Bench, sender: str) -> None:
    workloads.require_a_round_trip_each(requested(bench, sender, workloads.TINY, "small"))
