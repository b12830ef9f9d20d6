# SPDX-License-Identifier: GPL-2.0-or-later
"""A workload's client and server over this machine's own TCP, and what is made of their logs."""

import json
import socket
import time
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from lab.node.plan import FlowPlan, WorkloadPlan
from lab.node.system.task import Task
from lab.node.system.tools import NodeError
from lab.node.traffic.workload_ends import HEAD, READY, TCP_INFO, Player, fetch, serve
from lab.senders.traced import segments
from lab.tables import workload
from lab.tables.trial_json import Download
from tests.brief import error_of
from tests.slow_start_model import PACKETS, packet

OBJECTS = [[70_000, 1], [1_000_000]]
PLAN: WorkloadPlan = {
    "request_bytes": 350,
    "buffer_s": 0.0,
    "exchanges": [
        {"group": number, "wait_s": 0.01, "objects_bytes": sizes, "media_s": 0.0}
        for number, sizes in enumerate(OBJECTS, start=1)
    ],
}
ALGORITHM = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()


def listening() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    with listening() as listener:
        server = Task(serve, listener, ALGORITHM, folder / workload.SERVER)
        fetch(listener.getsockname(), PLAN, folder / workload.CLIENT)
        server.result()
    return folder


def test_every_object_is_whole_in_order_and_the_sender_has_nothing_to_send_around_them(logs: Path) -> None:
    times_ns = json.loads((logs / workload.CLIENT).read_text())["whole_ns"]
    assert len(times_ns) == 3
    assert all(begun < whole for begun, whole in times_ns)
    assert times_ns[0][0] == times_ns[1][0]  # requested together
    assert times_ns[2][0] > times_ns[1][1] + 0.01e9  # after a pause
    assert [whole for _, whole in times_ns] == sorted(whole for _, whole in times_ns)
    log = json.loads((logs / workload.SERVER).read_text())
    assert log["limited_ns"][0][1] == 1
    assert log["limited_ns"][-1][1] == 1
    assert log["samples"] >= len(log["limited_ns"])
    assert log["rwnd_limited_us"] + log["sndbuf_limited_us"] <= log["busy_us"]


def test_tcp_info_is_read_where_the_kernel_writes_it() -> None:
    with listening() as listener, socket.create_connection(listener.getsockname()) as client:
        accepted, _ = listener.accept()
        with accepted:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_000_000)
            client.setblocking(False)
            sent = 0
            while sent < 8_000_000:  # more than the other end takes: the rest waits here
                try:
                    sent += client.send(bytes(100_000))
                except BlockingIOError:
                    break
            raw = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO.size)
            mss, unacked, sacked, lost, retrans, cwnd, notsent_bytes, busy_us, rwnd_us, _ = TCP_INFO.unpack(raw)
            assert 500 < mss <= 65_535
            assert 1 <= cwnd < 2**16
            assert (sacked, lost, retrans) == (0, 0, 0)
            assert unacked <= cwnd
            assert 0 < notsent_bytes < sent
            assert rwnd_us <= busy_us


def test_a_sender_that_the_kernel_does_not_have_is_refused(tmp_path: Path) -> None:
    with listening() as listener:
        server = Task(serve, listener, "no_such_sender", tmp_path / "log")
        with pytest.raises((NodeError, ConnectionError)):
            fetch(listener.getsockname(), PLAN, tmp_path / "client")
        with pytest.raises(OSError, match="No such file"):
            server.result()


def test_a_server_that_closes_within_an_object_is_one_line(tmp_path: Path) -> None:
    def serve_less(listener: socket.socket) -> None:
        control, _ = listener.accept()
        data, _ = listener.accept()
        control.sendall(READY)
        size, _ = HEAD.unpack_from(data.recv(1000))
        data.sendall(bytes(size - 10))
        data.close()

    with listening() as listener:
        Task(serve_less, listener)
        with pytest.raises(NodeError, match="the server closed 10 bytes before the end of an object"):
            fetch(listener.getsockname(), {**PLAN, "exchanges": PLAN["exchanges"][1:]}, tmp_path / "client")


def test_a_player_requests_no_more_than_its_buffer_holds_and_counts_its_stalls() -> None:
    player = Player(buffer_s=0.06)
    player.await_room(0.05)  # at once: nothing plays yet
    player.add(0.05)
    assert player.empty_ns is not None
    first_ns = player.empty_ns
    player.await_room(0.05)  # until a chunk fits: 0.04 s
    player.add(0.05)
    assert player.empty_ns >= first_ns + 50_000_000
    assert player.stalled_ns == max(player.empty_ns - 50_000_000 - first_ns, 0)


def test_a_player_waits_equally_long_whenever_its_kernel_has_booted(monkeypatch: pytest.MonkeyPatch) -> None:
    waits_s: list[float] = []
    for booted_s in (512, 8192):
        player, at_ns = Player(buffer_s=4.0), iter((booted_s * 10**9 + 123_456_789, booted_s * 10**9 + 234_567_891))
        with monkeypatch.context() as patched:
            patched.setattr(time, "monotonic_ns", partial(next, at_ns))
            patched.setattr(time, "sleep", waits_s.append)
            player.add(2.0)
            player.await_room(3.3)
    assert waits_s == [1.188888898] * 2


