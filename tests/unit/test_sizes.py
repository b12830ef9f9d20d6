# SPDX-License-Identifier: GPL-2.0-or-later
"""The room that a trial's records need follows from its link."""

from dataclasses import replace

import pytest

from lab.links.draw import Link
from lab.links.steps import Steps
from lab.runs import sizes
from lab.runs.plan import MSS_BYTES, draw
from lab.schema.workload import MOST_OBJECTS
from tests.conftest import SMALL, experiment_on

LINK = draw(experiment_on(SMALL, "cubic"), 1).link  # 20 Mb/s, 50 ms each way, a buffer of 500 kB
DURATION_S = 10


def memory_mb(link: Link) -> int:
    return sizes.memory_mb(link, DURATION_S, MSS_BYTES)


def down(**fields: object) -> Link:
    return replace(LINK, down=replace(LINK.down, **fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(("rtt_ms", "expected_us"), [(90.0, 1500), (1.0, 1000), (6000.0, 10_000)])
def test_a_queue_is_sampled_sixty_times_per_rtt_within_bounds(rtt_ms: float, expected_us: int) -> None:
    assert sizes.sample_us(replace(LINK, base_rtt_ms=rtt_ms)) == expected_us


def test_the_kernels_memory_holds_both_rings_and_sixteen_times_what_is_queued_or_in_flight() -> None:
    assert memory_mb(down(buffer_bytes=1_500_000)) == memory_mb(LINK) + 16
    for slower in (down(delay_ms=450.0), replace(LINK, up=replace(LINK.up, delay_ms=450.0))):
        assert memory_mb(slower) == memory_mb(LINK) + 16  # 400 ms of 20 Mb/s are 1 MB
    trace_mb = sizes.trace_kb(LINK, DURATION_S, MSS_BYTES) / 1024
    known_mb = 512 + trace_mb + sizes.ring_mb(LINK, MSS_BYTES) + 12
    assert known_mb <= memory_mb(LINK) < known_mb + 1


def test_the_capture_holds_two_seconds_of_headers_at_the_fastest() -> None:
    segments = 2 * 20e6 / 8 / MSS_BYTES
    assert 2 + 2 * segments * 192 / 1e6 <= sizes.ring_mb(LINK, MSS_BYTES) < 3 + 2 * segments * 192 / 1e6
    faster = down(rate_mbps=Steps.of([(0.0, 20.0), (1.0, 2000.0)]))
    assert sizes.ring_mb(faster, MSS_BYTES) > 50 * sizes.ring_mb(LINK, MSS_BYTES) / 2
    followed = down(rate_mbps=None)  # delivery opportunities: their mean rate stands for all
    assert sizes.ring_mb(followed, MSS_BYTES) == sizes.ring_mb(LINK, MSS_BYTES)


def test_the_trace_holds_an_event_per_segment_and_per_sample_and_half_as_much_again() -> None:
    segments, samples = 20e6 / 8 * DURATION_S / MSS_BYTES, LINK.series_s * 1e6 / sizes.sample_us(LINK)
    events_kb = 1.5 * (segments * 160 + samples * 64) / 1024
    assert 1024 + events_kb <= sizes.trace_kb(LINK, DURATION_S, MSS_BYTES) < 1025 + events_kb


def test_the_trace_of_requests_is_no_longer_than_they_need() -> None:
    requested_kb = 1.5 * 2 * 1_448_000 / MSS_BYTES * 160 / 1024
    without = sizes.trace_kb(LINK, 600, MSS_BYTES, 0)
    assert sizes.trace_kb(LINK, 600, MSS_BYTES, 1_448_000) - without == pytest.approx(requested_kb, abs=1)
    objects_kb = 1.5 * MOST_OBJECTS * 160 / 1024
    samples_kb = 1.5 * LINK.series_s * 1e6 / sizes.sample_us(LINK) * 64 / 1024
    assert without == pytest.approx(1024 + objects_kb + samples_kb, abs=1)
