# SPDX-License-Identifier: GPL-2.0-or-later
"""Why a series is not replayed with tbf: what it does when it is changed at each step, beside what `replay` does."""

from typing import Any

import numpy as np
import pytest

from tests.conftest import Bench
from tests.kernel.test_qdisc_replay import END_US, LINK, MBPS
from tests.link_bench import Spec, at_pace, cross

TBF: Spec = {"kind": "tbf", "rate_bps": 20 * MBPS, "burst_bytes": 1600, "limit_bytes": 20_000_000}
STEP_S = 0.01


def changed(*steps: tuple[float, int]) -> list[dict[str, Any]]:
    return [{"at_s": at_s, "spec": TBF | {"rate_bps": rate}} for at_s, rate in steps]


@pytest.mark.parametrize(("burst_bytes", "too_much_pct"), [(1600, 3), (15_000, 60)])
def test_tbf_lets_more_pass_at_every_change(bench: Bench, burst_bytes: int, too_much_pct: float) -> None:
    """A constant rate, restated every 10 ms: the bucket is filled again each time."""
    tbf = TBF | {"burst_bytes": burst_bytes}
    steps = [{"at_s": STEP_S * step, "spec": tbf} for step in range(200)]
    link = cross(bench, f"tbf-steps-{burst_bytes}", tbf, at_pace(50, 0, 1.9), 2.2, steps=steps)
    got = np.histogram(link.received["received_s"], [0.5, 1.5])[0][0] * 1514 * 8
    assert 100 * (got / (20 * MBPS) - 1) == pytest.approx(too_much_pct, rel=0.1)


def test_tbf_ends_a_stall_late(bench: Bench) -> None:
    steps = changed((0.2, 8000), (0.9, 20 * MBPS))  # it knows no rate of 0: 8 kbit/s, and 0.7 s of it
    packets = np.array([[500_000_000, 1514]] * 3, dtype=np.uint64)
    link = cross(bench, "tbf-stall", TBF, packets, 4.0, steps=steps)
    first_s, second_s, _ = link.packets["received_s"].to_list()
    assert first_s == pytest.approx(0.5, abs=1e-3)  # the bucket was filled again as the stall began
    assert second_s > 1.5  # the timer for 8 kbit/s still runs, 0.6 s and more after the stall has ended


def test_replay_does_neither(bench: Bench) -> None:
    steps = [(0, 20 * MBPS), (200_000, 0), (900_000, 20 * MBPS), (END_US, "end")]
    packets = np.array([[500_000_000, 1514]] * 3, dtype=np.uint64)
    link = cross(bench, "no-tbf-stall", LINK, packets, 4.0, series=steps)
    assert link.packets["received_s"].to_list() == pytest.approx([0.9 + n * 1514 * 8 / 20e6 for n in (1, 2, 3)])
