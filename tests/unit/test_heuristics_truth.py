# SPDX-License-Identifier: GPL-2.0-or-later
"""When the bottleneck's queue stays filled, from its own samples."""

from collections.abc import Callable

import polars as pl
import pytest

from lab.judge.rules.truth import capacity_s
from lab.tables.link_capacity import LinkCapacity
from tests.slow_start_model import Path, download

RTT_MS, RATE_MBPS, EVERY_S = 100.0, 8.0, 0.01
BYTES_PER_S = RATE_MBPS * 1e6 / 8
LINK = LinkCapacity.constant(RATE_MBPS, RTT_MS)


def sampled(backlog: Callable[[float], bool], sent_share: float = 1.0, until_s: float = 1.0) -> pl.DataFrame:
    """A queue that is filled when the function returns true, on a link that sends this share of its rate."""
    times = [EVERY_S * n for n in range(round(until_s / EVERY_S))]
    columns = {
        "t_s": times,
        "backlog_bytes": [1514 * backlog(t_s) for t_s in times],
        "sent_bytes": [round(BYTES_PER_S * sent_share * t_s) for t_s in times],
    }
    return pl.DataFrame(columns)


@pytest.mark.parametrize(
    ("is_filled", "sent_share", "found_s"),
    [
        (lambda t_s: t_s >= 0.3, 1.0, 0.3),  # the first sample of a queue that stays
        (lambda t_s: t_s % 0.1 < 0.08 or t_s >= 0.6, 1.0, 0.6),  # bursts shorter than a base RTT do not count
        (lambda t_s: t_s >= 0.3 and abs(t_s - 0.35) > 1e-6, 1.0, 0.36),  # an empty sample starts the count again
        (lambda t_s: t_s >= 0.95, 1.0, None),  # too late to stay for an RTT
        (lambda t_s: t_s >= 0.3, 0.5, None),
        (lambda t_s: t_s >= 0.3, 0.94, None),  # less than nineteen twentieths: the link is not busy
        (lambda t_s: t_s >= 0.3, 0.96, 0.3),
    ],
)
def test_the_capacity_is_the_first_sample_of_a_queue_that_stays_for_an_rtt_on_a_busy_link(
    is_filled: Callable[[float], bool], sent_share: float, found_s: float | None
) -> None:
    assert capacity_s(sampled(is_filled, sent_share), LINK) == (found_s and pytest.approx(found_s))
    assert capacity_s(sampled(is_filled, sent_share, until_s=0), LINK) is None  # without samples


@pytest.mark.parametrize(("base_rtt_ms", "found_s"), [(20.5, 0.3), (19.5, None)])
def test_a_base_rtt_of_three_samples_is_enough_and_one_of_two_is_not(base_rtt_ms: float, found_s: float | None) -> None:
    link = LinkCapacity.constant(RATE_MBPS, base_rtt_ms)
    assert capacity_s(sampled(lambda t_s: t_s >= 0.295), link) == (found_s and pytest.approx(found_s))


def test_what_never_fills_the_link_or_came_before_the_queue_is_no_capacity() -> None:
    late = sampled(lambda t_s: t_s >= 0.3).with_columns(sent_bytes=pl.col("sent_bytes").clip(upper_bound=300_000))
    assert capacity_s(late, LINK) is None
    assert capacity_s(sampled(lambda t_s: t_s >= 0.3, sent_share=0), LinkCapacity.constant(0, RTT_MS)) is None
    path = Path(rate_mbps=8, base_rtt_ms=200, exit_cwnd_pkts=40)
    assert capacity_s(download(path).tables()["qdisc"], LinkCapacity.constant(path.rate_mbps, path.base_rtt_ms)) is None


def test_a_modelled_slow_start_fills_the_queue_when_its_window_exceeds_the_bandwidth_delay_product() -> None:
    path = Path(rate_mbps=8, base_rtt_ms=200)
    tables = download(path).tables()
    found_s = capacity_s(tables["qdisc"], LinkCapacity.constant(path.rate_mbps, path.base_rtt_ms))
    assert found_s is not None
    at_that_time = tables["acks"].filter(pl.col("t_s") <= found_s)["cwnd_pkts"][-1]
    bdp_pkts = path.rate_mbps * 1e6 * path.base_rtt_ms / 1000 / 8 / 1514
    assert bdp_pkts < 2 * at_that_time < 4 * bdp_pkts
