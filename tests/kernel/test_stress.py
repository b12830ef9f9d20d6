# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows of all senders while memory fails and modules come and go, and a thousand flows at once."""

from pathlib import Path
from typing import Any

import pytest

from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.schema.cca import load_ccas
from tests.guest import crowd as guest_crowd
from tests.guest import modules as guest_modules
from tests.stress import SLOW, Guest, algorithms, link

FLOWS = 1000


def test_a_thousand_flows_at_once_all_arrive(tmp_path: Path, kernel: Kernel, world: Image) -> None:
    found = Guest(tmp_path, kernel, world).call(guest_crowd.crowd, link=link(), algorithms=algorithms(), flows=FLOWS)
    assert found["got_bytes"] == FLOWS * guest_crowd.SIZE_BYTES
    assert 1 <= found["most_cwnd_pkts"] < guest_crowd.SIZE_BYTES


TIMES = 1000
OURS = {cca.module: cca.algorithm for cca in load_ccas().values() if cca.module}
LEAST_GROWTH_KB = 1000  # of a kernel that has not settled; a flow's state lost each time were 300 kB, a module 12 MB


@pytest.fixture(scope="module")
def reloaded(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> dict[str, Any]:
    guest = Guest(tmp_path_factory.mktemp("modules"), kernel, world)
    requested = {"module": "tcp_search", "algorithm": OURS["tcp_search"], "times": TIMES}
    answer: dict[str, Any] = guest.call(guest_modules.reloaded, link=link(SLOW), **requested)
    return answer


def test_a_used_module_is_never_unloaded_and_a_thousand_loads_leave_no_memory_in_use(reloaded: dict[str, Any]) -> None:
    assert reloaded["refused"] == TIMES
    assert reloaded["moved_bytes"] > TIMES * guest_modules.OWN_BYTES
    grown_kb = {name: reloaded["late"][name] - before for name, before in reloaded["early"].items()}
    assert max(grown_kb.values()) < LEAST_GROWTH_KB, grown_kb
