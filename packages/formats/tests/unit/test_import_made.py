# SPDX-License-Identifier: GPL-2.0-or-later
"""Formats of which no real file is at hand: each example here is made, from the format's own documentation."""

import gzip
import json
import lzma
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lab.base.errors import UserError
from lab.traces import importers
from lab.traces.recording import Recording
from tests.brief import error_of, put

SECOND_NS = 10**9


def read(folder: Path, text: str, form: str | None = None, **options: Any) -> Recording:
    file = put(folder / "made.txt", text)
    return importers.read(file, form, **options)


# irtt client -o (man irtt-client, json_format 1)
def trip(number: int, sent_ns: int, rtt_ns: int | None, lost: Any = False) -> dict[str, Any]:
    send = {"wall": 1_508_180_723_000_000_000 + sent_ns, "monotonic": sent_ns}
    delay = {} if rtt_ns is None else {"receive": rtt_ns // 2, "rtt": rtt_ns, "send": rtt_ns // 2}
    stamps = {"client": {"receive": {}, "send": send}, "server": {"receive": {}, "send": {}}}
    return {"seqno": number, "lost": lost, "timestamps": stamps, "delay": delay, "ipdv": {}}


def irtt(*trips: dict[str, Any], json_format: int = 1) -> str:
    version = {"irtt": "0.9.0", "protocol": 1, "json_format": json_format}
    return json.dumps(
        {"version": version, "system_info": {}, "config": {}, "stats": {}, "round_trips": trips}, indent=4
    )


def test_irtts_round_trips_are_in_nanoseconds(tmp_path: Path) -> None:
    recording = read(
        tmp_path, irtt(trip(0, 5, 134_460), trip(1, SECOND_NS + 5, None, True), trip(2, 2 * SECOND_NS + 5, 99_455))
    )
    assert recording.format == "irtt"
    assert recording.frame["t_s"].to_list() == [0.0, 1.0, 2.0]
    assert recording.frame["rtt_ms"].to_list() == pytest.approx([0.13446, None, 0.099455])
    assert recording.frame["lost"].to_list() == [False, True, False]


@pytest.mark.parametrize("lost", ["true", "true_up", "true_down"])
def test_irtts_losses_may_be_words(tmp_path: Path, lost: str) -> None:
    assert read(tmp_path, irtt(trip(0, 0, 5, "false"), trip(1, 9, None, lost))).frame["lost"].to_list() == [False, True]


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, partial(pa.compress, codec="zstd", asbytes=True)])
def test_irtts_file_may_be_packed(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    file = tmp_path / "made.json.gz"
    file.write_bytes(pack(irtt(trip(0, 0, 5), trip(1, 9, 6)).encode()))
    assert importers.read(file).frame.height == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (irtt(trip(0, 0, None)), r"round_trips\[0\].delay.rtt=: must be given"),
        (irtt(trip(0, 0, 5), json_format=2), "version.json_format=2: must be 1"),
        (irtt(trip(0, 0, 5, "perhaps")), r"round_trips\[0\].lost=perhaps: must be false, true, true_up or true_down"),
        (irtt(), r"round_trips=\[\]: must be a list with round trips"),
        (irtt(trip(0, 0, 5), trip(1, 0, 5)), "t_s=0.0: must be later than in the row before"),
    ],
)
def test_irtts_faults_are_named(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        read(tmp_path, text, "irtt")


# LENS's published CSV (its README): -1 stands in the column of the way on which the packet was lost, 0 in the others
def test_lenss_csv_of_irtt_has_a_clock_in_ns_and_three_marks_of_loss(tmp_path: Path) -> None:
    text = (
        "timestamp,rtt,uplink,downlink\n"
        "1705744800616897349,0,0,-1\n"
        "1705744800626565141,120.126123,72.439368,47.68675\n"
        "1705744800636737402,0,-1,0\n"
        "1705744800646307744,-1,0,0\n"
    )
    recording = read(tmp_path, text)
    assert recording.format == "lens-csv"
    assert recording.frame["t_s"].to_list() == pytest.approx([0.0, 0.009667792, 0.019840053, 0.029410395], abs=1e-9)
    assert recording.frame["lost"].to_list() == [True, False, True, True]
    assert recording.frame["rtt_ms"].to_list() == [None, 120.126123, None, None]


def test_lenss_csv_of_ping_knows_no_losses(tmp_path: Path) -> None:
    recording = read(tmp_path, "timestamp,rtt\n1705744800.533641,91.8\n1705744800.55492,96.5\n")
    assert recording.frame.columns == ["t_s", "rtt_ms"]
    assert "The units (timestamp in s, rtt in ms) are the format's, not stated in the file." in recording.notes
    assert any("the number of lost probes is not known" in note for note in recording.notes)


def test_a_row_of_lens_that_is_neither_answered_nor_lost_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="line 2: rtt=0: must be above 0, or -1 in one column where lost"):
        read(tmp_path, "timestamp,rtt,uplink,downlink\n1705744800616897349,0,0,0\n")


