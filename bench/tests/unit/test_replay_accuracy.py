# SPDX-License-Identifier: GPL-2.0-or-later
"""What the bench reports of a replayed link: nothing of an exact one, and the error of one that errs."""

import numpy as np
import pytest

from bench.replay.accuracy import (
    FRAME_BYTES,
    OPPORTUNITIES,
    RATE,
    Floats,
    ahead,
    delay_errors_ms,
    on_grid,
    series,
    window_errors_pct,
)
from lab.links.steps import Row
from tests.kernel.test_qdisc_replay import departures_s

STEPS: list[Row] = [(0.0, 20.0), (0.7, 5.0), (1.3, 0.0), (1.6, 0.3), (2.6, 30.0)]  # s, Mb/s
LENGTH_S = 3.0
FULL: Floats = np.full(5000, float(FRAME_BYTES))


def carried(steps: list[Row]) -> Floats:
    """When packets leave a link that always has a queue, until the series' end."""
    bps = [(round(t_s * 1e6), round(mbps * 1e6)) for t_s, mbps in steps]
    left_s = departures_s(np.zeros(3200), FULL[:3200], bps)
    return left_s[left_s < LENGTH_S]


def errors(got_s: Floats) -> Floats:
    return window_errors_pct(series(STEPS, RATE), got_s, FULL[: len(got_s)], LENGTH_S)


def test_an_exact_link_has_no_error_however_slow_it_is() -> None:
    got = errors(carried(STEPS))
    assert len(got) == 29
    assert got.max() < 0.01


def test_a_link_that_carries_too_much_is_reported_with_the_excess() -> None:
    faster = [(t_s, 1.02 * mbps) for t_s, mbps in STEPS]
    got = errors(carried(faster))
    assert got[:6] == pytest.approx([2.0] * 6, abs=0.2)


def test_a_change_that_comes_late_shows_in_its_window() -> None:
    late = [(t_s + 0.01 * (t_s > 0), mbps) for t_s, mbps in STEPS]
    got = errors(carried(late))
    assert got[6:8].max() == pytest.approx(100 * 0.01 * 15 / 0.1 / 5, rel=0.2)  # 15 Mb/s for 10 ms, of 5 Mb/s for 100
    assert np.median(got) < 0.01


def test_delivery_opportunities_are_exact_to_their_burst() -> None:
    rows = [(0.0, 0.0), *((0.007 * n, float(FRAME_BYTES * (n % 4))) for n in range(1, 400))]
    got_s = np.repeat([t_s for t_s, _ in rows], [round(value / FRAME_BYTES) for _, value in rows])
    link = series(rows, OPPORTUNITIES)
    assert window_errors_pct(link, got_s + 2e-6, FULL[: len(got_s)], 2.7).max() < 0.01
    missed = np.delete(got_s, 300)  # a packet too few, from then on
    assert window_errors_pct(link, missed + 2e-6, FULL[: len(missed)], 2.7).max() > 2


def test_packets_are_sent_ahead_of_the_link_and_as_many_as_it_carries() -> None:
    link = series(STEPS, RATE)
    packets = ahead(link, LENGTH_S, 0.5, 0.01)
    assert len(packets) == pytest.approx(float(link.sent_bytes(np.array([LENGTH_S + 0.5]))[0]) / FRAME_BYTES, abs=30)
    sent_s, left_s = packets[:, 0] / 1e9, carried(STEPS)
    lead_s = left_s - sent_s[: len(left_s)]
    assert lead_s[left_s > 0.5].min() > 0.48  # 0.5 s, less a tick and a frame at most
    assert lead_s.min() > 0


def test_a_series_on_a_grid_holds_its_values() -> None:
    t_s, values = zip(*on_grid([(0.0, 1.0), (0.025, 2.0), (0.04, 3.0)], 0.01, 0.06), strict=True)
    assert t_s == pytest.approx([0.0, 0.01, 0.02, 0.03, 0.04, 0.05])
    assert values == (1.0, 1.0, 1.0, 2.0, 3.0, 3.0)


def test_delays_are_compared_with_a_line_that_keeps_the_order() -> None:
    rows = [(0.0, 100.0), (1.0, 20.0)]
    sent_s = np.arange(0.0, 2.0, 0.003)
    behind_s = np.maximum.accumulate(sent_s + np.where(sent_s < 1.0, 0.1, 0.02))
    assert delay_errors_ms(rows, sent_s, behind_s).max() < 1e-6
    overtaking_s = sent_s + np.where(sent_s < 1.0, 0.1, 0.02)
    assert delay_errors_ms(rows, sent_s, overtaking_s).max() > 75
    assert delay_errors_ms(rows, sent_s, behind_s + 1e-4) == pytest.approx(0.1)
