# SPDX-License-Identifier: GPL-2.0-or-later
"""The server's tracepoints become tables that share clock, flows and sequence numbers with the capture."""

import json
from pathlib import Path

import numpy as np
import polars as pl

from lab.senders.traced import PORT, SNAPLEN_BYTES
from lab.tables.acks import Clock, ack_table, retransmit_table, state_table
from lab.tables.packets import read_packets
from lab.tables.trace import read_events

DRAFT = Path(__file__).parents[1] / "data" / "draft"
EVENTS = read_events(DRAFT / "trace.raw", DRAFT / "formats")
CAPTURE = read_packets(DRAFT / "client.pcapng", PORT, SNAPLEN_BYTES)
CLOCKS = json.loads((DRAFT / "node.json").read_text())["clocks"]
CLOCK = Clock(CAPTURE.start_ns - CLOCKS["realtime_ns"] + CLOCKS["monotonic_ns"], CAPTURE.client_ports)
ACKS = ack_table(EVENTS, CLOCK, CAPTURE.server_isn)
UP_S = 0.05  # of the captured trial


def test_every_row_is_an_ack_of_the_data_flow_and_its_window_begins_as_the_initial_one() -> None:
    assert set(ACKS["flow"]) == {1}
    sent = CAPTURE.packets.filter((pl.col("flow") == 1) & ~pl.col("to_client"))
    assert ACKS.height <= sent.height
    control = next(port for port, flow in CAPTURE.client_ports.items() if flow == 0)
    assert (EVENTS["tcp:tcp_probe"]["dport"] == control).any()
    assert ACKS.height == int((EVENTS["tcp:tcp_probe"]["dport"] != control).sum())
    assert ACKS["ssthresh_pkts"][0] is None
    assert ACKS["cwnd_pkts"][0] == 10
    assert ACKS["ssthresh_pkts"].drop_nulls().max() < 1000  # type: ignore[operator]
    retransmits, states = retransmit_table(EVENTS, CLOCK), state_table(EVENTS, CLOCK)
    assert set(retransmits["state"]) <= {"established", "fin_wait1", "close_wait"}
    assert set(states["state"]) <= {"open", "disorder", "cwr", "recovery", "loss"}
    assert "recovery" in set(states["state"])
    assert retransmits["t_s"][0] >= states.filter(pl.col("state") == "recovery")["t_s"][0]


def test_an_ack_is_taken_in_one_way_delay_after_the_client_sent_it() -> None:
    """tcp_probe shows snd_una before the ACK is taken in: the next row's snd_una is the number that it brought."""
    sent = (
        CAPTURE.packets.filter((pl.col("flow") == 1) & ~pl.col("to_client"))
        .group_by("ack_bytes")
        .agg(pl.col("t_s").min().alias("sent_s"))
    )
    taken = ACKS.select("t_s", ack_bytes=pl.col("snd_una_bytes").shift(-1)).filter(
        pl.col("ack_bytes") > ACKS["snd_una_bytes"]
    )
    both = taken.join(sent, on="ack_bytes")
    assert both.height > 50
    assert ((both["t_s"] - both["sent_s"] - UP_S).abs() < 1e-4).all()


def test_sequences_are_relative_and_continue_past_their_wrap() -> None:
    port = next(port for port, flow in CAPTURE.client_ports.items() if flow == 1)
    kind = [("t_ns", "<i8"), ("dport", "<u2"), ("snd_cwnd", "<u4"), ("ssthresh", "<u4"), ("srtt", "<u4")]
    probe = np.zeros(3, dtype=[*kind, ("snd_una", "<u4"), ("snd_nxt", "<u4"), ("snd_wnd", "<u4")])
    probe["dport"] = port
    probe["snd_una"] = [2**32 - 100, 2**32 - 10, 90]
    probe["snd_nxt"] = [2**32 - 10, 90, 190]
    table = ack_table({"tcp:tcp_probe": probe}, CLOCK, {0: 0, 1: 2**32 - 200})
    assert table["snd_una_bytes"].to_list() == [100, 190, 290]
    assert table["snd_nxt_bytes"].to_list() == [190, 290, 390]
