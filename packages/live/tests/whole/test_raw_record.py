# SPDX-License-Identifier: GPL-2.0-or-later
"""A path is measured as it is: over loopback, over shaped links, in virtual time; and raw records are read honestly."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_live import live, record
from lab_live.node import recorder
from lab_live.node.recorder import Limits, PathRequest
from lab_live.record import ARRIVAL, ROUND_TRIP, Phase
from live_paths import FRAME_BITS, IDLE, wait_until_listening

from lab.base.errors import UserError
from lab.node.system.tools import NodeError
from lab.traces.recording import read
from tests.brief import error_of, folder_at
from tests.command import lab, press_ctrl_c, start

BOTH = {"name": "both", "seconds": 1.5, "down": True, "up": True}


def measured(host: str, port: int, folder: Path, *specs: dict[str, Any], **changes: Any) -> dict[str, Phase]:
    raw = folder_at(folder / "raw")
    recorder.measure(host, port, PathRequest(list(specs), **({"quiet_s": 0.3} | changes)), raw)
    return {phase.name: phase for phase in record.phases(raw)}


def test_all_that_is_sent_over_loopback_comes_and_is_called_no_capacity(port: int, tmp_path: Path) -> None:
    phases = measured("127.0.0.1", port, tmp_path, IDLE, BOTH, rate_mbps=20)
    idle, both = record.recording(phases["idle"]), record.recording(phases["both"])
    assert (idle.meaning, idle.frame.columns) == (None, ["t_s", "rtt_ms", "lost"])
    assert idle.frame.height == 100
    assert both.meaning == "usage"
    assert both.frame["rate_down_mbps"].mean() == pytest.approx(20, rel=0.1)
    assert both.frame["rate_up_mbps"].mean() == pytest.approx(20, rel=0.1)
    assert not both.frame["lost"].any()
    assert any("no capacity" in note for note in both.notes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rate_mbps": 5000}, "rate_mbps=5000: must be 0.001 to 1000"),
        ({"packet_bytes": 40}, "packet_bytes=40: must be 100 to 9000"),
        ({"phases": [IDLE | {"seconds": 11}]}, "seconds=11: must be above 0, and at most 10 in all"),
        ({"phases": []}, "seconds=0: must be above 0"),
        ({"probe_ms": float("nan")}, "probe_ms=nan: must be 1 to 10000"),
    ],
)
def test_a_server_refuses_what_is_too_much(port: int, tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(NodeError, match=words):
        recorder.measure("127.0.0.1", port, PathRequest([IDLE])._replace(**changes), tmp_path)


def test_where_no_server_runs_one_line_states_it(tmp_path: Path) -> None:
    with pytest.raises(NodeError, match=r"^127.0.0.1 port 1: Connection refused: must be a recorder that serves$"):
        recorder.measure("127.0.0.1", 1, PathRequest([IDLE]), tmp_path)


def test_what_answers_in_another_language_is_no_recorder(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        answering = threading.Thread(target=lambda: other.accept()[0].sendall(b"SSH-2.0-x\r\n"), daemon=True)
        answering.start()
        with pytest.raises(NodeError, match="the other end is no recorder"):
            recorder.measure("127.0.0.1", other.getsockname()[1], PathRequest([IDLE]), tmp_path)


def test_a_stranger_who_speaks_nonsense_does_not_end_the_server(tmp_path: Path) -> None:
    with socket.create_server(("", 0)) as free:
        number = int(free.getsockname()[1])
    printed: list[str] = []
    serving = threading.Thread(
        target=recorder.serve, kwargs={"port": number, "sessions": 4, "show": printed.append}, daemon=True
    )
    serving.start()
    wait_until_listening(number)
    for nonsense in (b"GET / HTTP/1.0\r\n\r\n", b"[1]\n", b'{"version": 1}\n'):
        with socket.create_connection(("127.0.0.1", number)) as stranger:
            stranger.sendall(nonsense)
            stranger.shutdown(socket.SHUT_WR)
            stranger.recv(1000)
    measured("127.0.0.1", number, tmp_path, IDLE | {"seconds": 0.2})
    serving.join(timeout=10)
    assert [words.split(": ", 2)[-1] for words in printed][-1] == "measured"


HOSTILE = [
    b"[" * 60_000 + b"\n",
    b"x" * 70_000,
    b'{"version": 1, "phases": [{"name": "x", "seconds": 1' + b"0" * 400 + b', "down": 1, "up": 1}], "rate_mbps": 1, '
    b'"packet_bytes": 1500, "probe_ms": 10, "quiet_s": 1, "drain_s": 1}\n',
    b'{"version": 1, "phases": [{"name": "x", "seconds": 1, "down": 1, "up": 1}], "rate_mbps": 1, '
    b'"packet_bytes": 100.5, "probe_ms": 10, "quiet_s": 1, "drain_s": 1}\n',
    b'{"version": 1, "phases": {"a": 1}}\n',
    b'{"version": 1, "error": {"a": "\\u0000\\n"}}\n',
    b'{"version": 1' + b"0" * 5000 + b"}\n",
    b"\xff\xfe\n",
]


def test_no_line_of_a_peer_ends_the_server_and_silent_peers_keep_nobody_waiting(tmp_path: Path) -> None:
    with socket.create_server(("", 0)) as free:
        number = int(free.getsockname()[1])
    printed: list[str] = []
    words = {"port": number, "sessions": len(HOSTILE) + 1, "show": printed.append}
    serving = threading.Thread(target=recorder.serve, kwargs=words, daemon=True)
    serving.start()
    wait_until_listening(number)
    silent = [socket.create_connection(("127.0.0.1", number)) for _ in range(20)]
    for line in HOSTILE:
        with socket.create_connection(("127.0.0.1", number)) as peer:
            peer.sendall(line)
            peer.settimeout(60)
            with contextlib.suppress(ConnectionResetError):  # the server hung up without reading all of it
                while peer.recv(1000):
                    pass
    measured("127.0.0.1", number, tmp_path, IDLE | {"seconds": 0.2})
    serving.join(timeout=60)
    assert [words.split(": ", 2)[-1] for words in printed][-1] == "measured"
    assert all(words.isprintable() and len(words) < 400 for words in printed)
    for peer in silent:
        peer.close()


START_NS = 1_700_000_000_000_000_000
SERVER_AHEAD_NS = 5_000_000_000


@pytest.fixture
def port() -> Iterator[int]:
    """A recorder that serves one session on loopback."""
    with socket.create_server(("", 0)) as free:
        number = int(free.getsockname()[1])
    served = threading.Thread(
        target=recorder.serve, kwargs={"port": number, "sessions": 1, "limits": Limits(seconds=10)}, daemon=True
    )
    served.start()
    wait_until_listening(number)
    yield number
    served.join(timeout=20)
    assert not served.is_alive()


def hand_made(
    folder: Path, down: Sequence[tuple[float, int]] = (), up: Sequence[tuple[float, int]] = (), **changes: Any
) -> Phase:
    """A phase of 100 probes, each 30 ms there and back, of (arrival in s, number) fillers, and a server 5 s ahead."""
    trips = np.zeros(100, ROUND_TRIP)
    trips["number"] = np.arange(100)
    trips["sent_ns"] = START_NS + np.arange(100) * 10_000_000
    trips["there_ns"] = trips["sent_ns"] + 15_000_000 + SERVER_AHEAD_NS
    trips["left_ns"] = trips["there_ns"] + 2_000_000
    trips["back_ns"] = trips["left_ns"] - SERVER_AHEAD_NS + 15_000_000
    lost = changes.pop("lost", set())
    trips[[number for number in range(100) if number not in lost]].tofile(folder / "0-mine.probes")
    for way, fillers, ahead_ns in (("down", down, 0), ("up", up, SERVER_AHEAD_NS)):
        arrived = [(round(at_s * 1e9) + START_NS + ahead_ns, number) for at_s, number in fillers]
        np.array(arrived, ARRIVAL).tofile(folder / f"0-mine.{way}")
    meta = {"name": "mine", "stem": "0-mine", "start_ns": START_NS, "probes_sent": 100} | {
        way: {"sent_pkts": changes.pop(f"sent_{way}", 0), "overflowed_pkts": changes.pop(f"overflowed_{way}", 0)}
        for way in ("down", "up")
    }
    request = {"probe_ms": 10.0, "packet_bytes": 1500, "rate_mbps": 100.0} | changes
    (folder / "record.json").write_text(json.dumps({"asked": request, "phases": [meta]}))
    return record.phases(folder)[0]


def steady(every_s: float = 0.001, begin_s: float = 0.05, end_s: float = 0.95) -> list[tuple[float, int]]:
    return [(begin_s + every_s * number, number) for number in range(round((end_s - begin_s) / every_s))]


def test_a_lost_probe_has_no_round_trip_and_is_marked(tmp_path: Path) -> None:
    recorded = record.recording(hand_made(tmp_path, lost={3, 99}))
    assert recorded.frame.filter("lost")["t_s"].to_list() == [pytest.approx(0.03), pytest.approx(0.99)]
    assert recorded.frame["rtt_ms"].null_count() == 2


def test_what_the_server_takes_to_answer_is_not_the_paths(tmp_path: Path) -> None:
    assert record.recording(hand_made(tmp_path)).frame["rtt_ms"].unique().to_list() == [30.0]


def test_the_time_before_and_after_the_fillers_is_cut_and_reported(tmp_path: Path) -> None:
    recorded = record.recording(hand_made(tmp_path, down=steady(), sent_down=2000))
    assert recorded.frame["t_s"][0] == 0
    assert recorded.frame.height == 88  # from 0.05 s to 0.95 s, without the intervals at both ends
    a_probe_too = 82 * 8
    assert recorded.frame["rate_down_mbps"].unique().to_list() == [
        pytest.approx((10 * FRAME_BITS + a_probe_too) / 0.01 / 1e6)
    ]
    assert any("first 0.060 s" in note for note in recorded.notes)


def test_a_stall_between_fillers_is_a_rate_of_zero(tmp_path: Path) -> None:
    fillers = [(at_s, number) for at_s, number in steady() if not 0.3 <= at_s < 0.5]
    stalled_too = set(range(27, 47))  # their echoes would come in the stall
    recorded = record.recording(hand_made(tmp_path, down=fillers, sent_down=2000, lost=stalled_too))
    assert (recorded.frame["rate_down_mbps"] == 0).sum() == 20


def test_the_servers_clock_does_not_shift_what_it_received(tmp_path: Path) -> None:
    fillers = [(at_s, number) for at_s, number in steady() if not 0.3 <= at_s < 0.5]
    recorded = record.recording(hand_made(tmp_path, up=fillers, sent_up=2000, lost=set(range(29, 49))))
    stalled = recorded.frame.filter(recorded.frame["rate_up_mbps"] == 0)["t_s"]
    assert stalled[0] == pytest.approx(0.3 - 0.06)


def test_copies_are_counted_once_and_overtaking_is_reported(tmp_path: Path) -> None:
    fillers = steady()
    fillers[10], fillers[11] = (fillers[10][0], 11), (fillers[11][0], 10)
    recorded = record.recording(hand_made(tmp_path, down=[*fillers, (0.9495, 5)], sent_down=2000))
    assert any("2 times a filler overtook" in note for note in recorded.notes)
    assert any("1 fillers came twice" in note for note in recorded.notes)


def test_a_receiver_that_could_not_keep_up_spoils_the_record(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"mine.down.overflowed_pkts=7: must be 0: a larger net.core.rmem_max"):
        hand_made(tmp_path, down=steady(), sent_down=2000, overflowed_down=7)


def test_a_phase_in_which_nothing_came_is_refused(tmp_path: Path) -> None:
    assert "must hold arrivals of down: none came" in error_of(record.recording, hand_made(tmp_path, sent_down=2000))


def test_a_clock_that_was_set_meanwhile_is_refused(tmp_path: Path) -> None:
    phase = hand_made(tmp_path)
    phase.probes["back_ns"][50] -= 1_000_000_000
    assert "a clock was set meanwhile" in error_of(record.recording, phase)


def test_opportunities_are_whole_packets_of_each_millisecond(tmp_path: Path) -> None:
    recorded = record.opportunities(hand_made(tmp_path, down=steady(0.0005), sent_down=4000), "down")
    assert recorded.kind == "opportunities"
    assert recorded.frame["opportunities"][:100].unique().to_list() == [2]
    assert recorded.frame["t_s"][:3].to_list() == [0.0, 0.001, 0.002]


def test_opportunities_of_smaller_packets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"packet_bytes=1400: must be 1500 for delivery opportunities"):
        record.opportunities(hand_made(tmp_path, down=steady(), sent_down=4000, packet_bytes=1400), "down")


def test_ways_that_do_not_exist_are_refused() -> None:
    with pytest.raises(UserError, match=r"--ways=sideways: must be one of each, both, down, up, none$"):
        live.plan("sideways", 1, 1, 1, 1500, 10)


def test_the_command_writes_a_dataset_that_explains_itself(tmp_path: Path) -> None:
    with socket.create_server(("", 0)) as free:
        port = str(free.getsockname()[1])
    server = start(tmp_path, "traces", "record", "--server", "--port", port, PYTHONUNBUFFERED="1")
    try:
        wait_until_listening(int(port))
        words = "--seconds 1 --idle-seconds 1 --ways down --rate-mbps 10 --opportunities".split()
        out = tmp_path / "mine"
        done = lab(tmp_path, "traces", "record", "localhost", "--port", port, "--out", str(out), *words)
        again = lab(tmp_path, "traces", "record", "localhost", "--port", port, "--out", str(out), *words)
    finally:
        press_ctrl_c(server)
        _, errors = server.communicate(timeout=10)
    assert (server.returncode, errors) == (0, "")
    assert done.returncode == 0, done.stderr
    assert {file.name for file in out.iterdir()} == {
        "raw",
        "record.json",
        "idle.parquet",
        "down.parquet",
        "down-opportunities.parquet",
    }
    assert read(out / "down.parquet").format == "recorder"
    about = json.loads((out / "record.json").read_text())
    assert about["asked"]["rate_mbps"] == 10
    assert set(about) >= {"began", "server_address", "client", "server", "phases", "files"}
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    assert "must be a folder that does not exist yet" in again.stderr


@pytest.mark.parametrize("bound", ["--most-mbps", "--most-seconds"])
@pytest.mark.parametrize("value", ["nan", "0", "-1"])
def test_a_server_does_not_start_without_a_real_bound(tmp_path: Path, bound: str, value: str) -> None:
    done = lab(tmp_path, "traces", "record", "--server", bound, value)
    assert done.returncode == 2
    assert f"Invalid value for '{bound}'" in done.stderr
