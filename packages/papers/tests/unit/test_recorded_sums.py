# SPDX-License-Identifier: GPL-2.0-or-later
"""What sums downloads up, over values given by hand: medians, the cycle of round trips, the rate, bands."""

from dataclasses import replace

import numpy as np
import pytest
from ack_logs import IP_BYTES, MSS
from lab_papers.evaluation.recorded.bands import bands, marks
from lab_papers.evaluation.recorded.download import Download, Floats
from lab_papers.evaluation.recorded.rate import acked_after_s, cycle_hz, median_rtt_ms, rate, spells


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


def in_turns(queue_ms: float = 3000.0) -> Download:
    """Return a download at 10 Mb/s for 4 s and 1 Mb/s for 6 s in turns, behind a queue but for its first 3 s."""
    t_s = np.arange(0.0, 43.2, 0.01)
    mbps = np.where((t_s % 10) < 4, 10.0, 1.0)
    share = MSS / IP_BYTES
    return flat(t_s, np.where(t_s < 3, 600.0, queue_ms), np.cumsum(mbps) * 1e6 / 8 * 0.01 * share)


def test_spells_have_their_lengths_and_rates() -> None:
    found = spells(in_turns())
    assert found is not None
    assert found.lasts_s == pytest.approx(6)
    assert found.apart_s == pytest.approx((1 + 3 * 4 + 3) / 4, abs=0.3)  # the last stretch has not ended
    assert found.first_s == pytest.approx(4, abs=0.5)
    assert (found.slow.median_mbps, found.usual.median_mbps) == pytest.approx((1, 10), rel=0.01)
    assert (found.slow.ln_sd, found.usual.ln_sd) == pytest.approx((0, 0), abs=0.01)


def test_spells_are_looked_for_where_a_queue_stands_and_until_a_time() -> None:
    assert spells(in_turns(queue_ms=1700.0)) is None
    found = spells(in_turns(), until_s=20.0)
    assert found is not None
    assert found.queue_s == pytest.approx(17, abs=0.5)


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


def test_a_round_trip_that_was_not_measured_is_between_its_neighbours() -> None:
    t_s = np.arange(0.1, 20, 0.1)
    rtt_ms = np.where(t_s < 4.0, 600.0, 900.0)
    with_gaps = np.where(np.arange(t_s.size) % 3 == 1, np.nan, rtt_ms)
    assert median_rtt_ms(flat(t_s, with_gaps)) == median_rtt_ms(flat(t_s, rtt_ms)) == pytest.approx(900)
    never = flat(t_s, np.full(t_s.size, np.nan))
    assert median_rtt_ms(never) is None
    assert cycle_hz(never) is None


def test_a_mark_is_when_the_segment_of_its_number_was_acknowledged() -> None:
    t_s = np.arange(0.5, 12, 0.005)
    one = flat(t_s, np.full(t_s.size, 600.0))
    assert acked_after_s(one, t_s.size + 1) is None
    (row,) = marks([one]).to_dicts()
    for segments in (50, 200, 500, 1000, 2000):
        assert acked_after_s(one, segments) == pytest.approx(t_s[segments - 1])
        (name,) = [name for name in row if str(segments) in name.replace("_", " ").split()]
        assert row[name] == pytest.approx(t_s[segments - 1])
