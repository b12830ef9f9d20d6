# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's trace pages, decoded event by event into ACKs and exits that share the capture's clock."""

import json
import shutil
import struct
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.base.errors import UserError
from lab.schema.cca import load_ccas
from lab.senders.traced import PORT, SNAPLEN_BYTES
from lab.tables.acks import Clock, ack_table, retransmit_table, state_table
from lab.tables.columns import schema
from lab.tables.exits import BINS, EXIT_EVENT, EXITS, exit_table
from lab.tables.packets import read_packets
from lab.tables.trace import MISSED, read_events, read_format
from tests.brief import error_of, put
from tests.certified import TABLES
from tests.examples import examples

DRAFT = Path(__file__).parents[1] / "data" / "draft"
RAW = (DRAFT / "trace.raw").read_bytes()
EVENTS = read_events(DRAFT / "trace.raw", DRAFT / "formats")


def test_a_format_gives_the_events_number_and_every_field_or_is_refused() -> None:
    number, kind = read_format((DRAFT / "formats/tcp.tcp_probe.format").read_text())
    assert number == 272
    assert kind.fields is not None
    assert kind.fields["sport"][:2] == (np.dtype("<u2"), 64)
    assert kind.fields["snd_cwnd"][:2] == (np.dtype("<u4"), 88)
    assert kind.fields["saddr"][0].itemsize == 28
    assert kind.fields["common_pid"][0] == np.dtype("<i4")
    assert "without ID" in error_of(read_format, "name: nothing\nformat:\n")


def test_every_event_that_was_requested_is_there_in_order_and_as_many_retransmissions_as_iperf3_counts() -> None:
    assert {name: len(events) for name, events in EVENTS.items()} == {
        "tcp:tcp_probe": 199,
        "tcp:tcp_retransmit_skb": 37,
        "tcp:tcp_cong_state_set": 10,
        "slow_start:slow_start_exit": 1,
        "search:search_bin": 11,
        "qdisc_sampler:qdisc_sample": 87,
    }
    node, times = json.loads((DRAFT / "node.json").read_text()), EVENTS["tcp:tcp_probe"]["t_ns"]
    (download,) = node["downloads"]
    assert len(EVENTS["tcp:tcp_retransmit_skb"]) == download["iperf3"]["end"]["sum_sent"]["retransmits"]
    assert (np.diff(times) >= 0).all()
    start_ns = node["clocks"]["monotonic_ns"]
    assert start_ns < times[0] < times[-1] < start_ns + 4e9


def test_fields_hold_what_the_kernel_put_in() -> None:
    probe = EVENTS["tcp:tcp_probe"]
    assert set(probe["sport"]) == {5201}
    assert probe["snd_cwnd"][0] == 10  # the initial window that is pinned
    assert probe["ssthresh"][0] == 0x7FFFFFFF
    assert probe["saddr"][0].tobytes()[4:8] == bytes([10, 0, 1, 1])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(DRAFT / "formats", tmp_path / "formats")
    return tmp_path


def write(folder: Path, raw: bytes) -> Path:
    (folder / "trace.raw").write_bytes(raw)
    return folder / "trace.raw"


def test_a_page_that_lost_events_and_a_trace_that_ends_inside_a_page_are_refused(folder: Path) -> None:
    now, commit = struct.unpack_from("<QQ", RAW)
    file = write(folder, struct.pack("<QQ", now, commit | MISSED) + RAW[16:])
    assert "must hold every event" in error_of(read_events, file, folder / "formats")
    with pytest.raises(UserError, match=r"trace\.raw: must be whole: it ends inside a page"):
        read_events(write(folder, RAW[:-100]), folder / "formats")
    assert all(len(events) == 0 for events in read_events(write(folder, b""), folder / "formats").values())


def test_a_page_whose_records_reach_over_the_next_one_is_refused(folder: Path) -> None:
    page_bytes = int((folder / "formats" / "page_bytes").read_text())
    file = write(folder, page_of(bytes(page_bytes)).ljust(2 * page_bytes, b"\0"))
    assert "must be whole: a page's records pass its end" in error_of(read_events, file, folder / "formats")


