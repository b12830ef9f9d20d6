# SPDX-License-Identifier: GPL-2.0-or-later
"""What senders log of themselves becomes a recording: qlog, NDT7's tcp_info, ss -tin."""

import json
from pathlib import Path
from typing import Any

import pytest

from lab.base.errors import UserError
from lab.traces import importers
from lab.traces.recording import Recording

QLOG_HEAD = {"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "trace": {"vantage_point": {"type": "server"}}}


def packet(kind: str, time_ms: float, number: int, **data: Any) -> dict[str, Any]:
    header = {"packet_type": "1RTT", "packet_number": number}
    return {"time": time_ms, "name": f"transport:{kind}", "data": {"header": header, **data}}


def sent(time_ms: float, number: int, size: int = 1200) -> dict[str, Any]:
    return packet("packet_sent", time_ms, number, raw={"length": size})


def acked(time_ms: float, *ranges: list[int]) -> dict[str, Any]:
    return packet("packet_received", time_ms, 0, frames=[{"frame_type": "ack", "acked_ranges": list(ranges)}])


EVENTS = [
    sent(10, 0),
    sent(10, 1),
    sent(10, 2),
    acked(60, [0]),
    acked(62, [0, 0], [2, 2]),
    packet("packet_lost", 70, 1),
]


def qlog(*events: dict[str, Any]) -> str:
    return "".join(f"\x1e{json.dumps(each)}\n" for each in (QLOG_HEAD, *events))


def received(time_ms: float, number: int, size: int) -> dict[str, Any]:
    return packet("packet_received", time_ms, number, raw={"length": size}, frames=[])


def _in_list(event: dict[str, Any]) -> list[Any]:
    """Return an event as drafts 0 and 1 have it: a list, its time in us, numbers as texts, the size in the header."""
    data = event["data"]
    header = {"packet_number": str(data["header"]["packet_number"]), "packet_size": data.get("raw", {}).get("length")}
    frames = [
        {**each, "acked_ranges": [[str(end) for end in ends] for ends in each["acked_ranges"]]}
        for each in data.get("frames", [])
    ]
    old = {"packet_type": "1RTT", "header": {key: value for key, value in header.items() if value}, "frames": frames}
    return [str(round(event["time"] * 1e3)), "TRANSPORT", event["name"].partition(":")[2].upper(), old]


IN_LISTS = json.dumps(
    {
        "qlog_version": "draft-00",
        "traces": [
            {
                "event_fields": ["relative_time", "CATEGORY", "EVENT_TYPE", "DATA"],
                "configuration": {"time_units": "us"},
                "events": [*(_in_list(each) for each in EVENTS), []],
            }
        ],
    }
)


def info(elapsed_us: int, acked_bytes: int, rtt_us: int, retransmitted: int) -> dict[str, Any]:
    counts = {"Unacked": 10, "SndMSS": 1448, "SndCwnd": 20, "BusyTime": elapsed_us, "RWndLimited": elapsed_us // 10}
    return {
        "TCPInfo": {
            "ElapsedTime": elapsed_us,
            "BytesAcked": acked_bytes,
            "RTT": rtt_us,
            "MinRTT": 9000,
            "TotalRetrans": retransmitted,
            **counts,
        }
    }


def ndt7_client(*rows: dict[str, Any]) -> str:
    """Return what `ndt7-client -format json` prints of a download and an upload."""
    client = {"AppInfo": {"ElapsedTime": 250_000, "NumBytes": 9}, "Origin": "client"}
    values = [{**row, "Origin": "server", "Test": "download"} for row in rows] + [{**client, "Test": "download"}]
    values += [{**client, "Test": "upload"}, {**info(1, 2, 3, 4), "Origin": "server", "Test": "upload"}]
    events = [
        ("starting", {"Test": "download"}),
        *(("measurement", value) for value in values),
        ("complete", {"Test": "x"}),
    ]
    summary = {"ServerFQDN": "server", "Download": {"Throughput": {"Value": 9.0}}}
    return "".join(
        f"{json.dumps(each)}\n" for each in [*({"Key": key, "Value": value} for key, value in events), summary]
    )


def ndt7(*rows: dict[str, Any]) -> str:
    return json.dumps({"Download": {"ServerMeasurements": list(rows)}})


SS = (
    "1700000000.100\nState Recv-Q Send-Q Local Address:Port Peer Address:Port\n"
    "ESTAB 0 1000 192.0.2.1:443 192.0.2.2:5000\n"
    "\t cubic wscale:7,7 rto:208 rtt:8.5/1.2 mss:1448 cwnd:20 bytes_sent:30000 bytes_acked:20000 unacked:5 busy:100ms "
    "rwnd_limited:20ms(20.0%) retrans:0/1 minrtt:7.5\n"
    "1700000000.350\n"
    "ESTAB 0 1000 192.0.2.1:443 192.0.2.2:5000\n"
    "\t cubic wscale:7,7 rto:208 rtt:9.5/1.2 mss:1448 cwnd:30 bytes_acked:270000 unacked:15 busy:350ms retrans:0/3 "
    "minrtt:7.5\n"
)


CLOCK_AND_INFO = [line for line in SS.splitlines(True) if "ESTAB" not in line and "State" not in line]
TWO_WITHOUT_ADDRESSES = "".join([CLOCK_AND_INFO[0], CLOCK_AND_INFO[1], CLOCK_AND_INFO[1]])


def read(folder: Path, text: str) -> Recording:
    file = folder / "log"
    file.write_text(text)
    return importers.read(file)


def test_qlog_counts_what_each_ack_acknowledges(tmp_path: Path) -> None:
    found = read(tmp_path, qlog(*EVENTS))
    assert found.format == "qlog"
    assert found.frame["t_s"].to_list() == pytest.approx([0, 0.05, 0.052])
    assert found.frame["delivered_bytes"].to_list() == [0, 1200, 2400]
    assert found.frame["rtt_ms"].to_list() == [None, 50, 52]
    assert found.frame["inflight_bytes"].to_list() == [0, 2400, 1200]
    assert found.frame["mss_bytes"].to_list() == [1200] * 3


def test_qlog_as_one_document_and_with_times_as_steps_is_the_same(tmp_path: Path) -> None:
    times = [each["time"] for each in EVENTS]
    steps = [each | {"time": now - before} for each, now, before in zip(EVENTS, times, [0, *times[:-1]], strict=True)]
    trace = {"common_fields": {"time_format": "delta"}, "events": steps}
    whole = json.dumps({"qlog_version": "0.3", "qlog_format": "JSON", "traces": [trace]})
    assert read(tmp_path, whole).frame.equals(read(tmp_path, qlog(*EVENTS)).frame)


def test_qlog_of_the_first_drafts_is_the_same(tmp_path: Path) -> None:
    """As picoquic and mvfst write it, or a converter, which ends the list with an empty event."""
    assert read(tmp_path, IN_LISTS).frame.equals(read(tmp_path, qlog(*EVENTS)).frame)


def test_a_qlog_of_the_network_says_so(tmp_path: Path) -> None:
    found = read(tmp_path, qlog(*EVENTS).replace('"server"', '"network"'))
    assert any(note.startswith("It was logged in the network (vantage_point), not by an end") for note in found.notes)


def test_a_qlog_whose_end_is_cut_loses_its_last_line_with_a_note(tmp_path: Path) -> None:
    found = read(tmp_path, qlog(*EVENTS)[:-20])
    assert found.frame.equals(read(tmp_path, qlog(*EVENTS[:-1])).frame)
    assert any("The last line is cut, and left out" in note for note in found.notes)


def test_only_the_largest_number_of_an_ack_gives_a_round_trip(tmp_path: Path) -> None:
    found = read(tmp_path, qlog(sent(10, 0), sent(10, 1), acked(60, [1]), acked(95, [0, 1])))
    assert found.frame["rtt_ms"].to_list() == [None, 50, None]


ONE_TRACE = {"qlog_version": "0.3", "traces": [{"events": EVENTS}]}
LATER = [sent(71, 3), sent(71, 4), sent(71, 5)]
ALL_BUT_1 = acked(120, [0], [2, 5])
LOST_BY_ITSELF = {"time": 70, "name": "recovery:packet_lost", "data": {"type": "1RTT", "packet_number": 1}}
TIMED = json.dumps(acked(62, [0, 0], [2, 2])).replace('"ack"', '"ack_receive_timestamps"')
IN_US = [each | {"time": each["time"] * 1000} for each in EVENTS]
IN_US_HEAD = {"qlog_version": "0.3", "trace": {"common_fields": {"time_units": "us"}}}
IN_S = [each | {"time": each["time"] / 1000} for each in EVENTS]
STATED_RTT = {"time": 0, "name": "recovery:metrics_updated", "data": {"latest_rtt": 51, "min_rtt": 50}}
ACK_ALONE = packet("packet_sent", 11, 3, raw={"length": 40}, frames=[{"frame_type": "ack", "acked_ranges": [[0, 0]]}])
UNTIL_HANDSHAKE = {"time": 1, "name": "transport:packet_sent", "data": {"header": {"packet_type": "initial"}}}
QUINN = qlog(UNTIL_HANDSHAKE | {"group_id": "a"}, *(each | {"group_id": "b"} for each in EVENTS)).replace(
    '"packet_number": 0}, "raw": {"length": 1200}', '"packet_number": 0, "length": 1200}'
)


@pytest.mark.parametrize(
    "text",
    [
        qlog(*EVENTS[:-1], LOST_BY_ITSELF, *LATER, ALL_BUT_1),  # aioquic
        qlog(*EVENTS[:-1], *LATER, ALL_BUT_1),  # mvfst, quiche: no event of a lost packet
        qlog(*EVENTS[:4], json.loads(TIMED), EVENTS[-1], *LATER, ALL_BUT_1),  # mvfst
        qlog(*IN_US, *({**each, "time": each["time"] * 1000} for each in (*LATER, ALL_BUT_1))).replace(
            json.dumps(QLOG_HEAD), json.dumps(IN_US_HEAD)
        ),
        qlog(*IN_S, *({**each, "time": each["time"] / 1000} for each in (*LATER, ALL_BUT_1))).replace(
            json.dumps(QLOG_HEAD), json.dumps(IN_US_HEAD).replace('"us"', '"s"')
        ),
        QUINN + qlog(*LATER, ALL_BUT_1).split("\n", 1)[1],
    ],
    ids=[
        "a loss without a header",
        "no losses",
        "an ACK with times of arrival",
        "us in common_fields",
        "s in common_fields",
        "quinn",
    ],
)
def test_qlog_of_other_stacks_is_the_same(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text).frame.equals(read(tmp_path, qlog(*EVENTS, *LATER, ALL_BUT_1)).frame)


def test_what_asks_for_no_acknowledgement_is_not_in_flight_and_gives_no_round_trip(tmp_path: Path) -> None:
    """As an ACK alone, which the other end acknowledges seconds later, with what does ask for it."""
    found = read(tmp_path, qlog(*EVENTS[:3], ACK_ALONE, *EVENTS[3:], acked(9960, [3]))).frame
    assert found["rtt_ms"].to_list() == [None, 50, 52, None]
    assert found["inflight_bytes"].to_list() == [0, 2400, 1200, 0]


def test_a_qlog_whose_times_may_be_in_seconds_says_so(tmp_path: Path) -> None:
    note = "The log states no unit of its times: in ms, the shortest round trip is 0.05 ms."
    assert note in read(tmp_path, qlog(*IN_S)).notes
    assert not any("no unit" in note for note in read(tmp_path, qlog(*EVENTS)).notes)


def test_a_qlog_whose_own_round_trips_are_in_seconds_is_read(tmp_path: Path) -> None:
    """As quinn writes them, with times in ms."""
    in_s = STATED_RTT | {"data": {"latest_rtt": 0.051, "min_rtt": 0.05, "smoothed_rtt": "none"}}
    assert read(tmp_path, qlog(in_s, *EVENTS)).frame.equals(read(tmp_path, qlog(*EVENTS)).frame)


def test_a_qlog_without_losses_says_what_counts_as_lost(tmp_path: Path) -> None:
    found = read(tmp_path, qlog(*EVENTS[:-1], *LATER, ALL_BUT_1))
    assert any(note.startswith("The log names no lost packets: 1 count as lost") for note in found.notes)
    assert not any("names no lost" in note for note in read(tmp_path, qlog(*EVENTS)).notes)


def test_a_packet_that_was_taken_for_lost_counts_once_it_is_acknowledged(tmp_path: Path) -> None:
    found = read(tmp_path, qlog(*EVENTS, acked(75, [0, 2]))).frame
    assert found["delivered_bytes"].to_list() == [0, 1200, 2400, 3600]
    assert found["inflight_bytes"].to_list() == [0, 2400, 1200, 0]
    assert found["lost_pkts"].to_list() == [0, 0, 0, 0]
    lost = read(tmp_path, qlog(*EVENTS, *LATER, ALL_BUT_1)).frame
    assert lost["lost_pkts"].to_list() == [0, 0, 0, 1]


@pytest.mark.parametrize("named", [True, False])
def test_a_lost_probe_of_the_paths_mtu_is_no_loss(tmp_path: Path, named: bool) -> None:
    """As quic-go, quinn, neqo and others send it, most of all in slow start, whose exit would be that loss."""
    probe, lost = sent(61, 3, 1452), [packet("packet_lost", 70, 3)] * named
    later = [sent(71, number) for number in range(4, 8)]
    found = read(tmp_path, qlog(*EVENTS[:4], probe, acked(62, [0, 2]), *lost, *later, acked(120, [0, 2], [4, 7])))
    assert found.frame["lost_pkts"].to_list() == [0] * 4
    assert found.frame["inflight_bytes"][-1] == 0
    assert any(note.startswith("1 lost packets were longer than any that arrived before") for note in found.notes)


def test_ndt7_from_a_query_of_m_labs_tables_is_the_same(tmp_path: Path) -> None:
    """With the names of its table, and whole numbers as texts."""
    row = info(100_000, 10_000, 12_000, 0)
    texts = {"TCPInfo": {name: str(value) for name, value in row["TCPInfo"].items()}}
    queried = json.dumps([{"id": "x", "raw": {"Download": {"ServerMeasurements": [texts]}}}])
    assert read(tmp_path, queried).frame.equals(read(tmp_path, ndt7(row)).frame)


def test_a_reading_before_the_first_round_trip_has_none(tmp_path: Path) -> None:
    rows = info(100_000, 0, 0, 0), info(350_000, 510_000, 15_000, 4)
    assert read(tmp_path, ndt7(*rows)).frame["rtt_ms"].to_list() == [None, 15]


def test_ndt7s_client_prints_the_same_readings_among_other_events(tmp_path: Path) -> None:
    rows = (info(100_000, 10_000, 12_000, 0), info(350_000, 510_000, 15_000, 4))
    found = read(tmp_path, ndt7_client(*rows))
    assert found.format == "ndt7"
    assert found.frame.equals(read(tmp_path, ndt7(*rows)).frame)
    with pytest.raises(UserError, match="content: must have measurements of a download with the server's TCPInfo"):
        read(tmp_path, ndt7_client())


def test_ndt7_gives_the_senders_own_readings(tmp_path: Path) -> None:
    found = read(tmp_path, ndt7(info(100_000, 10_000, 12_000, 0), info(350_000, 510_000, 15_000, 4)))
    assert found.format == "ndt7"
    assert found.frame["t_s"].to_list() == pytest.approx([0, 0.25])
    assert found.frame["acked_bytes"].to_list() == [10_000, 510_000]
    assert found.frame["rtt_ms"].to_list() == [12, 15]
    assert found.frame["retransmits_pkts"].to_list() == [0, 4]
    assert "The receive window limited the sender in 10 % of the time in which it had data to send." in found.notes


def test_qlog_of_later_drafts_states_a_schema_instead_of_a_version(tmp_path: Path) -> None:
    later = qlog(*EVENTS).replace('"qlog_version": "0.3"', '"file_schema": "urn:ietf:params:qlog:file:sequential"')
    later = later.replace('"transport:', '"quic:')
    assert read(tmp_path, later).frame.equals(read(tmp_path, qlog(*EVENTS)).frame)


def test_ss_gives_the_connection_with_most_bytes(tmp_path: Path) -> None:
    other = SS.replace("192.0.2.2:5000", "192.0.2.9:80").replace("bytes_acked:", "bytes_acked:0")
    found = read(tmp_path, SS + other.split("\n", 1)[1].split("1700000000.350\n")[0])
    assert found.format == "ss"
    assert found.frame["acked_bytes"].to_list() == [20_000, 270_000]
    assert found.frame["t_s"].to_list() == pytest.approx([0, 0.25])
    assert found.frame["inflight_bytes"].to_list() == [5 * 1448, 15 * 1448]
    assert "1 other connections: left out." in found.notes


SACKED = {
    "ss": SS.replace("cwnd:20 ", "cwnd:20 sacked:100 "),
    "ndt7": ndt7(
        {"TCPInfo": {**info(100_000, 20_000, 8500, 1)["TCPInfo"], "Sacked": 100}}, info(350_000, 270_000, 9500, 3)
    ),
}


@pytest.mark.parametrize("text", SACKED.values(), ids=SACKED)
def test_what_sack_blocks_report_has_arrived(tmp_path: Path, text: str) -> None:
    """Else what fills a hole would seem to arrive at once."""
    found = read(tmp_path, text).frame
    assert found["acked_bytes"].to_list() == [20_000, 270_000]
    assert found["delivered_bytes"].to_list() == [20_000 + 100 * 1448, 270_000]


def test_ss_of_one_state_has_no_column_of_it(tmp_path: Path) -> None:
    """`ss -tin state established`: its connections are still apart."""
    other = SS.replace("192.0.2.2:5000", "192.0.2.9:80").replace("bytes_acked:", "bytes_acked:0").split("\n", 2)[2]
    both = (SS + other.split("1700000000.350\n")[0]).replace("ESTAB ", "")
    assert read(tmp_path, both).frame.equals(read(tmp_path, SS).frame)


@pytest.mark.parametrize("socket", ["ESTAB", "tcp ESTAB", ""], ids=["a state", "a protocol", "neither"])
def test_ss_with_all_of_a_socket_in_one_line_has_each_connection(tmp_path: Path, socket: str) -> None:
    """`ss -O`, of one state, or without -t."""
    other = SS.replace("192.0.2.2:5000", "192.0.2.9:80").replace("bytes_acked:", "bytes_acked:0")
    both = SS + other.split("\n", 1)[1].split("1700000000.350\n")[0]
    both = both.replace(":5000\n", ":5000 ").replace(":80\n", ":80 ").replace("ESTAB ", f"{socket} ".lstrip())
    found = read(tmp_path, both)
    assert found.frame.equals(read(tmp_path, SS).frame)
    assert "1 other connections: left out." in found.notes


def test_ss_of_ports_that_were_used_again_has_the_larger_connection(tmp_path: Path) -> None:
    later = SS.split("\n", 1)[1].split("1700000000.350")[0].replace("bytes_acked:20000", "bytes_acked:10")
    found = read(tmp_path, f"{SS}1700000000.600\n{later}")
    assert found.frame.equals(read(tmp_path, SS).frame)
    assert "1 other connections: left out." in found.notes


def test_ss_with_all_of_a_socket_in_one_line_is_the_same(tmp_path: Path) -> None:
    assert read(tmp_path, SS.replace("2:5000\n\t", "2:5000\t")).frame.equals(read(tmp_path, SS).frame)


def test_ss_whose_end_is_cut_loses_its_last_line_with_a_note(tmp_path: Path) -> None:
    """Its least round trip would be 1 ms."""
    later = SS.rpartition("1700000000.350\n")[2].replace("minrtt:7.5", "minrtt:12.5").replace(":270000", ":9999999")
    found = read(tmp_path, f"{SS}1700000000.600\n{later}"[:-4])
    assert found.frame.equals(read(tmp_path, SS).frame)
    assert "Least RTT: 7.5 ms." in found.notes
    assert found.notes[-1].startswith("The last line has no end")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2023-11-14T22:13:20,100000000+00:00", "2023-11-14T22:13:20,350000000+00:00"),
        ("2023-11-14T22:13:20.1Z", "2023-11-14T22:13:20.35Z"),
        ("1700000000100", "1700000000350"),
        ("1700000000100000000", "1700000000350000000"),
    ],
)
def test_ss_may_have_what_date_writes_between_its_prints(tmp_path: Path, first: str, second: str) -> None:
    dated = SS.replace("1700000000.100", first).replace("1700000000.350", second)
    assert read(tmp_path, dated).frame.equals(read(tmp_path, SS).frame)


