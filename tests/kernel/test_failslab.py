# SPDX-License-Identifier: GPL-2.0-or-later
"""A sender that gets no memory goes on as CUBIC or Reno and counts it; one in a kernel short of memory arrives too."""

import pytest

from lab.images.image import Image
from lab.kernel.build import Kernel
from tests.conftest import recipe_under_test
from tests.guest import failslab as guest_failslab
from tests.guest.hardships import SIZE_BYTES
from tests.stress import Guest, algorithms, link

pytestmark = pytest.mark.skipif(
    not recipe_under_test().sanitize, reason="only the sanitize kernel injects failures: make test-sanitize"
)


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> Guest:
    return Guest(tmp_path_factory.mktemp("failslab"), kernel, world)


@pytest.mark.parametrize("algorithm", ["search", "best", "bbr3", "leocc", "vivace"])
def test_a_flow_without_memory_of_its_own_arrives_and_is_counted(guest: Guest, algorithm: str) -> None:
    requested = {"module": f"tcp_{algorithm}", "parameter": "no_memory_flows"}
    found = guest.call(guest_failslab.starved_module, link=link(), algorithms=[algorithm], **requested)
    assert found["counted"] == {algorithm: 1}
    assert found["facts"][algorithm]["got_bytes"] == SIZE_BYTES


def test_every_sender_arrives_in_a_kernel_where_one_allocation_in_twenty_fails(guest: Guest) -> None:
    found = guest.call(guest_failslab.starved_kernel, link=link(), algorithms=algorithms())
    assert {facts["got_bytes"] for facts in found["facts"].values()} == {SIZE_BYTES}
    assert min(found["failed"].values()) > 10