@given(st.integers(1, len(RAW) - 1))
@settings(deadline=None, max_examples=examples(60))
def test_a_trace_cut_anywhere_is_refused(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    file = write(tmp_path_factory.getbasetemp(), RAW[:cut])
    with pytest.raises(UserError):
        read_events(file, DRAFT / "formats")


def page_of(records: bytes, now: int = 1000) -> bytes:
    return struct.pack("<QQ", now, len(records)) + records


EVENT = struct.Struct("<IHBBi")  # header, and the fields that every event begins with


def event(delta: int, words: int = 2) -> bytes:
    return EVENT.pack(delta << 5 | words, 7, 0, 0, 0)


ANY_FORMAT = "name: any\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"


@pytest.mark.parametrize(
    ("records", "times"),
    [
        (event(5) + event(7), [1005, 1012]),
        (struct.pack("<II", 3 << 5 | 30, 2) + event(5), [1000 + 3 + (2 << 27) + 5]),  # time extend
        (struct.pack("<II", 3 << 5 | 31, 2) + event(5), [3 + (2 << 27) + 5]),  # absolute time stamp
        (event(5) + struct.pack("<II", 9 << 5 | 29, 4) + event(7), [1005, 1012]),  # a discarded event
        (event(5) + struct.pack("<I", 29), [1005]),  # padding up to the page's end
        (struct.pack("<II", 6 << 5, 8) + bytes([7, 0, 0, 0]) + event(1), [1006, 1007]),  # a long record
    ],
)
def test_each_kind_of_record_moves_the_clock_as_in_the_kernel(tmp_path: Path, records: bytes, times: list[int]) -> None:
    put(tmp_path / "formats" / "page_bytes", "4096")
    (tmp_path / "formats" / "any.event.format").write_text(ANY_FORMAT)
    found = read_events(write(tmp_path, page_of(records)), tmp_path / "formats")
    assert list(found["any:event"]["t_ns"]) == times


LONG_BYTES = 120
LONG_FORMAT = ANY_FORMAT + f"\tfield:char text[{LONG_BYTES - 8}];\toffset:8;\tsize:{LONG_BYTES - 8};\tsigned:0;\n"


@given(st.lists(st.one_of(st.none(), st.integers(0, LONG_BYTES // 4 - 4)), max_size=40))
def test_runs_of_one_long_event_are_read_as_record_by_record_whatever_their_data_look_like(
    tmp_path_factory: pytest.TempPathFactory, content: list[int | None]
) -> None:
    head, folder = struct.pack("<II", 1 << 5, 4 + LONG_BYTES), tmp_path_factory.getbasetemp() / "long"

    def record(looks_like_a_head_at: int | None) -> bytes:
        if looks_like_a_head_at is None:
            return event(1)
        own = struct.pack("<HBBi", 7, 0, 0, 0)
        return head + own + (bytes(4 * looks_like_a_head_at) + head).ljust(LONG_BYTES - 8, b"\0")

    put(folder / "formats" / "page_bytes", "8192")
    (folder / "formats" / "any.event.format").write_text(LONG_FORMAT)
    found = read_events(write(folder, page_of(b"".join(map(record, content)))), folder / "formats")
    assert list(found["any:event"]["t_ns"]) == [1001 + number for number in range(len(content))]


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


PORTS_CLOCK = Clock(0, {40000: 0, 40001: 1})


def reported(*exits: tuple[float, str], dport: int = 40001, late_ms: int = 0) -> dict[str, np.ndarray]:
    """What a sender's module, or the one that watches it, reports: (time, cause) of each exit."""
    kind = [("t_ns", "<i8"), ("dport", "<u2"), ("cwnd_pkts", "<u4"), ("ssthresh_pkts", "<u4"), ("rtt_us", "<u4")]
    rows = [(round(t_s * 1e9), dport, 77, 66, 123_000, cause.encode(), late_ms * 10**6) for t_s, cause in exits]
    return {EXIT_EVENT: np.array(rows, dtype=[*kind, ("cause", "S16"), ("late_ns", "<u8")])}


def causes(events: dict[str, np.ndarray], sender: str) -> list[str]:
    return exit_table(events, PORTS_CLOCK, load_ccas()[sender].exit_causes)["cause"].to_list()


def test_an_exit_has_all_its_columns_and_its_own_time_also_where_it_was_seen_late() -> None:
    found = exit_table(reported((0.15, "search")), PORTS_CLOCK, {})
    assert found.to_dicts() == [
        {"t_s": 0.15, "flow": 1, "cwnd_pkts": 77, "ssthresh_pkts": 66, "rtt_ms": 123.0, "cause": "search"}
    ]
    assert exit_table(reported((0.15, "own"), late_ms=50), PORTS_CLOCK, {})["t_s"].to_list() == [pytest.approx(0.1)]
    exits = reported((0.15, "timeout"))
    exits[EXIT_EVENT]["rtt_us"] = 0
    assert exit_table(exits, PORTS_CLOCK, {})["rtt_ms"].to_list() == [None]


@pytest.mark.parametrize(
    ("sender", "reports", "found"),
    [
        *(("cubic", cause, cause) for cause in ("search", "hystartpp", "loss", "timeout", "other", "a_rule_of_mine")),
        ("cubic", "own", "hystart"),  # what a watched sender did of its own accord is its rule
        ("bbr", "own", "bbr"),
        ("vegas", "own", "vegas"),
        ("cdg", "other", "cdg"),  # a rule that works through CWR is the cause of CWR
        ("dctcp", "other", "ecn"),
    ],
)
def test_a_cause_is_what_the_module_reported_or_the_senders_rule(sender: str, reports: str, found: str) -> None:
    assert causes(reported((0.15, reports)), sender) == [found]
    assert causes(reported((0.15, reports), (0.9, "search")), sender) == [found]  # the first exit is the exit


def test_a_flow_that_never_leaves_slow_start_has_no_row_and_the_control_connection_neither() -> None:
    found = exit_table(reported(), PORTS_CLOCK, {})
    assert found.is_empty()
    assert found.schema == schema(EXITS)
    assert exit_table(reported((0.15, "loss"), dport=40000), PORTS_CLOCK, {}).is_empty()


def test_bins_of_a_real_search_download_follow_each_other_and_its_early_loss_is_its_exit() -> None:
    bins = TABLES["bins"]
    assert bins.schema == schema(BINS)
    assert bins.height == 11
    assert (bins["bin"].diff().drop_nulls() > 0).all()
    assert bins["bin_ms"].unique().len() == 1
    assert bins["bin_ms"][0] == pytest.approx(0.35 * 100, rel=0.02)  # 3.5 initial round trips in 10 bins
    assert bins["norm_pct"].null_count() == bins["curr_delv_bytes"].null_count()
    assert not bins["exit"].any()
    assert TABLES["exits"]["cause"].to_list() == ["loss"]
