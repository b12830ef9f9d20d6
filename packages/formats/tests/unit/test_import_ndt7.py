# SPDX-License-Identifier: GPL-2.0-or-later
"""What an NDT7 server or client reports of the server's TCP becomes a recording."""

import json
from pathlib import Path
from typing import Any

import pytest

from lab.base.errors import UserError
from lab.traces import importers
from lab.traces.recording import Recording
from tests.brief import put


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
    return "".join(f"{json.dumps(each)}\n" for each in [*({"Key": key, "Value": of} for key, of in events), summary])


def ndt7(*rows: dict[str, Any]) -> str:
    return json.dumps({"Download": {"ServerMeasurements": list(rows)}})


SACKED = {"TCPInfo": {**info(100_000, 20_000, 8500, 1)["TCPInfo"], "Sacked": 100}}
SACKED_NDT7 = ndt7(SACKED, info(350_000, 270_000, 9500, 3))


def read(folder: Path, text: str) -> Recording:
    file = put(folder / "log", text)
    return importers.read(file)


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


def test_what_sack_blocks_report_in_ndt7_has_arrived(tmp_path: Path) -> None:
    """Else what fills a hole would seem to arrive at once."""
    found = read(tmp_path, SACKED_NDT7).frame
    assert found["acked_bytes"].to_list() == [20_000, 270_000]
    assert found["delivered_bytes"].to_list() == [20_000 + 100 * 1448, 270_000]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (ndt7(), "measurements of a download with the server's TCPInfo"),
        (
            json.dumps({"Upload": {"ServerMeasurements": []}}),
            "Download: must be given: an upload's sender is the client",
        ),
        (ndt7(info(1, 9, 1, 0), info(2, 8, 1, 0)), "BytesAcked: must not go back"),
        (ndt7(info(2, 8, 1, 0), info(1, 9, 1, 0)), "ElapsedTime: must not go back"),
    ],
)
def test_a_log_that_breaks_its_form_is_refused_in_a_line(tmp_path: Path, text: str, line: str) -> None:
    with pytest.raises(UserError, match=line):
        read(tmp_path, text)
