# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture of QUIC and the client's log of it become the packets of a download: each datagram in its place."""

import json
import shutil
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest
from lab_quic.tables import QLOGS, Datagrams, Ends, decode
from lab_quic.way import QUIC
from quic_logs import event

from lab.base.errors import UserError
from lab.node.plan import FlowPlan, Plan
from lab.runs.trial import STORED, Job, run_trial
from lab.tables.digests import SUMS
from lab.tables.packets import ACK, SYN
from tests.brief import folder_at, put
from tests.unit.test_packets import SECTION, interface, packet_block, written
from tests.unit.test_trial_stored import DRAFT, NODE, PLAN, Recorded, job, shape

PORT, CLIENT_PORT = 5201, 40000
HEADERS_BYTES = 14 + 20 + 8  # Ethernet, IPv4, UDP
BEGUN_US = 1_000_000
DATAGRAMS = [  # (time in us, from the server, payload in bytes)
    (0, False, 1200),
    (50_000, True, 1472),
    (51_000, True, 1472),
    (52_000, False, 40),
    (53_000, True, 1000),
    (54_000, False, 40),
]
FLOW = cast(FlowPlan, {"port": PORT, "quic": {"program": "own/lab-quic", "datagram_bytes": 1472}})
LOG = """sent\t1\t1200
got\t2\t1472
piece\t0\t1000
got\t3\t1472
piece\t2000\t1000
sent\t4\t40
got\t5\t1000
piece\t1000\t900
sent\t6\t40
"""


def frame(from_server: bool, payload_bytes: int, protocol: int = 17, begin: bytes = b"") -> tuple[bytes, int]:
    """Return the captured head of a frame, and its length on the wire."""
    ports = (PORT, CLIENT_PORT) if from_server else (CLIENT_PORT, PORT)
    ipv4 = bytes([0x45, 0]) + struct.pack(">H", 28 + payload_bytes) + bytes([0, 0, 0, 0, 64, protocol]) + bytes(10)
    udp = struct.pack(">HHHH", *ports, 8 + payload_bytes, 0)
    return bytes(12) + b"\x08\x00" + ipv4 + udp + begin.ljust(22, b"\0"), HEADERS_BYTES + payload_bytes


@pytest.fixture
def ends(tmp_path: Path) -> Ends:
    folder = folder_at(tmp_path / "recorded")
    return recorded(folder)


def recorded(tmp_path: Path) -> Ends:
    other = packet_block(BEGUN_US - 9, *frame(True, 500, protocol=6))  # TCP of the same port
    datagrams = [packet_block(BEGUN_US + t_us, *frame(*what)) for t_us, *what in cast(Any, DATAGRAMS)]
    written(tmp_path, SECTION, interface(), other, *datagrams).rename(tmp_path / "client.pcapng")
    (tmp_path / "client.rows").write_text(LOG)
    (tmp_path / "server.rows").write_text("")
    (tmp_path / "server.qlog").write_text("\n".join(event("sent", 10.5 + n, n) for n in range(3)))
    (tmp_path / "client.qlog").write_text("\n".join(event("received", 60.0, n) for n in range(3)))
    return Ends(tmp_path, FLOW)


def test_a_datagrams_size_is_that_of_its_frame_without_the_headers_and_agrees_with_the_clients_log(ends: Ends) -> None:
    assert ends.bytes.tolist() == [payload_bytes for _, _, payload_bytes in DATAGRAMS]
    assert (ends.largest_bytes, ends.full_bytes, ends.differing_pkts) == (1472, 1472, 0)
    assert ends.start_epoch_ns == BEGUN_US * 1000


INITIAL, HANDSHAKE, RETRY = (bytes([kind, 0, 0, 0, 1]) for kind in (0xC3, 0xE3, 0xF3))  # of version 1
INITIAL_2, HANDSHAKE_2, RETRY_2 = (bytes([kind, 0x6B, 0x33, 0x43, 0xCF]) for kind in (0xD3, 0xF3, 0xC3))


@pytest.mark.parametrize(
    ("answers", "connects_s"),
    [
        ([INITIAL, HANDSHAKE], 0.0),
        ([RETRY, INITIAL], 0.05),
        ([RETRY, RETRY, INITIAL], 0.05),  # the client's first datagram was sent again meanwhile
        ([bytes([0x80, 0, 0, 0, 0]), INITIAL], 0.05),  # version negotiation
        ([bytes([0xFF, 0, 0, 0, 0]), RETRY, INITIAL], 0.1),
        ([INITIAL_2, HANDSHAKE_2], 0.0),
        ([RETRY_2, INITIAL_2], 0.05),
    ],
)
def test_a_connection_begins_behind_the_answers_that_belong_to_none(
    tmp_path: Path, answers: list[bytes], connects_s: float
) -> None:
    """A server's qlog begins with the datagram that is followed by a connection."""
    frames = [packet_block(BEGUN_US, *frame(False, 1200, begin=INITIAL))]
    for number, begin in enumerate(answers, 1):
        at_us = BEGUN_US + number * 50_000
        frames += [
            packet_block(at_us, *frame(True, 1200, begin=begin)),
            packet_block(at_us, *frame(False, 1200, begin=INITIAL)),
        ]
    written(tmp_path, SECTION, interface(), *frames).rename(tmp_path / "client.pcapng")
    assert Datagrams(tmp_path, PORT).connects_s == pytest.approx(connects_s)


