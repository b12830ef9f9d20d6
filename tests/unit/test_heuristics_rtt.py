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


def test_the_handshake_alone_gives_the_rtt() -> None:
    syn, syn_ack = packet(0.0, False, flags=SYN, tsval=None), packet(0.612, True, flags=SYN | ACK, tsecr=None)
    assert min_rtt_ms(capture(syn, syn_ack)) == pytest.approx(612)


def test_a_stray_packet_before_the_syn_ack_ends_no_handshake() -> None:
    stray = packet(0.1, True, flags=ACK, tsecr=None)
    syn, syn_ack = packet(0.0, False, flags=SYN, tsval=None), packet(0.612, True, flags=SYN | ACK, tsecr=None)
    assert min_rtt_ms(capture(syn, stray, syn_ack)) == pytest.approx(612)


def test_a_stray_packet_before_the_syn_begins_no_handshake() -> None:
    stray = packet(0.0, False, flags=ACK, tsval=None)
    syn, syn_ack = packet(0.1, False, flags=SYN, tsval=None), packet(0.712, True, flags=SYN | ACK, tsecr=None)
    assert min_rtt_ms(capture(stray, syn, syn_ack)) == pytest.approx(612)


def test_an_echo_shorter_than_the_handshake_counts() -> None:
    syn, syn_ack = packet(0.0, False, flags=SYN, tsval=1), packet(0.9, True, flags=SYN | ACK, tsecr=1)
    sent, echo = packet(1.0, False, tsval=500), packet(1.605, True, tsecr=500, len_bytes=1448)
    assert min_rtt_ms(capture(syn, syn_ack, sent, echo)) == pytest.approx(605)


def test_a_tsval_shared_by_several_acks_is_timed_from_the_first_to_its_first_echo() -> None:
    sent = [packet(1.0 + 0.0002 * number, False, tsval=500) for number in range(4)]
    echoes = [packet(1.6 + 0.0002 * number, True, tsecr=500, len_bytes=1448) for number in range(4)]
    assert min_rtt_ms(capture(*sent, *echoes)) == pytest.approx(600)


def test_a_time_stamp_of_the_servers_own_begins_no_round_trip() -> None:
    theirs, ours = packet(0.2, True, tsval=500, len_bytes=1448), packet(1.0, False, tsval=500)
    echo = packet(1.6, True, tsecr=500, len_bytes=1448)
    assert min_rtt_ms(capture(theirs, ours, echo)) == pytest.approx(600)


def test_a_round_trip_below_a_millisecond_counts() -> None:
    syn, syn_ack = packet(0.0, False, flags=SYN, tsval=None), packet(0.0004, True, flags=SYN | ACK, tsecr=None)
    assert min_rtt_ms(capture(syn, syn_ack)) == pytest.approx(0.4)


def test_what_comes_back_without_an_ack_echoes_nothing() -> None:
    sent, reset = packet(1.0, False, tsval=500), packet(1.1, True, tsecr=500, flags=0x04)
    echo = packet(1.6, True, tsecr=500, len_bytes=1448)
    assert min_rtt_ms(capture(sent, reset, echo)) == pytest.approx(600)


def test_other_flows_do_not_count() -> None:
    other = [packet(0.0, False, flags=SYN, tsval=1), packet(0.1, True, flags=SYN | ACK, tsecr=1)]
    assert min_rtt_ms(capture(*(row | {"flow": 0} for row in other))) is None


def test_a_capture_without_any_answer_has_no_rtt() -> None:
    assert min_rtt_ms(capture(packet(0.0, False, flags=SYN))) is None


@given(st.floats(5, 800))
@settings(max_examples=examples(30))  # each models a download
def test_a_download_shows_the_base_rtt_of_its_path_within_a_tick(base_rtt_ms: float) -> None:
    found = min_rtt_ms(download(Path(base_rtt_ms=base_rtt_ms, duration_s=2)).tables()["packets"])
    assert found is not None
    assert base_rtt_ms - 1e-6 <= found <= base_rtt_ms + 2
