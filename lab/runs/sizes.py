# SPDX-License-Identifier: GPL-2.0-or-later
"""How much room a trial's records need, and how often its queue is sampled: all follow from the drawn link."""

import math
from itertools import groupby

from lab.links.draw import CLOSING_S, Link
from lab.links.steps import peak
from lab.schema.workload import MOST_OBJECTS

TRACE_EVENT_BYTES, SAMPLE_BYTES = 160, 64
RING_S, RING_HEADER_BYTES, LEAST_RING_MB = 2.0, 192, 2  # a header, with the kernel's own
SAMPLES_PER_RTT = 60
FLOW_MB = 20  # a send buffer of 16 MiB (tcp_wmem), which iperf3 fills at once, and both programs
KERNEL_MB, SPARE_MB = 160, 352  # what a kernel and its programs take; what it may take more, and does not touch
WORKER_MB = 160  # of the process that boots it, and decodes its records piece by piece
LEAST_SAMPLE_MS, MOST_SAMPLE_MS = 1.0, 10.0


def sample_us(link: Link) -> int:
    """Return the time between two samples of the bottleneck's qdisc: some dozens of samples per RTT."""
    return round(max(min(link.base_rtt_ms / SAMPLES_PER_RTT, MOST_SAMPLE_MS), LEAST_SAMPLE_MS) * 1e3)


def trace_kb(link: Link, duration_s: int, mss_bytes: int, size_bytes: float = math.inf) -> int:
    """Return the trace buffer: one event per segment at full rate, one per sample, and half as much again.

    size_bytes: of a workload, all that it requests: no more segments than twice of it, or those of its small objects.
    """
    most_mbit = min(_peak_mbps(link) * duration_s, link.mean_rate_mbps * (link.series_s - CLOSING_S))
    full_bytes = max(most_mbit, link.mean_rate_mbps * duration_s) * 1e6 / 8  # its fastest seconds, where it changes
    segments = min(full_bytes, 2 * size_bytes + MOST_OBJECTS * mss_bytes) / mss_bytes
    samples = link.series_s * 1e6 / sample_us(link)
    return math.ceil(1.5 * (segments * TRACE_EVENT_BYTES + samples * SAMPLE_BYTES) / 1024) + 1024


def ring_mb(link: Link, mss_bytes: int) -> int:
    """Return the capture's ring: headers of RING_S seconds, one ACK per segment. dumpcap touches all of it."""
    segments = RING_S * _peak_mbps(link) * 1e6 / 8 / mss_bytes
    return math.ceil(2 * segments * RING_HEADER_BYTES / 1e6) + LEAST_RING_MB


def memory_mb(link: Link, duration_s: int, mss_bytes: int, size_bytes: float = math.inf, flows: int = 1) -> int:
    """Return the kernel's memory: both rings, 16 times what is in flight or queued (truesize, both ends), and programs.

    Of two downloads the programs and sockets have room; each further one has FLOW_MB.
    """
    longest_rtt_ms = peak(link.down.delay_ms) + peak(link.up.delay_ms)  # without any queue
    in_flight_bytes = link.buffer_bytes + _peak_mbps(link) * 1e6 / 8 * longest_rtt_ms / 1e3
    programs_mb = KERNEL_MB + SPARE_MB + FLOW_MB * max(flows - 2, 0)
    rings_mb = ring_mb(link, mss_bytes) + trace_kb(link, duration_s, mss_bytes, size_bytes) / 1024
    return math.ceil(programs_mb + rings_mb + 16 * in_flight_bytes / 1e6)


def packets(link: Link, duration_s: int, mss_bytes: int) -> float:
    """Return how many packets a capture may hold: data at the full rate, and an ACK for every other segment."""
    return 1.5 * link.mean_rate_mbps * 1e6 / 8 / mss_bytes * duration_s


def worker_mb(kernel_mb: int) -> int:
    """Return what a worker takes, with a virtual kernel of so much memory.

    Decoding begins when the kernel has ended, and takes less: 40 bytes per event, of which the kernel held 160.
    """
    return WORKER_MB + kernel_mb - SPARE_MB


def _peak_mbps(link: Link) -> float:
    """Return the fastest rate of the link; of delivery opportunities that of their fastest second."""
    if link.down.rate_mbps is not None:
        return peak(link.down.rate_mbps)
    assert link.down.opportunity_bytes is not None
    seconds = groupby(link.down.opportunity_bytes.rows(), key=lambda row: int(row[0]))
    return max(sum(size_bytes for _, size_bytes in each) for _, each in seconds) * 8 / 1e6
