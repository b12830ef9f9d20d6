# SPDX-License-Identifier: GPL-2.0-or-later
"""The minimum RTT from the client's capture."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.judge.rtt import min_rtt_ms
from tests.examples import examples
from tests.slow_start_model import ACK, PACKETS, SYN, Path, download, packet


def capture(*rows: dict[str, object]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=PACKETS, orient="row")


def syn(t_s: float, **more: object) -> dict[str, object]:
    return packet(t_s, False, flags=SYN, **({"tsval": None} | more))


def syn_ack(t_s: float, **more: object) -> dict[str, object]:
    return packet(t_s, True, flags=SYN | ACK, **({"tsecr": None} | more))


SENT, ECHO = packet(1.0, False, tsval=500), packet(1.6, True, tsecr=500, len_bytes=1448)


@pytest.mark.parametrize(
    ("rows", "found_ms"),
    [
        ([syn(0.0), syn_ack(0.612)], 612),  # the handshake alone
        ([syn(0.0), packet(0.1, True, flags=ACK, tsecr=None), syn_ack(0.612)], 612),  # a stray packet ends none
        ([packet(0.0, False, flags=ACK, tsval=None), syn(0.1), syn_ack(0.712)], 612),  # nor does it begin one
        ([syn(0.0, tsval=1), syn_ack(0.9, tsecr=1), SENT, ECHO], 600),  # an echo shorter than the handshake
        ([packet(0.2, True, tsval=500, len_bytes=1448), SENT, ECHO], 600),  # a time stamp of the server's own
        ([syn(0.0), syn_ack(0.0004)], 0.4),  # below a millisecond
        ([SENT, packet(1.1, True, tsecr=500, flags=0x04), ECHO], 600),  # a reset, without an ACK, echoes nothing
        ([row | {"flow": 0} for row in (syn(0.0, tsval=1), syn_ack(0.1, tsecr=1))], None),  # other flows
        ([packet(0.0, False, flags=SYN)], None),  # without any answer
    ],
)
def test_the_least_round_trip_is_of_the_handshake_or_of_an_echoed_time_stamp(
    rows: list[dict[str, object]], found_ms: float | None
) -> None:
    assert min_rtt_ms(capture(*rows)) == (found_ms and pytest.approx(found_ms))


def test_a_tsval_shared_by_several_acks_is_timed_from_the_first_to_its_first_echo() -> None:
    sent = [packet(1.0 + 0.0002 * number, False, tsval=500) for number in range(4)]
    echoes = [packet(1.6 + 0.0002 * number, True, tsecr=500, len_bytes=1448) for number in range(4)]
    assert min_rtt_ms(capture(*sent, *echoes)) == pytest.approx(600)


@given(st.floats(5, 800))
@settings(max_examples=examples(30))  # each models a download
def test_a_download_shows_the_base_rtt_of_its_path_within_a_tick(base_rtt_ms: float) -> None:
    found = min_rtt_ms(download(Path(base_rtt_ms=base_rtt_ms, duration_s=2)).tables()["packets"])
    assert found is not None
    assert base_rtt_ms - 1e-6 <= found <= base_rtt_ms + 2
