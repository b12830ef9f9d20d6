# SPDX-License-Identifier: GPL-2.0-or-later
"""What a sender learns of a packet that its own queue does not send: a full queue reports it, a lossy path does not."""

from pathlib import Path

from lab.backends import boot
from tests.conftest import Bench
from tests.guest import qdiscs as guest_qdiscs
from tests.link_bench import Spec
from tests.unit.test_qdisc_delay import DELAY_LINE


def reported(bench: Bench, folder: Path, spec: Spec) -> int:
    """Count what the sender learns of ten packets."""
    arguments = {"spec": spec, "count": 10}
    called = boot.call(guest_qdiscs.refused_by_own_queue, arguments, folder, bench.kernel, bench.world.root)
    count: int = called.result
    return count


def test_what_is_lost_on_the_way_is_not_reported_and_what_finds_the_line_full_is(bench: Bench, tmp_path: Path) -> None:
    assert reported(bench, tmp_path, DELAY_LINE | {"loss_pct": 100.0}) == 0
    assert reported(bench, tmp_path, DELAY_LINE | {"limit_pkts": 4}) == 6
