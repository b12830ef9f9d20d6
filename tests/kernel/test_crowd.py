# SPDX-License-Identifier: GPL-2.0-or-later
"""A thousand flows at once, of all senders by turns, each get everything through."""

from pathlib import Path

from lab.images.image import Image
from lab.kernel.build import Kernel
from tests.guest import crowd as guest_crowd
from tests.stress import Guest, algorithms, link

FLOWS = 1000


def test_a_thousand_flows_at_once_all_arrive(tmp_path: Path, kernel: Kernel, world: Image) -> None:
    found = Guest(tmp_path, kernel, world).call(guest_crowd.crowd, link=link(), algorithms=algorithms(), flows=FLOWS)
    assert found["got_bytes"] == FLOWS * guest_crowd.SIZE_BYTES
    assert 1 <= found["most_cwnd_pkts"] < guest_crowd.SIZE_BYTES
