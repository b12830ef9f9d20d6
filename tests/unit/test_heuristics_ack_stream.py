# SPDX-License-Identifier: GPL-2.0-or-later
"""RTT samples and delivered bytes, recovered from what tcp_probe shows before each ACK."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.judge.ack_stream import ack_stream
from tests.slow_start_model import ACKS


def probed(*rows: tuple[float, int]) -> pl.DataFrame:
    """Rows of acks.parquet a second apart: smoothed RTT in ms, and the bytes acknowledged so far."""
    known = ({"srtt_ms": srtt_ms, "snd_una_bytes": una_bytes} for srtt_ms, una_bytes in rows)
    return pl.DataFrame([{"t_s": float(n), "flow": 1} | row for n, row in enumerate(known)], schema=ACKS)


def kernel_srtt_ms(first_us: int, samples_us: list[int]) -> list[float]:
    """tcp_rtt_estimator: eight times the smoothed RTT is kept, whole microseconds of it are shown."""
    kept, shown = first_us * 8, [first_us / 1000]
    for sample_us in samples_us:
        kept += sample_us - (kept >> 3)
        shown.append((kept >> 3) / 1000)
    return shown


@given(st.lists(st.integers(1_000, 3_000_000), min_size=1, max_size=50))
def test_the_samples_that_a_linux_sender_smoothed_are_recovered_to_some_microseconds(samples_us: list[int]) -> None:
    srtt_ms = kernel_srtt_ms(600_000, samples_us)
    reported = ack_stream(probed(*((srtt, 1448 * n + 2) for n, srtt in enumerate(srtt_ms))))
    assert reported["rtt_us"].to_list() == pytest.approx(samples_us, abs=8 + 7)  # of whole microseconds


def test_an_ack_delivered_what_the_next_row_finds_acknowledged_and_has_the_smoothed_rtt_without_a_sample() -> None:
    reported = ack_stream(probed((600, 1449), (600, 2897), (600, 5793)))
    assert reported.select("t_us", "delivered_bytes").rows() == [(0, 2897), (1_000_000, 5793)]
    assert ack_stream(probed((640, 1), (640, 1), (645, 1449)))["t_us"].to_list() == [1_000_000]  # not the handshake's
    assert ack_stream(probed((640, 1449), (640, 2897)))["rtt_us"].to_list() == [640_000]
    assert ack_stream(probed((640, 1449), (640, 2897)), flow=2).is_empty()