def test_each_datagram_has_its_place_in_the_stream_and_in_time(ends: Ends) -> None:
    packets = ends.tables(0)["packets"]
    assert packets.select("t_s", "to_client", "frame_bytes").rows() == [
        (pytest.approx(t_us / 1e6), from_server, HEADERS_BYTES + size_bytes)
        for t_us, from_server, size_bytes in DATAGRAMS
    ]
    assert packets["flow"].unique().to_list() == [1]
    assert packets["seq_bytes"].to_list() == [None, 1, 2001, None, 1001, None]
    assert packets["len_bytes"].to_list() == [0, 1000, 1000, 0, 900, 0]
    assert packets["ack_bytes"].to_list() == [1, None, None, 1001, None, 1901]
    assert packets["sack_edges"].to_list() == [0, 0, 0, 1, 0, 1]
    assert packets["tsval"].to_list() == [None, 10, 11, None, 12, None]
    assert packets["flags"].to_list() == [SYN, SYN | ACK, ACK, ACK, ACK, ACK]
    assert packets["tsecr"].null_count() == packets["window_bytes"].null_count() == packets.height


@dataclass(frozen=True)
class OverQuic(Recorded):
    """A backend of which every trial has the recorded link and this download."""

    folder: Path = DRAFT
    node: str = json.dumps(NODE | {"clocks": NODE["clocks"] | {"realtime_ns": BEGUN_US * 1000}})
    own_modules: Mapping[str, Path] = field(default_factory=dict)

    def adapt(self, plan: Plan, *_: object) -> Plan:
        requested = [{**plan["flows"][0], **FLOW, "duration_s": 1}]
        whole: Plan = {**PLAN, "work": "lab_quic.node.quic.run_trial", "flows": requested}  # type: ignore[typeddict-item]
        return whole

    def run_plan(self, plan: Plan, folder: Path) -> None:
        super().run_plan(plan, folder)
        for name in ("client.pcapng", "client.rows", "server.rows", "server.qlog", "client.qlog"):
            shutil.copy(self.folder / name, folder)


def over_quic(ends: Ends, tmp_path: Path) -> Job:
    program = put(tmp_path / "program", "the program")
    sender = QUIC.senders()["search_quic"].model_copy(update={"module_digest": "of the program"})
    plain = job(tmp_path, OverQuic(folder=ends.folder, own_modules={"of the program": program}))
    experiment = replace(plain.experiment, ccas={"search_quic": sender})
    return replace(plain, experiment=experiment, cca="search_quic")


def test_a_trial_over_quic_is_stored_with_the_qlogs_of_both_ends(ends: Ends, tmp_path: Path) -> None:
    trial = over_quic(ends, tmp_path)
    meta = run_trial(trial)
    assert {path.name for path in trial.folder.iterdir()} == {*STORED, "client.pcapng.zst", *QLOGS, SUMS}
    with pa.input_stream(str(trial.folder / "server.qlog.zst"), compression="zstd") as kept:
        assert kept.read() == (ends.folder / "server.qlog").read_bytes()
    (flow,) = meta["flows"]
    assert (flow["cca"], flow["bytes"], flow["retransmits_pkts"]) == ("search_quic", 2900, 0)
    names = {check["name"]: check["ok"] for check in meta["certificate"]["checks"]}
    assert names["datagrams that capture and client recorded differently"]
    assert names["largest UDP datagram (no segmentation offload, no MTU discovery)"]
    assert "largest data segment" not in names


def test_a_trial_over_quic_without_its_capture_keeps_no_qlog(ends: Ends, tmp_path: Path) -> None:
    trial = replace(over_quic(ends, tmp_path), keep_capture=False)
    run_trial(trial)
    assert {path.name for path in trial.folder.iterdir()} == {*STORED, SUMS}


def test_a_log_that_misses_a_captured_datagram_or_has_another_size_differs(ends: Ends) -> None:
    (ends.folder / "client.rows").write_text(LOG.replace("got\t5\t1000", "got\t5\t1001") + "sent\t7\t40\n")
    assert ends.differing_pkts == 2


def test_a_capture_without_the_ports_datagrams_is_refused(ends: Ends) -> None:
    with pytest.raises(UserError, match=r"client\.pcapng: must hold datagrams of port 5202$"):
        Ends(ends.folder, cast(FlowPlan, {**FLOW, "port": 5202}))


def test_a_trial_over_quic_has_the_steps_of_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "link").mkdir()
    shutil.copytree(DRAFT / "formats", tmp_path / "formats")
    shutil.copy(DRAFT / "trace.raw", tmp_path)
    (tmp_path / "link" / "bottleneck").write_text("0\t2000000\n1500000\t500000\n3000000\tend\n")
    follows = shape("bottleneck", {"kind": "replay", "mode": "rate", "start_bps": 5_000_000}, "link/bottleneck")
    node = {**NODE, "applied": [follows]}
    start_ns = node["start_ns"] - 10**9
    epoch_ns = start_ns + node["clocks"]["realtime_ns"] - node["clocks"]["monotonic_ns"]
    ends: Any = SimpleNamespace(start_epoch_ns=epoch_ns, tables=lambda _start_ns: {})
    rows = decode(tmp_path, cast(Any, node), ends)["link"].rows()
    assert rows == [("down.rate_mbps", 0.999999, 5.0), ("down.rate_mbps", 1.0, 2.0), ("down.rate_mbps", 2.5, 0.5)]