@pytest.mark.parametrize("comma", ["", ","])
@pytest.mark.parametrize("end", ["5000\n\t", "5000 "], ids=["two lines", "one line (ss -O)"])
def test_ss_may_have_its_time_before_each_line(tmp_path: Path, comma: str, end: str) -> None:
    """As `ss -tin | ts %.s` writes it; without addresses two connections could not be kept apart."""
    first, second = SS.replace("5000\n\t", end).split("1700000000.350\n")
    lines = [f"1700000000.100{comma} {line}" for line in first.splitlines(True)[1:]]
    lines += [f"1700000000.350{comma} {line}" for line in second.splitlines(True)]
    assert read(tmp_path, "".join(lines)).frame.equals(read(tmp_path, SS).frame)
    with pytest.raises(UserError, match="addresses=none: must be printed before each line of a connection"):
        read(tmp_path, "".join(line.replace("192.0.2.1:443 192.0.2.2:5000", "") for line in lines))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (qlog(sent(1, 0)), "a sender's qlog"),
        (qlog(sent(5, 0), acked(3, [0])), "time: must not go back"),
        (qlog(sent(1, 0), acked(3, [2, 1])), "one packet number, or the first and the last of a range"),
        (ndt7(), "measurements of a download with the server's TCPInfo"),
        (
            json.dumps({"Upload": {"ServerMeasurements": []}}),
            "Download: must be given: an upload's sender is the client",
        ),
        (SS.split("\n", 1)[1], r"line \d+: time=none: must be given before each print"),
        (SS.replace("1700000000.350", "1600000000.350"), "no earlier than the one before"),
        (ndt7(info(1, 9, 1, 0), info(2, 8, 1, 0)), "BytesAcked: must not go back"),
        (ndt7(info(2, 8, 1, 0), info(1, 9, 1, 0)), "ElapsedTime: must not go back"),
        (qlog(sent(1, 0), received(2, 0, 1200), received(2, 1, 1200), acked(3, [0])), "take the other end's qlog"),
        (qlog(sent(1, 0), sent(2, 1), sent(3, 0)), "packet_number=0: must be above 1, which was sent before"),
        (qlog(sent(1, 0) | {"group_id": "a"}, sent(2, 9) | {"group_id": "b"}), "group_id=b: must be that of the"),
        (json.dumps(ONE_TRACE) * 2, "document=.*: must be absent: one JSON document"),
        (IN_LISTS.replace('"us"', '"ticks"'), "time_units=ticks: must be ms or us or s"),
        (SS.replace("1700000000.350\n", ""), r"line 6: time=none: must be given before each print, also this one of"),
        (SS.replace("cwnd:30", "bytes_received:9000000 cwnd:30"), "bytes_received=9000000: must be below bytes_acked"),
        (qlog(*IN_US), "shortest round trip=50 s: must be at most 10 s: times in ms, or time_units=us"),
        (
            qlog(STATED_RTT, *IN_S),
            "shortest round trip=0.05 ms: must be about the least that the log states itself, 50:",
        ),
        (SS.replace("bytes_acked:", "bytes_received:"), "the file is ss's, without bytes_acked"),
        (TWO_WITHOUT_ADDRESSES, "addresses=none: must be printed before each line of a connection"),
    ],
)
def test_a_log_that_breaks_its_form_is_refused_in_a_line(tmp_path: Path, text: str, line: str) -> None:
    with pytest.raises(UserError, match=line):
        read(tmp_path, text)
