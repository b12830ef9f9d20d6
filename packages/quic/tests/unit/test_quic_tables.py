# SPDX-License-Identifier: GPL-2.0-or-later
"""What QUIC's two ends log becomes the tables that TCP has, of a bounded part of this machine's memory."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
from lab_quic.log import NO_THRESHOLD, Clock, Received, read_client, read_server
from lab_quic.stack import elf, qlog
from lab_quic.tables import counted, sent_ms
from quic_logs import event

from lab.base.errors import UserError
from lab.tables.trial_json import Download
from tests.brief import error_of, put

CLOCK = Clock(start_ns=1_000_000_000, packet_bytes=1472)


def written(tmp_path: Path, *rows: tuple[object, ...], end: str = "\n") -> Path:
    return put(tmp_path / "rows", "\n".join("\t".join(map(str, row)) for row in rows) + end)


def test_a_gap_holds_what_was_had_until_it_is_filled(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        ("sent", 1, 1200),
        ("got", 2, 1472),
        ("piece", 0, 1000),
        ("got", 3, 1472),
        ("piece", 2000, 1000),  # 1000 to 2000 is missing
        ("sent", 4, 40),
        ("got", 5, 1472),  # what came twice is not new
        ("sent", 6, 40),
        ("got", 7, 1472),
        ("piece", 1000, 1000),  # sent again, and new data behind it
        ("piece", 3000, 500),
        ("sent", 9, 40),
    )
    stream = Received(read_client(file))
    assert stream.had.tolist() == [0, 1000, 1000, 3500]
    assert stream.pieces.tolist() == [0, 1, 1, 0]
    assert stream.begin.tolist() == [0, 2000, 0, 1000]
    assert stream.length.tolist() == [1000, 1000, 0, 1500]


def test_windows_are_packets_and_times_count_from_the_first_datagram(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        ("ack", 1_500_000_000, 14_720, NO_THRESHOLD, 40_000_000, 39_000, 0, 2944, 4416, 1472, 0),
        ("ack", 1_600_000_000, 29_440, 14_720, 41_000_000, 39_000, 2944, 4416, 4416, 0, 1),
    )
    acks = CLOCK.ack_table(read_server(file))
    assert acks["t_s"].to_list() == pytest.approx([0.5, 0.6])
    assert acks["cwnd_pkts"].to_list() == [10, 20]
    assert acks["ssthresh_pkts"].to_list() == [None, 10]
    assert acks["snd_una_bytes"].to_list() == [1, 2945]


def test_an_exit_has_its_cause_and_bins_without_a_comparison_have_no_windows(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        ("bin", 1_100_000_000, 14_720, NO_THRESHOLD, 0, 40_000, 14_000, 7, 8, 9, 1),
        ("bin", 1_200_000_000, 29_440, NO_THRESHOLD, 1, 41_000, 14_000, 1000, 900, 444, 8),
        ("exit", 1_200_000_000, 29_440, 29_440, 41_000, "search"),
    )
    server = read_server(file)
    bins, exits = CLOCK.bin_table(server), CLOCK.exit_table(server)
    assert bins["curr_delv_bytes"].to_list() == [None, 1000]
    assert bins["norm_pct"][0] is None
    assert bins["norm_pct"][1] == pytest.approx(44.4)
    assert bins["exit"].to_list() == [False, True]
    assert exits.row(0, named=True) == {
        "t_s": 0.2, "flow": 1, "cwnd_pkts": 20, "ssthresh_pkts": 20, "rtt_ms": 41.0, "cause": "search"
    }  # fmt: skip


def test_each_lost_packet_is_a_row_and_those_after_the_download_do_not_count(tmp_path: Path) -> None:
    file = written(tmp_path, ("lost", 1_500_000_000, 2), ("lost", 9_000_000_000, 1))
    lost = CLOCK.loss_table(read_server(file))
    assert lost["t_s"].to_list() == [0.5, 0.5, 8.0]
    measured: Download = {
        "flow": 1, "data_s": 0.0, "end_s": 5.0, "seconds": 5.0, "bytes": 1, "throughput_mbps": 0.1,
        "retransmits_pkts": 0, "iperf3": {},
    }  # fmt: skip
    packets = pl.DataFrame({"t_s": [1.0, 4.0, 6.0], "len_bytes": [1000, 500, 70]})
    found = counted(measured, {"retransmits": lost, "packets": packets})
    assert (found["retransmits_pkts"], found["bytes"]) == (2, 1500)
    assert found["throughput_mbps"] == pytest.approx(0.0024)


def test_half_a_line_of_a_killed_end_is_left_out(tmp_path: Path) -> None:
    file = written(tmp_path, ("sent", 1, 1200), ("sent", 2, 12), end="")
    assert read_client(file).sent["bytes"].to_list() == [1200]


@pytest.mark.parametrize("row", [("ack", 1, 2), ("exit", 1, 2, "x", 4, "loss")])
def test_a_row_that_is_none_is_refused_in_one_line(tmp_path: Path, row: tuple[object, ...]) -> None:
    file = written(tmp_path, row)
    with pytest.raises(UserError, match=rf"rows: {row[0]}: must have \d+ fields, whole numbers but for a cause"):
        read_server(file)


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (("exit", 1, 2, NO_THRESHOLD - 1, 4, "loss"), "ssthresh"),
        (("exit", 1, -2, NO_THRESHOLD, 4, "loss"), "window"),
        (("ack", 5000, 14480, 1, 100, 20, (1 << 63) - 1, 1280, 2560, 1280, 0), "una"),
        (("bin", 5000, 14480, 1, 1 << 31, 20, 3, 100, 90, 500, 7), "bin"),
    ],
)
def test_a_number_that_fits_into_no_table_is_refused(tmp_path: Path, row: tuple[object, ...], name: str) -> None:
    with pytest.raises(UserError, match=rf"rows: {row[0]}: {name}: must be from -?\d+ to \d+"):
        read_server(written(tmp_path, row))


def test_a_datagram_has_the_time_at_which_the_server_sent_it(tmp_path: Path) -> None:
    server, client = tmp_path / "server.qlog", tmp_path / "client.qlog"
    server.write_text("\n".join([event("sent", 5.0, 0, "initial"), *(event("sent", 10.25 + n, n) for n in range(4))]))
    client.write_text("\n".join([event("received", 50.0, 0, "initial"), *(event("received", 60.0, n) for n in (1, 3))]))
    assert sent_ms(server, client, 3).to_list() == [None, 11, 13]
    assert sent_ms(server, client, 3).dtype == pl.UInt32


@pytest.mark.parametrize(("time_ms", "number"), [(2**32, 1), (-1, 1), (1e300, 1), (1, 10**30)])
def test_a_qlog_whose_packet_has_no_time_or_number_is_one_line(tmp_path: Path, time_ms: float, number: int) -> None:
    file = put(tmp_path / "server.qlog", event("sent", time_ms, number))
    with pytest.raises(
        UserError, match=r"server\.qlog: packet: must have a number, and a time from 0 to 4294967296 ms$"
    ):
        sent_ms(file, file, 1)
    file.write_text("")
    assert sent_ms(file, file, 1).to_list() == [None]


CAT = Path(shutil.which("cat") or "").resolve()
LOG = json.dumps({"qlog_version": "0.3", "traces": [{"events": [{}]}]})


def test_of_many_lists_of_libraries_the_first_is_read_as_the_loader_does() -> None:
    content = CAT.read_bytes()
    header = elf.HEADER.unpack_from(content)
    tables = content[header[5] :][: header[10] * elf.SEGMENT.size]
    lists = [each for each in elf.SEGMENT.iter_unpack(tables) if each[0] == elf.DYNAMIC] * 1000
    many = elf.HEADER.pack(*header[:5], len(content), *header[6:10], header[10] + 1000, *header[11:])
    more = b"".join(elf.SEGMENT.pack(*each) for each in lists)
    assert elf.read(many + content[len(many) :] + tables + more, "cat") == elf.read(content, "cat")


def test_a_log_of_too_many_values_for_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "server.qlog"
    monkeypatch.setattr(qlog, "MOST_VALUES", sum(map(LOG.count, ",[{")))
    file.write_text(LOG)
    assert qlog.read(file, "mine").is_empty()
    file.write_text(LOG.replace("[{}]", "[{},{}]"))
    assert "values=8: must be at most 6, or leave qlog out" in error_of(qlog.read, file, "mine")
