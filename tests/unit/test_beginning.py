# SPDX-License-Identifier: GPL-2.0-or-later
"""When the clocks of a boot's trials may begin."""

import pytest

from lab.node import beginning
from lab.node.system.tools import NodeError


def test_no_trial_begins_where_a_queue_s_clock_has_passed_half_of_its_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beginning, "_await_rest", lambda: None)
    monkeypatch.setattr("lab.node.beginning.time.monotonic_ns", lambda: beginning.LAST_ORIGIN_NS)
    with pytest.raises(NodeError, match=r"^a boot's trials begin in its first 2048 s$"):
        beginning.prepare({"seed": 1})  # type: ignore[typeddict-item]


def test_origins_lie_at_one_place_of_every_clock_that_packets_depend_on() -> None:
    units_ns = {"timers of up to 258 s": 4_096_000_000, "us": 1000, "1.024 us": 1024, "a tick": 1_000_000}
    assert all(beginning.STEP_NS % unit_ns == 0 for unit_ns in units_ns.values())