# dish_grpc_text.py of starlink-grpc-tools, modes status and bulk_history
STATUS = (
    "datetimestamp_utc,id,hardware_version,software_version,state,uptime,snr,seconds_to_first_nonempty_slot,"
    "pop_ping_drop_rate,downlink_throughput_bps,uplink_throughput_bps,pop_ping_latency_ms,alerts\n"
)
BULK = (
    "datetimestamp_utc,pop_ping_drop_rate,pop_ping_latency_ms,downlink_throughput_bps,uplink_throughput_bps,"
    "snr,scheduled,obstructed\n"
)


def test_the_dishs_status_is_usage_and_an_unreachable_dish_has_no_values(tmp_path: Path) -> None:
    text = (
        STATUS
        + "2024-01-02T03:04:05.250000,ut01,rev3,v1,CONNECTED,100,,0.0,0.05,2000000.0,300000.0,25.5,0\n"
        + "2024-01-02T03:04:06.250000,,,,DISH_UNREACHABLE\n"
        + "2024-01-02T03:04:07,ut01,rev3,v1,SEARCHING,102,,0.0,1.0,0.0,0.0,-1.0,0\n"
    )
    recording = read(tmp_path, text)
    assert (recording.format, recording.meaning) == ("starlink-grpc", "usage")
    assert recording.frame["t_s"].to_list() == [0.0, 1.0, 1.75]
    assert recording.frame["rtt_ms"].to_list() == [25.5, None, None]
    assert recording.frame["loss_pct"].to_list() == [5.0, None, 100.0]
    assert recording.frame["rate_down_mbps"].to_list() == [2.0, None, 0.0]


def test_the_dishs_history_leaves_the_rtt_of_a_lost_second_empty(tmp_path: Path) -> None:
    text = BULK + "2024-01-02T03:04:05,0.0,21.0,1e6,2e6,,True,False\n2024-01-02T03:04:06,1.0,,0.0,0.0,,False,True\n"
    assert read(tmp_path, text).frame["rtt_ms"].to_list() == [21.0, None]


def test_another_short_row_of_the_dish_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="line 2: columns=5: must be 13, as in the other lines"):
        read(tmp_path, STATUS + "2024-01-02T03:04:05,,,,BOOTING\n")


# Lumos5G-v1.0.csv (its README)
LUMOS = (
    "run_num,seq_num,abstractSignalStr,latitude,longitude,movingSpeed,compassDirection,nrStatus,lte_rssi,lte_rsrp,"
    "lte_rsrq,lte_rssnr,nr_ssRsrp,nr_ssRsrq,nr_ssSinr,Throughput,mobility_mode,trajectory_direction,tower_id\n"
)


def lumos(run: int, second: int, mbps: float) -> str:
    return f"{run},{second},4,44.97,-93.26,1.2,10,CONNECTED,-60,-90,-10,20,,,,{mbps},walking,CW,3\n"


def test_lumos5gs_runs_must_be_distinguished(tmp_path: Path) -> None:
    text = LUMOS + lumos(1, 1, 500) + lumos(1, 2, 600) + lumos(2, 1, 700) + lumos(2, 2, 800)
    assert "run=None: must be given" in error_of(read, tmp_path, text)
    recording = read(tmp_path, text, run=2)
    assert (recording.format, recording.meaning) == ("lumos5g", "goodput")
    assert recording.frame["rate_down_mbps"].to_list() == [700.0, 800.0]
    assert recording.notes[2] == "Run 2 of 2."


def test_a_fault_in_a_run_is_named_by_its_line_in_the_file(tmp_path: Path) -> None:
    text = LUMOS + lumos(1, 1, 500) + lumos(2, 1, 700) + lumos(2, 2, -1)
    assert "line 4: Throughput=-1: must be a number at least 0" in error_of(read, tmp_path, text, run=2)


UCC = "Timestamp,Operatorname,NetworkMode,DL_bitrate,UL_bitrate,State,PINGAVG,PINGLOSS\n"


def test_a_phones_rate_does_not_hold_over_a_pause_and_two_operators_are_named(tmp_path: Path) -> None:
    times = [f"10.16.{second}" for second in range(30, 36)] + ["10.18.30", "10.18.31"]
    rows = "".join(f"2019.12.14_{time},{'AB'[at > 5]},5G,7000,50,D,-,-\n" for at, time in enumerate(times))
    found = read(tmp_path, UCC + rows)
    assert found.format == "ucc"
    assert found.frame["rate_down_mbps"].to_list() == [7.0] * 6 + [None] + [7.0] * 2
    assert found.frame["t_s"].to_list()[5:8] == [5.0, 6.0, 120.0]
    notes = " ".join(found.notes)
    assert "1 holes" in notes
    assert "a link made of them keeps the value before" in notes
    assert "2 different Operatorname (A, B)" in notes
    assert "of a video, as in the data set's folders Netflix" in notes


@pytest.mark.parametrize(("begin_ms", "said"), [(60_000, True), (40, False)])
def test_a_piece_of_mahimahis_lines_has_a_note_on_its_silent_begin(tmp_path: Path, begin_ms: int, said: bool) -> None:
    found = read(tmp_path, "".join(f"{begin_ms + at}\n" for at in range(3000)), "mahimahi")
    assert ("The first packet crosses at 60.000 s" in " ".join(found.notes)) == said
