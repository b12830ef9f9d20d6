# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders without memory, by the thousand, and with modules that come and go: all arrives, and nothing stays behind."""

import pytest

from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.runs.plan import draw, make_plan
from lab.schema.cca import load_ccas
from tests.conftest import SMALL, experiment_on, recipe_under_test
from tests.guest import failslab as guest_failslab
from tests.guest import modules as guest_modules
from tests.guest import trial as guest_trial
from tests.guest.hardships import SIZE_BYTES
from tests.stress import SLOW, Guest, algorithms, link

FLOWS, LOADS = 1000, 1000
LEAST_GROWTH_KB = 1000  # of a kernel that has not settled; a flow's state lost each time were 300 kB, a module 12 MB

sanitized = recipe_under_test().sanitize
where_memory_fails = pytest.mark.skipif(
    not sanitized, reason="only the sanitize kernel injects failures: make test-sanitize"
)
where_bugs_show = pytest.mark.skipif(
    not sanitized, reason="trials on the default kernel are many: this is for make test-sanitize"
)


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> Guest:
    return Guest(tmp_path_factory.mktemp("stress"), kernel, world)


def test_a_thousand_flows_at_once_of_all_senders_by_turns_all_arrive(guest: Guest) -> None:
    found = guest.call(guest_modules.crowd, link=link(), algorithms=algorithms(), flows=FLOWS)
    assert found["got_bytes"] == FLOWS * guest_modules.SIZE_BYTES
    assert 1 <= found["most_cwnd_pkts"] < guest_modules.SIZE_BYTES


def test_a_used_module_is_never_unloaded_and_a_thousand_loads_leave_no_memory_in_use(guest: Guest) -> None:
    requested = {"module": "tcp_search", "algorithm": load_ccas()["search"].algorithm, "times": LOADS}
    reloaded = guest.call(guest_modules.reloaded, link=link(SLOW), **requested)
    assert reloaded["refused"] == LOADS
    assert reloaded["moved_bytes"] > LOADS * guest_modules.OWN_BYTES
    grown_kb = {name: reloaded["late"][name] - before for name, before in reloaded["early"].items()}
    assert max(grown_kb.values()) < LEAST_GROWTH_KB, grown_kb


@where_memory_fails
@pytest.mark.parametrize("algorithm", ["search", "best", "bbr3", "leocc", "vivace"])
def test_a_flow_without_memory_of_its_own_goes_on_arrives_and_is_counted(guest: Guest, algorithm: str) -> None:
    requested = {"module": f"tcp_{algorithm}", "parameter": "no_memory_flows"}
    found = guest.call(guest_failslab.starved_module, link=link(), algorithms=[algorithm], **requested)
    assert found["counted"] == {algorithm: 1}
    assert found["facts"][algorithm]["got_bytes"] == SIZE_BYTES


@where_memory_fails
def test_every_sender_arrives_in_a_kernel_where_one_allocation_in_twenty_fails(guest: Guest) -> None:
    found = guest.call(guest_failslab.starved_kernel, link=link(), algorithms=algorithms())
    assert {facts["got_bytes"] for facts in found["facts"].values()} == {SIZE_BYTES}
    assert min(found["failed"].values()) > 10


@where_bugs_show
@pytest.mark.parametrize("sender", load_ccas())
def test_a_trial_of_each_sender_leaves_the_kernel_silent(guest: Guest, sender: str) -> None:
    experiment = experiment_on(SMALL, sender)
    plan = make_plan(experiment, experiment.ccas[sender], draw(experiment, 1)) | {"preload": None}
    assert 1 < guest.call(guest_trial.trial, plan=plan) < SMALL.down.rate_mbps
