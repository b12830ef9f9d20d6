# SPDX-License-Identifier: GPL-2.0-or-later
"""A server's qlog in any of its forms becomes windows, losses and the exit; one that is cut or strange is refused."""

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from lab_quic.stack import qlog
from lab_quic.stack.tables import Reported, find_log, timed

from lab.base.errors import UserError
from tests.brief import error_of

FULL_BYTES = 1472
UP_S = 0.25
HEAD = {"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "trace": {"vantage_point": {"type": "server"}}}


def metrics(time_ms: float, window: int, **more: float) -> dict[str, Any]:
    data = {"congestion_window": window * FULL_BYTES, "bytes_in_flight": FULL_BYTES, "smoothed_rtt": 60.0, **more}
    return {"time": time_ms, "name": "recovery:metrics_updated", "data": data}


def event(time_ms: float, name: str, **data: Any) -> dict[str, Any]:
    return {"time": time_ms, "name": name, "data": data}


FIRST = event(1000.0, "transport:packet_received")
SLOW = [FIRST, event(1001.0, "transport:packet_sent", raw={"length": 2944}), metrics(1060.0, 10), metrics(1120.0, 20)]
BY_THRESHOLD = [*SLOW, metrics(1180.0, 30, ssthresh=30 * FULL_BYTES), metrics(1240.0, 31)]
BY_LOSS = [*SLOW, event(1180.0, "recovery:packet_lost"), metrics(1180.0, 15, ssthresh=15 * FULL_BYTES)]
STARTUP, PROBE = (
    event(at, "recovery:congestion_state_updated", old="", new=state)
    for at, state in ((1001, "startup"), (1170, "drain"))
)
BY_STATE = [FIRST, STARTUP, *SLOW[1:], PROBE, metrics(1180.0, 15, ssthresh=15 * FULL_BYTES)]


def sequence(events: list[Any], head: Any = HEAD, mark: str = "\x1e") -> str:
    return "".join(f"{mark}{json.dumps(each)}\n" for each in (head, *events))


def document(events: list[Any], version: str = "0.3", **trace: Any) -> str:
    return json.dumps({"qlog_version": version, "qlog_format": "JSON", "traces": [{"events": events, **trace}]})


def deltas(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the events with each time counted from the one before."""
    times = [0.0, *(each["time"] for each in events)]
    return [{**each, "time": each["time"] - before} for each, before in zip(events, times, strict=False)]


def in_us(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the events with their times and round trips in µs, as the first drafts may have them."""
    rtts = [{key: 60_000.0 for key in each.get("data", {}) if key == "smoothed_rtt"} for each in events]
    return [
        {**each, "time": each["time"] * 1000, "data": {**each.get("data", {}), **rtt}}
        for each, rtt in zip(events, rtts, strict=True)
    ]


def in_texts(events: list[Any]) -> list[Any]:
    made = (
        {key: str(each["data"][key]) if key in qlog.MADE else each["data"][key] for key in each["data"]}
        for each in events
    )
    return [{**each, "time": str(each["time"]), "data": data} for each, data in zip(events, made, strict=True)]


FORMS = {
    "JSON-SEQ": sequence(BY_THRESHOLD),
    "lines of JSON": sequence(BY_THRESHOLD, mark=""),
    "JSON-SEQ with names of the later drafts": sequence(
        [{**each, "name": each["name"].replace("transport:", "quic:")} for each in BY_THRESHOLD],
        {"file_schema": "urn:ietf:params:qlog:file:sequential", "serialization_format": "application/qlog+json-seq"},
    ),
    "one JSON document": document(BY_THRESHOLD),
    "times from the event before": document(deltas(BY_THRESHOLD), common_fields={"time_format": "delta"}),
    "times from the event before, which may have no data": document(
        deltas([*BY_THRESHOLD[:2], {"time": 1030.0, "name": "generic:marker"}, *BY_THRESHOLD[2:]]),
        common_fields={"time_format": "relative_to_previous_event"},
    ),
    "numbers as texts": sequence(in_texts(BY_THRESHOLD)),
    "no threshold as 0": sequence(
        [
            *SLOW[:-2],
            *(metrics(each, 10 + i * 10, ssthresh=0) for i, each in enumerate((1060.0, 1120.0))),
            *BY_THRESHOLD[-2:],
        ]
    ),
    "times in µs": document(in_us(BY_THRESHOLD), configuration={"time_units": "us"}),
    "records out of the order of time": sequence(BY_THRESHOLD[::-1]),
    "half a record at the end": sequence(BY_THRESHOLD) + '\x1e{"time":1300,"na',
    "half a record at the end, which ends in a brace": sequence(BY_THRESHOLD) + '\x1e{"time":1300,"data":{"header":{}',
    "no end of the last record": sequence(BY_THRESHOLD)[:-1],
}


def read(tmp_path: Path, text: str) -> Reported:
    (tmp_path / "server.sqlog").write_text(text)
    return Reported(timed(qlog.read(tmp_path / "server.sqlog", "mine: qlog server.sqlog"), UP_S), FULL_BYTES)


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_every_form_has_the_same_windows_and_the_same_exit(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    assert found.ack_table()["cwnd_pkts"].to_list() == [10, 20, 30, 31]
    assert found.ack_table()["t_s"].to_list() == pytest.approx([0.31, 0.37, 0.43, 0.49])
    assert found.ack_table()["snd_nxt_bytes"].to_list() == [2945] * 4
    assert found.ack_table()["snd_una_bytes"].to_list() == [1473] * 4
    assert found.ack_table()["ssthresh_pkts"].to_list() == [None, None, 30, 30]
    assert found.ack_table()["srtt_ms"].to_list() == [60] * 4
    row = found.exit_table("own").row(0, named=True)
    assert (row["cwnd_pkts"], row["cause"]) == (30, "own")
    assert row["t_s"] == pytest.approx(UP_S + 0.18)


@pytest.mark.parametrize(
    ("events", "t_s", "cause"),
    [(BY_THRESHOLD, 0.18, "own"), (BY_LOSS, 0.18, "loss"), (BY_STATE, 0.17, "own")],
    ids=["threshold", "loss", "state"],
)
def test_the_exit_is_the_first_state_or_threshold_and_a_loss_beside_it_is_its_cause(
    tmp_path: Path, events: list[Any], t_s: float, cause: str
) -> None:
    left = read(tmp_path, sequence(events)).exit_table("own")
    assert left["cause"].to_list() == [cause]
    assert left["t_s"].to_list() == pytest.approx([UP_S + t_s])


def state(time_ms: float, name: str, trigger: str = "") -> dict[str, Any]:
    return event(time_ms, "quic:congestion_state_updated", new=name, trigger=trigger)


@pytest.mark.parametrize(
    ("first", "then", "last", "cause"),
    [
        ("slow_start", "conservative_slow_start", ["congestion_avoidance"], "own"),  # quiche: HyStart++'s CSS
        ("bbr_startup", "bbr_startup", ["bbr_drain"], "own"),  # quiche
        ("SlowStart", "application_limited", ["Recovery"], "loss"),
        ("slow_start", "slow_start", ["recovery", "ecn"], "own"),
        ("slow_start", "slow_start", ["recovery\ud800"], "loss"),  # half a character
    ],
)
def test_a_phase_of_slow_start_is_no_exit_whatever_a_stack_calls_it(
    tmp_path: Path, first: str, then: str, last: list[str], cause: str
) -> None:
    events = [FIRST, state(1001, first), *SLOW[1:], state(1150, then), state(1170, *last), metrics(1180, 15)]
    left = read(tmp_path, sequence(events)).exit_table("own")
    assert left.select("t_s", "cause").row(0) == (pytest.approx(UP_S + 0.17), cause)


def test_the_cause_is_not_known_where_the_link_lost_packets_and_the_log_names_none(tmp_path: Path) -> None:
    """As quiche's and mvfst's logs, in which an exit upon loss looks like one of the sender's own."""
    found = read(tmp_path, sequence(BY_THRESHOLD))
    causes = [found.exit_table("own", lossy_s)["cause"].item() for lossy_s in (UP_S + 0.1, UP_S + 0.2)]
    assert causes == ["other", "own"]
    assert read(tmp_path, sequence(BY_LOSS)).exit_table("own", 0.0)["cause"].to_list() == ["loss"]


def test_a_sender_that_stays_in_slow_start_has_no_exit(tmp_path: Path) -> None:
    found = read(tmp_path, sequence([FIRST, STARTUP, *SLOW]))
    assert found.reports_exits
    assert found.exit_table("own").is_empty()


def test_a_qlog_without_states_and_thresholds_leaves_the_exit_to_the_packets(tmp_path: Path) -> None:
    found = read(tmp_path, sequence([*SLOW, state(1130, "application_limited")]))
    assert not found.reports_exits
    assert found.ack_table().height == 2


def test_a_threshold_of_0_leaves_the_exit_to_the_packets(tmp_path: Path) -> None:
    assert not read(tmp_path, sequence([*SLOW, metrics(1130.0, 30, ssthresh=0)])).reports_exits


def test_each_lost_packet_is_a_row(tmp_path: Path) -> None:
    lost = [event(1180.0 + number, "recovery:packet_lost") for number in range(3)]
    assert read(tmp_path, sequence([*SLOW, *lost])).loss_table().height == 3


def test_numbers_that_no_stack_has_are_left_out(tmp_path: Path) -> None:
    odd = [metrics(1130.0, 10**400), event(1130.0, "transport:packet_sent", raw={"length": 10**30})]
    found = read(tmp_path, sequence([*SLOW, *odd, metrics(float("nan"), 40)]))
    assert found.ack_table()["cwnd_pkts"].max() == 20


@pytest.mark.parametrize(
    ("name", "of_time", "rtt", "rule"),
    [
        ("smoothed_rtt", 1, 0.06, r"smoothed_rtt=0\.06 in the median: must be at least the path's 50 ms"),
        ("latest_rtt", 1, 0.06, r"latest_rtt=0\.06 in the median: must be at least the path's 50 ms"),
        ("smoothed_rtt", 1, 60_000, r"smoothed_rtt=60000 in the median: must be less than 500 times the path's 50 ms"),
        ("latest_rtt", 1, 60_000, r"latest_rtt=60000 in the median: must be less than 500 times the path's 50 ms"),
        ("smoothed_rtt", 1000, 60, r"time=119000 from the first to the last: must be about the trial's 130 ms"),
        ("smoothed_rtt", 0.001, 60, r"time=0\.119 from the first to the last: must be about the trial's 130 ms"),
    ],
)
def test_a_log_in_another_unit_that_it_does_not_state_is_refused(
    tmp_path: Path, name: str, of_time: float, rtt: float, rule: str
) -> None:
    """As quinn wrote round trips, in s beside times in ms; its initial one of 0.333 s stands before them."""
    rows = [metrics(1001.0 * of_time, 10, **{name: 0.333})]
    rows += [metrics(at_ms * of_time, 20, **{name: rtt}) for at_ms in (1060.0, 1120.0)]
    (tmp_path / "server.sqlog").write_text(sequence(rows))
    with pytest.raises(UserError, match=f"mine: {rule}"):
        qlog.require_ms(qlog.read(tmp_path / "server.sqlog", "mine"), 50.0, 130.0, "mine")


def test_windows_in_packets_are_refused(tmp_path: Path) -> None:
    rows = [metrics(at_ms, 0, congestion_window=pkts) for at_ms, pkts in ((1060.0, 10), (1120.0, 3000))]
    (tmp_path / "server.sqlog").write_text(sequence(rows))
    found = qlog.read(tmp_path / "server.sqlog", "mine")
    with pytest.raises(
        UserError, match="mine: congestion_window=3000 at most: must be about the 60000 bytes that a round"
    ):
        qlog.require_bytes(found, 60_000, "mine")
    qlog.require_bytes(found.with_columns(pl.col("cwnd_bytes") * FULL_BYTES), 60_000, "mine")


@pytest.mark.parametrize(
    "first",
    [
        [event(10.0, "generic:info"), FIRST],
        [event(10.0, "generic:info"), event(1000.0, "transport:datagrams_received")],
        [event(10.0, "generic:info"), event(1000.0, "quic:packet_sent", raw={"length": 0})],
        [event(10.0, "connectivity:server_listening"), metrics(1000.0, 10)],
        [metrics(10.0, 10), FIRST],
    ],
    ids=["received", "datagrams", "sent first", "no packets", "made before"],
)
def test_the_clock_begins_with_the_connections_first_packet(tmp_path: Path, first: list[Any]) -> None:
    later = [metrics(1060.0, 20), event(1070.0, "transport:packet_received")]
    if first[-1]["name"] == "recovery:metrics_updated":
        del later[1]
    assert read(tmp_path, sequence([*first, *later])).ack_table()["t_s"].to_list()[-1] == pytest.approx(UP_S + 0.06)


def test_no_qlog_is_no_rows() -> None:
    found = Reported(pl.DataFrame(schema=qlog.SCHEMA | {"t_s": pl.Float64}), FULL_BYTES)
    assert found.ack_table().is_empty()
    assert not found.reports_exits


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (sequence([*SLOW, metrics(1130.0, -1)]), "congestion_window=-1472.0: must be from 0 to 1.1e+12"),
        (sequence([*SLOW, metrics(1130.0, 10**10)]), "congestion_window=14720000000000.0: must be from 0 to 1.1e+12"),
        (sequence([*SLOW, metrics(1130.0, 1, bytes_in_flight=2**64)]), "bytes_in_flight=1.8446744073709552e+19: must"),
        (sequence([*SLOW, metrics(1130.0, 1, smoothed_rtt=-2)]), "smoothed_rtt=-2.0: must be from 0 to"),
        (
            sequence([FIRST, state(1001, "css")]),
            "congestion_state_updated=css: must be a name with slow_start, startup",
        ),
        (document(SLOW, common_fields={"time_format": "ticks"}), "time_format=ticks: must be absolute, relative, "),
        (document(SLOW, common_fields={"time_format": [1]}), "time_format=[1]: must be absolute, relative, "),
        ("", "bytes=0: must be a qlog"),
        ("\x1e\n", "bytes=0: must be a qlog"),
        ("hello\n", "qlog: must be whole JSON"),
        ("[" * 100_000, "qlog: must be whole JSON"),
        (document(SLOW)[:-30], "qlog: must be whole JSON"),
        (sequence(SLOW)[:50], "record 1: must be whole JSON"),
        (sequence([FIRST]) + "\x1e{broken}\n" + "\x1e{}\n", "record 3: must be whole JSON"),
        (sequence([[1, 2, 3]]), "record 2: must be a JSON object"),
        (document([[1000, "recovery", "metrics_updated", {}]]), "event 1: must be a JSON object"),
        (document(SLOW, "draft-00"), "qlog_version=draft-00: must be 0.3, 0.4, draft-02, or later with file_schema"),
        (document([[0, {}]], "draft-01"), "later with file_schema, or leave qlog out of the stack's file"),
        (sequence(SLOW, {"qlog_format": "JSON-SEQ"}), "qlog_version=None: must be 0.3"),
        (json.dumps({"qlog_version": "0.3", "traces": []}), "traces: must be one trace"),
        (json.dumps({"qlog_version": "0.3", "traces": [{}]}), "events: must be a list"),
        (sequence(SLOW, {**HEAD, "trace": "x"}), "trace: must be a JSON object"),
        (document(SLOW, common_fields="x"), "common_fields: must be a JSON object"),
    ],
)
def test_a_qlog_that_is_cut_or_of_another_version_is_refused_in_one_line(tmp_path: Path, text: str, rule: str) -> None:
    line = error_of(read, tmp_path, text)
    assert rule in line
    assert line.startswith("mine: qlog server.sqlog: ")


@pytest.mark.parametrize(
    "packed",
    [gzip.compress, bz2.compress, lzma.compress, lambda text: text.decode().encode("utf-16")],
    ids=["gzip", "bzip2", "xz", "UTF-16"],
)
def test_a_packed_qlog_is_refused_for_that(tmp_path: Path, packed: Callable[[bytes], bytes]) -> None:
    file = tmp_path / "server.sqlog"
    file.write_bytes(packed(sequence(SLOW).encode()))
    assert "first bytes: must be UTF-8 text that is not packed, or leave qlog out" in error_of(qlog.read, file, "mine")


def test_a_mark_of_the_byte_order_is_no_part_of_a_qlog(tmp_path: Path) -> None:
    assert read(tmp_path, "\ufeff" + sequence(SLOW)).events.equals(read(tmp_path, sequence(SLOW)).events)


def test_a_qlog_is_found_by_its_pattern(tmp_path: Path) -> None:
    for name in ("a.sqlog", "keys.log"):
        (tmp_path / name).touch()
    assert find_log(tmp_path, "*.sqlog") == tmp_path / "a.sqlog"
    assert find_log(tmp_path, None) is None


@pytest.mark.parametrize(
    ("names", "rule"), [((), "0 files (none at all)"), (("a.sqlog", "b.sqlog"), "2 files (a.sqlog, b")]
)
def test_not_exactly_one_qlog_is_refused(tmp_path: Path, names: tuple[str, ...], rule: str) -> None:
    for name in names:
        (tmp_path / name).touch()
    assert rule in error_of(find_log, tmp_path, "*.sqlog")
