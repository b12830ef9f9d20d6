# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial on the running kernel gives the machine back as it was, however it ends."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lab_vm.real_time import in_real_time

from lab.backends import boot
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.runs.plan import draw, make_plan
from tests.conftest import IN_GUEST, SMALL, experiment_on
from tests.guest import host as guest_host

NODES = {"server", "gateway", "satellite", "client"}
OnGuest = Callable[..., dict[str, Any]]


@pytest.fixture
def on_guest(tmp_path: Path, kernel: Kernel, world: Image) -> OnGuest:
    """Call a function of guest_host in a kernel of its own, with the plan of a small trial."""
    experiment = experiment_on(SMALL, "search", duration_s=20)
    plan = make_plan(experiment, experiment.ccas["search"], draw(experiment, 1))

    def requested(function: Callable[..., Any], **arguments: Any) -> dict[str, Any]:
        arguments |= {"plan": in_real_time(plan, "netns")}
        answer: dict[str, Any] = boot.call(function, arguments, tmp_path, kernel, world.root, more=IN_GUEST).result
        return answer

    return requested


def test_a_whole_trial_leaves_the_machine_as_it_was(on_guest: OnGuest) -> None:
    reported = on_guest(guest_host.whole)
    assert reported["error"] is None
    assert reported["after"] == reported["before"]
    assert len(reported["machine"]["seconds"]) >= 19
    assert reported["machine"]["late_us"]["max"] < 1000  # time is virtual here: nothing is late


@pytest.mark.parametrize("how", ["killed", "abandoned"])
def test_what_an_ended_trial_leaves_is_removed(on_guest: OnGuest, how: str) -> None:
    reported = on_guest(guest_host.left_by, how=how)
    assert set(reported["during"]["namespaces"]) == NODES
    assert reported["during"]["processes"] == ["dumpcap", "iperf3"]
    assert reported["during"]["tracing"]
    assert reported["during"]["sysctls"] != reported["before"]["sysctls"]
    assert reported["after"] == reported["before"], reported["cleaned"]
    if how == "abandoned":  # it cleaned up by itself
        assert (reported["ended"], reported["cleaned"]) == (reported["before"], "")
    else:
        assert "network namespace client" in reported["cleaned"]


def test_a_second_trial_and_a_namespace_of_somebody_else_are_refused(on_guest: OnGuest) -> None:
    reported = on_guest(guest_host.twice)
    assert "/run/search-lab/lock: held by '" in reported["error"]
    assert reported["first"]["error"] is None
    reported = on_guest(guest_host.stranger)
    assert reported["error"] == "ip netns: client: must not exist: it is not of this lab: delete or rename it"
    assert reported["after"]["namespaces"] == ["client"]


def test_a_client_on_a_second_machine_ends_when_it_must(tmp_path: Path, kernel: Kernel, world: Image) -> None:
    reported = boot.call(guest_host.far_client, {}, tmp_path, kernel, world.root, more=IN_GUEST).result
    assert (reported["ended"], reported["printed"], reported["left"]) == (False, "began\n", [])
    assert reported["machine"]["wake_ups"] > 0
