# SPDX-License-Identifier: GPL-2.0-or-later
"""What sums downloads up, over values given by hand: medians, the cycle of round trips, the rate, bands."""

from dataclasses import replace

import numpy as np
import pytest

from lab.evaluation.recorded.bands import bands
from lab.evaluation.recorded.download import Download, Floats
from lab.evaluation.recorded.rate import cycle_hz, median_rtt_ms, rate
from tests.ack_logs import IP_BYTES, MSS


def test_the_median_counts_time_and_not_acks() -> None:
    t_s = np.concatenate([np.arange(0.5, 8, 0.5), np.linspace(8, 9, 5000)])
    one = flat(t_s, np.where(t_s < 8, 600.0, 900.0))
    assert median_rtt_ms(one) == pytest.approx(600)


def test_the_median_is_that_of_the_first_nine_seconds() -> None:
    t_s = np.arange(0.1, 20, 0.1)
    assert median_rtt_ms(flat(t_s, np.where(t_s < 4.8, 600.0, 900.0))) == pytest.approx(600)
    assert median_rtt_ms(flat(t_s, np.where(t_s < 4.3, 600.0, 900.0))) == pytest.approx(900)


def test_the_cycle_of_round_trips_is_found() -> None:
    t_s = np.arange(0.6, 9, 0.04)
    assert cycle_hz(flat(t_s, 900 + 300 * np.sin(2 * np.pi * 0.5 * t_s))) == pytest.approx(0.5, abs=0.05)


def test_a_steady_rate_has_its_mean_and_no_spread() -> None:
    t_s = np.arange(0.005, 20, 0.01)
    one = flat(t_s, np.full(t_s.size, 600.0), delivered_bytes=np.arange(1.0, t_s.size + 1) * MSS * 10)
    found = rate(one)
    assert found is not None
    assert found.mean_mbps == pytest.approx(10 * IP_BYTES * 8 / 0.01 / 1e6)
    assert found.ln_sd == pytest.approx(0, abs=1e-9)


def test_the_rate_is_taken_until_the_first_loss_was_noticed() -> None:
    t_s = np.arange(0.005, 20, 0.01)
    one = flat(t_s, np.full(t_s.size, 600.0), delivered_bytes=np.arange(1.0, t_s.size + 1) * MSS)
    whole, until_loss = rate(one), rate(replace(one, loss_s=15.0))
    assert whole is not None
    assert until_loss is not None
    assert (whole.bins, until_loss.bins) == (17, 8)


def test_the_rate_is_taken_while_the_link_decides_and_not_once_the_window_does() -> None:
    t_s = np.arange(0.005, 20, 0.01)
    acked = np.arange(1.0, t_s.size + 1) * MSS
    one = flat(t_s, np.full(t_s.size, 600.0), delivered_bytes=acked)
    left = rate(replace(one, inflight_bytes=np.where(t_s < 15.0, acked, 0.5 * acked)))
    assert left is not None
    assert left.bins == 7


def flat(t_s: Floats, rtt_ms: Floats, delivered_bytes: Floats | None = None) -> Download:
    """Return a download with these round trips."""
    acked = np.arange(1, t_s.size + 1, dtype=float) * MSS
    delivered = acked if delivered_bytes is None else delivered_bytes
    return Download("flat", t_s, acked, acked, rtt_ms, delivered, np.zeros(t_s.size), MSS, None)


def test_the_middle_of_a_band_is_the_median_and_its_edges_leave_out_a_tenth() -> None:
    t_s = np.arange(0.5, 4, 0.05)
    one = bands([flat(t_s, np.full(t_s.size, rtt_ms)) for rtt_ms in (100.0, 200.0, 400.0)])["rtt_ms"]
    at = int(np.searchsorted(one.t_s, 2.0))
    assert one.middle[at] == pytest.approx(200)
    assert (one.low[at], one.high[at]) == pytest.approx((120, 360))
