# SPDX-License-Identifier: GPL-2.0-or-later
"""A sender's qlog becomes a recording."""

import json
from pathlib import Path
from typing import Any

import pytest
from test_import_ndt7 import read

from lab.base.errors import UserError

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


def test_a_qlog_whose_version_stands_behind_its_events_is_the_same(tmp_path: Path) -> None:
    """As mvfst writes it, whose members have no order."""
    events = [{"time": 0, "name": "transport:datagrams_sent"}] * 200
    traces = [{"vantage_point": {"type": "server"}, "events": [*events, *EVENTS]}]
    found = read(tmp_path, json.dumps({"traces": traces, "qlog_version": "0.3"}, indent=1))
    assert found.frame.equals(read(tmp_path, qlog(*EVENTS)).frame)


def test_a_qlog_of_the_network_says_so(tmp_path: Path) -> None:
    found = read(tmp_path, qlog(*EVENTS).replace('"server"', '"network"'))
    assert any(note.startswith("It was logged in the network (vantage_point), not by an end") for note in found.notes)


def test_a_qlog_whose_end_is_cut_loses_its_last_line_with_a_note(tmp_path: Path) -> None:
    found = read(tmp_path, qlog(*EVENTS)[:-20])
    assert found.frame.equals(read(tmp_path, qlog(*EVENTS[:-1])).frame)
    assert any("The last line is cut, and left out" in note for note in found.notes)


def test_what_a_thread_wrote_behind_its_acknowledgement_counts_by_time(tmp_path: Path) -> None:
    """As stacks with several threads do (qlog's draft lets them), each thread's events in order."""
    late = [*EVENTS[:2], EVENTS[3], EVENTS[4], EVENTS[2], EVENTS[5]]
    found = read(tmp_path, qlog(*late))
    assert found.frame.equals(read(tmp_path, qlog(*EVENTS)).frame)
    assert "Packets sent stand behind later events in the file: they are taken in the order of time." in found.notes


def test_only_the_largest_number_of_an_ack_gives_a_round_trip(tmp_path: Path) -> None:
    found = read(tmp_path, qlog(sent(10, 0), sent(10, 1), acked(60, [1]), acked(95, [0, 1])))
    assert found.frame["rtt_ms"].to_list() == [None, 50, None]


ONE_TRACE = {"qlog_version": "0.3", "traces": [{"events": EVENTS}]}
LATER = [sent(71, 3), sent(71, 4), sent(71, 5)]
ALL_BUT_1 = acked(120, [0], [2, 5])
LOST_BY_ITSELF = {"time": 70, "name": "recovery:packet_lost", "data": {"type": "1RTT", "packet_number": 1}}
TIMED = json.dumps(acked(62, [0, 0], [2, 2])).replace('"ack"', '"ack_receive_timestamps"')
WITHOUT = r"events\[5\]\[3\]=.*: must be that of a packet with packet_type: without it the packet may be of the hand"
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


def test_qlog_of_later_drafts_states_a_schema_instead_of_a_version(tmp_path: Path) -> None:
    later = qlog(*EVENTS).replace('"qlog_version": "0.3"', '"file_schema": "urn:ietf:params:qlog:file:sequential"')
    later = later.replace('"transport:', '"quic:')
    assert read(tmp_path, later).frame.equals(read(tmp_path, qlog(*EVENTS)).frame)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (qlog(sent(1, 0)), "a sender's qlog"),
        (
            qlog(sent(5, 0), acked(3, [0])),
            "packet_number=0: must be sent before it is acknowledged, at 5 ms: times must",
        ),
        (qlog(sent(1, 0), sent(1, 1), acked(6, [0]), acked(3, [1])), "time: must not go back"),
        (qlog(*EVENTS) + qlog(*EVENTS), "line 8: document=.*: must be absent: the log of one connection a file"),
        (
            json.dumps({"qlog_version": "0.3", "trace": {"common_fields": {"time_format": "ticks"}}}),
            "time_format=ticks: m",
        ),
        (qlog(sent(1, 0), acked(3, [2, 1])), "one packet number, or the first and the last of a range"),
        (qlog(sent(1, 0), received(2, 0, 1200), received(2, 1, 1200), acked(3, [0])), "take the other end's qlog"),
        (qlog(sent(1, 0), sent(2, 1), sent(3, 0)), "packet_number=0: must be above 1, which was sent before"),
        (qlog(sent(1, 0) | {"group_id": "a"}, sent(2, 9) | {"group_id": "b"}), "group_id=b: must be that of the"),
        (
            json.dumps({"qlog_version": "0.3", "traces": [{"vantage_point": {"type": "server"}}, {"error": "none"}]}),
            "traces=2: must be 1, of one connection: keep the data sender's of 1: server, 2: no vantage point, as",
        ),
        (json.dumps({"qlog_version": "0.3", "traces": []}), "traces=0: must be 1, of one connection$"),
        (json.dumps(ONE_TRACE) * 2, "document=.*: must be absent: one JSON document"),
        (
            IN_LISTS.replace('{"packet_type": "1RTT", "header": {"packet_number": "1"}, "frames": []}', '{"a": 1}'),
            WITHOUT,
        ),
        (IN_LISTS.replace('"us"', '"ticks"'), "time_units=ticks: must be ms or us or s"),
        (qlog(*IN_US), "shortest round trip=50 s: must be at most 10 s: times in ms, or time_units=us"),
        (
            qlog(STATED_RTT, *IN_S),
            "shortest round trip=0.05 ms: must be about the least that the log states itself, 50:",
        ),
    ],
)
def test_a_log_that_breaks_its_form_is_refused_in_a_line(tmp_path: Path, text: str, line: str) -> None:
    with pytest.raises(UserError, match=line):
        read(tmp_path, text)