FLOW: FlowPlan = {"sender": "a", "receiver": "b", "algorithm": ALGORITHM, "port": 1, "duration_s": 9, "workload": PLAN}
TRIAL: Any = {"flows": [FLOW]}
NODE: Any = {"clocks": {"monotonic_ns": 5 * 10**8}, "downloads": [{"data_ns": 10**9}]}
MEASURED: Download = {
    "flow": 1, "data_s": 0.5, "end_s": 9.0, "seconds": 8.5, "bytes": 1, "throughput_mbps": 0.0,
    "retransmits_pkts": 0, "iperf3": {},
}  # fmt: skip
CLIENT = {"whole_ns": [[10**9, 11 * 10**8], [10**9, 12 * 10**8]], "stalled_s": 0.0}
LIMITED = [[9 * 10**8, 1], [10**9, 0]]
SERVER = {"limited_ns": LIMITED, "samples": 2, "busy_us": 5, "rwnd_limited_us": 0, "sndbuf_limited_us": 0}


def read(folder: Path, client: object = CLIENT, server: object = SERVER) -> Any:
    (folder / workload.CLIENT).write_text(json.dumps(client))
    (folder / workload.SERVER).write_text(json.dumps(server))
    return workload.read(folder, TRIAL, NODE, MEASURED)


def test_times_count_as_in_every_table_and_what_is_missing_or_came_after_the_end_is_null(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert [each["whole_s"] for each in found["objects"]] == [pytest.approx(0.6), pytest.approx(0.7), None]
    assert [each["requested_s"] for each in found["objects"]] == [0.5, 0.5, None]
    assert [(each["group"], each["bytes"]) for each in found["objects"]] == [(1, 70_000), (1, 1), (2, 1_000_000)]
    assert found["limited"] == [[pytest.approx(0.4), 1], [0.5, 0]]
    late = {**CLIENT, "whole_ns": [[10**9, 11 * 10**8], [10**9, 99 * 10**8]]}
    assert [each["whole_s"] for each in read(tmp_path, late)["objects"]] == [pytest.approx(0.6), None, None]
    every = {**CLIENT, "whole_ns": [[10**9, 11 * 10**8], [10**9, 99 * 10**8], [10**9, 101 * 10**8]]}
    assert [each["whole_s"] for each in read(tmp_path, every)["objects"]] == [
        pytest.approx(0.6),
        pytest.approx(9.4),
        None,
    ]


@pytest.mark.parametrize(
    ("end", "field", "value", "line"),
    [
        ("client", "whole_ns", [[10**9, 10**9]] * 4, "objects=4: must be at most 3, as many as requested"),
        ("client", "whole_ns", [[1]], "whole_ns[0]=[1]: must be a list of 2"),
        ("client", "whole_ns", [[-1, 2]], "whole_ns[0][0]=-1: must be 0 or more"),
        ("client", "whole_ns", [[1, 2]], "whole_ns=1: must be from 500000000 to 309499999999, a time of the trial"),
        ("client", "whole_ns", [[10**9, 9 * 10**8]], "whole_ns=900000000: must be from 1000000000 to 309499999999"),
        ("client", "stalled_s", -1, "stalled_s=-1: must be 0 or more"),
        ("server", "limited_ns", [[10**9, 2]], "limited_ns[0][1]=2: must be from 0 to 1"),
        ("server", "limited_ns", [[10**12, 0]], "limited_ns=1000000000000: must be from 500000000 to"),
        ("client", "whole_ns", [["a", 2]], "whole_ns"),
        ("client", "whole_ns", [[1, 10**400]], "must be a number below 2^63"),
        ("client", "stalled_s", None, "stalled_s"),
        ("client", "stalled_s", float("inf"), "stalled_s=inf: must be a number below 2^63"),
        ("client", "stalled_s", float("nan"), "stalled_s=nan: must be a number below 2^63"),
        ("server", "busy_us", 10**400, "must be a number below 2^63"),
        ("server", "limited_ns", [[1, 2, 3]], "limited_ns[0]=[1, 2, 3]: must be a list of 2"),
        ("server", "busy_us", "much", "busy_us"),
    ],
)
def test_a_log_out_of_its_contract_is_one_line(tmp_path: Path, end: str, field: str, value: object, line: str) -> None:
    logs = deepcopy({"client": CLIENT, "server": SERVER})
    logs[end][field] = value
    assert line in error_of(read, tmp_path, **logs)


@pytest.mark.parametrize("text", ["", "[", "[" * 100_000])
def test_a_log_that_is_no_json_or_missing_is_one_line(tmp_path: Path, text: str) -> None:
    assert "No such file" in error_of(workload.read, tmp_path, TRIAL, NODE, MEASURED)
    read(tmp_path)
    (tmp_path / workload.CLIENT).write_text(text)
    assert "must be whole JSON" in error_of(workload.read, tmp_path, TRIAL, NODE, MEASURED)


@pytest.mark.parametrize(
    ("came", "longest", "ok"),
    [
        ([(1, 436), (437, 1352)], 1352, True),  # both small objects, and not yet the large one
        ([(1, 436), (437, 1000)], 1000, True),  # of the second object a part
        ([(1, 436), (437, 676), (1113, 676)], 676, False),  # all of it, in two
        ([(1, 436), (437, 1352), (1789, 1400)], 1400, True),  # the begin of the large one
        ([(1, 436), (437, 1352), (1789, 1400), (3189, 1400)], 1400, False),  # more of it, and no full segment
    ],
)
def test_a_full_segment_is_due_of_what_came_of_a_workload(came: list[tuple[int, int]], longest: int, ok: bool) -> None:
    objects = [{"objects_bytes": [436]}, {"objects_bytes": [1352, 90_000]}]
    plan: Any = {"mss_bytes": 1448, "flows": [{"workload": {"exchanges": objects}}]}
    rows = [packet(0.1, True, seq_bytes=seq, len_bytes=length) for seq, length in came]
    found = segments(plan, pl.DataFrame(rows, schema=PACKETS, orient="row"))
    assert (found["got"], found["ok"]) == (longest, ok)
