# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever a file holds, an importer gives a recording that keeps all rules, or one line that names the file."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_import_iperf3 import interval, iperf3_test
from test_import_made import BULK, LUMOS, STATUS, irtt, lumos, trip
from test_import_ndt7 import info, ndt7
from test_import_ping import HEAD, answer, tail
from test_import_qlog import EVENTS, qlog
from test_import_ss import SS

from lab.base.errors import UserError
from lab.traces import importers, recording
from lab.traces.recording import Recording
from tests.examples import examples
from tests.traces_real import needs_real, real

FUZZED = settings(
    max_examples=examples(120),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
OPTIONS: dict[str, dict[str, Any]] = {
    "columns": {"columns": "t_s=t_s,rate_down_mbps=rate_down_mbps,rtt_ms=rtt_ms", "sort": True, "same_time": "spread"},
    "fjordlink": {"router": "CAU-4329"},
    "5gophers": {"carrier": "Verizon"},
    "ping": {"interval_s": 1.0},
}
LEOVIZ = "timestamp,popPingLatencyMs,downlinkThroughputBps,uplinkThroughputBps\n"
UCC = "Timestamp,NetworkMode,DL_bitrate,UL_bitrate,State,PINGAVG,PINGLOSS\n"
UOS = "timestamp_start,timestamp_end,transport_protocol,download,upload,average_speed\n"
UOS_PING = "timestamp_start,timestamp_end,packet_loss,packets_send,ping_avg,average_speed\n"
IPERF3 = (
    "Connecting to host x, port 1\n[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
    "[  5]   0.00-1.00   sec  89.6 MBytes   751 Mbits/sec    0    863 KBytes\n"
    "[  5]   1.00-2.00   sec  89.6 MBytes  1.51 Gbits/sec    3    863 KBytes\n"
)
SMALL: dict[str, str] = {
    "ack-log": "now_us,bytes_acked,mss,rtt_us,retrans\n5,1308,1308,717412,0\n39788,2616,1308,757195,1\n",
    "mahimahi": "0\n0\n3\n5000\n",
    "leocc": "12\n11\n13\n",
    "ping": HEAD + answer(1) + answer(2, "1500") + answer(4) + tail(5, 3, 4000),
    "ping-windows": "Pinging a with 32 bytes:\nReply from a: time=41ms\nReply from a: time<1ms\nRequest timed out.\n",
    "lens": "1694477135.68\t1\t44.5\n1694477135.82\t2\t-1\n1694477135.97\t3\t40.5\n",
    "lens-csv": "timestamp,rtt,uplink,downlink\n1705744800616897349,0,0,-1\n1705744800626565141,120.1,72.4,47.7\n",
    "iperf3-json": json.dumps([iperf3_test(interval(0, 1, 5), interval(1, 2, 6))])[1:-1],
    "iperf3-text": IPERF3,
    "irtt": irtt(trip(0, 5, 134_460), trip(1, 10**9, None, True), trip(2, 2 * 10**9, 99_455)),
    "hairpin": "0.000 20.59 14.0ms 0.00\n0.015 20.59 13.0ms 0.50\n",
    "zhuge": "17787 29.4\n17787.2 35.9\n17787.4 0\n17799.6 31.8\n",
    "solis": "0.0\t21.7\n1.0\t7.97\n2.01\t7.71\n3.0\t7.71\n",
    "ucc": UCC + "2020.02.14_13.21.26,5G,63,20,D,-,-\n2020.02.14_13.21.26,5G,0,0,I,67.0,20.0\n",
    "5gophers": "seq_num,Verizon_throughput_mbps\n0,25.7\n1,65.0\n9,1\n",
    "5gophers-rtt": "rtt_ms,carrier,server_location\n40.0,SPRINT,US-East\n",
    "lumos5g": LUMOS + lumos(1, 1, 500) + lumos(1, 2, 600),
    "leoviz": LEOVIZ + "1748560813.33,78.5,1373919.8,3600\n",
    "starlink-grpc": BULK
    + "2024-01-02T03:04:05,0.0,21.0,1e6,2e6,,True,False\n2024-01-02T03:04:06,1.0,,0.0,0.0,,False,True\n",
    "uos-iperf": UOS
    + "2024-01-11 10:06:39,2024-01-11 10:06:40,UDP,5,,0\n2024-01-11 10:06:40,2024-01-11 10:06:41,UDP,0,7,0\n",
    "uos-ping": UOS_PING + "2024-01-11 09:43:20,2024-01-11 09:43:45,0.4,250,57.7,0\n",
    "errant": "operator,country,access_technology,rssi,download_mbps,upload_mbps,rtt_ms\na,b,4G,-55,7.6,6.1,83.1\n",
    "qlog": qlog(*EVENTS),
    "ndt7": ndt7(info(100_000, 10_000, 12_000, 0), info(350_000, 510_000, 15_000, 4)),
    "ss": SS,
    "columns": "t_s,rate_down_mbps,rtt_ms\n0,1,20\n0.1,2,\n0.2,0,21\n",
}
REAL = {
    "mahimahi": "lte-mahimahi/ATT-LTE-driving-2016.up",
    "leocc": "leo-leocc/delay_example.txt",
    "ping": "geo-klm-inflight/ping_ams.log",
    "lens": "leo-mmsys24/no-isl-ping-gw-seattle-230911-170535-0.1s-60min.txt",
    "iperf3-json": "geo-klm-inflight/iperf_upload_ams.json",
    "iperf3-text": "wifi-librnr/20240224-m-baseline-d-mqp-a-iperf.iperf.txt",
    "hairpin": "wifi-cell-sparktraces/Hairpin/wifi/trace11.log",
    "zhuge": "wifi-cell-sparktraces/Zhuge/4g/trace14.log",
    "solis": "wifi-solis/wifi_cafe_231115-151422.txt",
    "ucc": "5g-ucc/Download/Driving/B_2020.01.16_12.10.03.csv",
    "5gophers": "5g-5gophers/car-driving-trace-1.csv",
    "5gophers-rtt": "5g-5gophers/rtt-data.csv",
    "leoviz": "leo-leoviz/GRPC_STATUS-2025-05-29-23-20-13.csv",
    "uos-iperf": "leo-uos-road/iperf.csv",
    "uos-ping": "leo-uos-road/ping.csv",
    "errant": "mixed-errant-sample/speed_test_sample.csv",
    "fjordlink": "leo-fjordlink/2025-03-27-12-05-09-wan.parquet.gzip",
}
REAL_BYTES = 40_000  # of text: enough for every kind of line, and quick
MARKS = ["", "-1", "-", "0", "nan", "inf"]
MARKS += ["1e309", "9" * 30, "-0.0", "\0", "\r", "\n", "\n\n", ",", "\t", " ", '"', "{", "}"]
ODD = ["[", "null", "true", "1e-400", "\u0661", "0x10", "1_0", "2024-02-30", "%Y", "=", ":"]  # 0661: a digit elsewhere
WORDS = st.sampled_from([b"\xff", *(word.encode() for word in MARKS + ODD)])
CHANGES = st.lists(
    st.tuples(st.integers(0, 2**31), st.integers(0, 12), WORDS | st.binary(max_size=6)), min_size=1, max_size=6
)


def changed(data: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    """Replace a few bytes by others, here and there."""
    for place, length, new in changes:
        at = place % (len(data) + 1)
        data = data[:at] + new + data[at + length :]
    return data


def judge(path: Path, form: str | None, **options: Any) -> Recording | None:
    """Import; what is refused must be one line that names the file and a rule."""
    try:
        found = importers.read(path, form, **options)
    except UserError as refused:
        words = str(refused)
        assert "\n" not in words
        assert words.startswith(f"{path}: "), words
        assert "must " in words
        return None
    assert isinstance(found, Recording)  # which has checked its own rules
    return found


def test_every_format_is_fuzzed() -> None:
    assert importers.known_formats().keys() - {"recording", "pcap"} == SMALL.keys() | REAL.keys()


@pytest.mark.parametrize("form", SMALL)
def test_the_examples_are_read_before_they_are_broken(tmp_path: Path, form: str) -> None:
    (tmp_path / "made").write_text(SMALL[form])
    assert judge(tmp_path / "made", form, **OPTIONS.get(form, {})) is not None


@pytest.mark.parametrize("form", SMALL)
@FUZZED
@given(changes=CHANGES)
def test_a_small_file_with_few_bytes_changed(tmp_path: Path, form: str, changes: list[tuple[int, int, bytes]]) -> None:
    (tmp_path / "made").write_bytes(changed(SMALL[form].encode(), changes))
    judge(tmp_path / "made", form, **OPTIONS.get(form, {}))


@needs_real
@pytest.mark.parametrize("form", REAL)
@settings(FUZZED, max_examples=examples(25))
@given(changes=CHANGES)
def test_a_real_file_with_a_few_bytes_changed(tmp_path: Path, form: str, changes: list[tuple[int, int, bytes]]) -> None:
    data = real(REAL[form]).read_bytes()
    text = data if form == "fjordlink" else data[: data.find(b"\n", REAL_BYTES) + 1] or data
    (tmp_path / "made").write_bytes(changed(text, changes))
    judge(tmp_path / "made", form, **OPTIONS.get(form, {}))


@settings(FUZZED, max_examples=examples(300))
@given(data=st.binary(max_size=400) | st.lists(WORDS, max_size=60).map(b"".join))
def test_any_bytes_at_all_in_every_format(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "made").write_bytes(data)
    for form in [None, *importers.known_formats()]:
        judge(tmp_path / "made", form, **(OPTIONS.get(form, {}) if form else {}))


@settings(FUZZED, max_examples=examples(200))
@given(rows=st.lists(st.lists(st.floats() | st.integers() | st.sampled_from(["", "-", "-1"]), max_size=4), max_size=8))
def test_any_numbers_in_every_format(tmp_path: Path, rows: list[list[Any]]) -> None:
    for separator in ("\t", " ", ","):
        (tmp_path / "made").write_text("\n".join(separator.join(map(str, row)) for row in rows))
        for form in (None, "mahimahi", "leocc", "lens", "hairpin", "zhuge", "solis"):
            judge(tmp_path / "made", form)


@pytest.mark.parametrize("form", ["iperf3-json", "irtt"])
@settings(FUZZED, max_examples=examples(200))
@given(data=st.data())
def test_any_value_in_the_place_of_any_other_in_json(tmp_path: Path, form: str, data: st.DataObject) -> None:
    document = json.loads(SMALL[form])
    place = document
    for _ in range(data.draw(st.integers(1, 7))):
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], (dict, list)) or data.draw(st.booleans()):
            place[key] = data.draw(
                st.sampled_from([None, -1, 1e308, 10**400, "text", [], {}, True, 0, [0], {"a": 1}, 0.5])
            )
            break
        place = place[key]
    (tmp_path / "made").write_text(json.dumps(document))
    judge(tmp_path / "made", form)


@FUZZED
@given(changes=CHANGES)
def test_a_stored_recording_with_a_few_bytes_changed(tmp_path: Path, changes: list[tuple[int, int, bytes]]) -> None:
    (tmp_path / "own.csv").write_text(SMALL["columns"])
    recording.write(importers.read(tmp_path / "own.csv"), tmp_path / "own.parquet")
    (tmp_path / "made").write_bytes(changed((tmp_path / "own.parquet").read_bytes(), changes))
    judge(tmp_path / "made", "recording")
    judge(tmp_path / "made", "fjordlink")
    judge(tmp_path / "made", None)


def test_a_dish_that_never_answered_is_refused_or_missing(tmp_path: Path) -> None:
    (tmp_path / "made").write_text(STATUS + "2024-01-02T03:04:06.250000,,,,DISH_UNREACHABLE\n")
    found = judge(tmp_path / "made", "starlink-grpc")
    assert found is None or found.frame["rtt_ms"].to_list() == [None]
