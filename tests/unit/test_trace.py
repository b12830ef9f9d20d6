# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's trace pages are decoded event by event, with times that the capture agrees with."""

import json
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.base.errors import UserError
from lab.tables.trace import MISSED, read_events, read_format
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
    with pytest.raises(UserError, match="without ID"):
        read_format("name: nothing\nformat:\n")


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
    with pytest.raises(UserError, match="must hold every event"):
        read_events(file, folder / "formats")
    with pytest.raises(UserError, match=r"trace\.raw: must be whole: it ends inside a page"):
        read_events(write(folder, RAW[:-100]), folder / "formats")
    assert all(len(events) == 0 for events in read_events(write(folder, b""), folder / "formats").values())


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
    (tmp_path / "formats").mkdir()
    (tmp_path / "formats" / "page_bytes").write_text("4096")
    (tmp_path / "formats" / "any.event.format").write_text(ANY_FORMAT)
    found = read_events(write(tmp_path, page_of(records)), tmp_path / "formats")
    assert list(found["any:event"]["t_ns"]) == times
