# SPDX-License-Identifier: GPL-2.0-or-later
"""lab-quic by itself: its cores decide as the kernel's libraries do, and each refusal is one line."""

import socket
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_papers.search_replay import EXIT
from lab_quic.log import NO_THRESHOLD
from lab_quic.quinn import build
from numpy.typing import NDArray
from quic_cores import bbr3, bins, careful_resume, core_bins, decisions, paced, program, rapid_start

from bench.same_exit.quic import Event

STREAMS = 200
PACKET_BYTES = 1472
SAVED = {"saved_cwnd_pkts": 400, "saved_rtt_us": 100_000}
VERSIONS = ("search", "search1", "search2_printed", "search4", "search9", "search9_printed")
SERVED = ("datagram_bytes=1472", "log=/dev/null", "qlog=/dev/null")
KNOWN = (
    "must be cubic, newreno, bbr, or a core: hystartpp, rapid_start, careful_resume, bbr3, or a version of SEARCH "
    "that is not bound to the kernel's sockets, such as search"
)
JUMP_BYTES = SAVED["saved_cwnd_pkts"] // 2 * PACKET_BYTES
PIPE_BYTES = 40 * PACKET_BYTES  # for a core that is alone: what the path delivers in a round trip
FIRST_ACKS = 12  # without a limit and a loss: then a connection that jumps has jumped
Numbers = NDArray[np.int64]

pytestmark = pytest.mark.skipif(build.QUINN.find() is None, reason="lab-quic is not built: lab run tcp-quic builds it")


def stream(seed: int) -> dict[str, Numbers]:
    """A slow start that doubles until a rate is reached, with noise, gaps, limits and resets."""
    rng = np.random.default_rng(seed)
    acks, rtt_us = 1500, int(rng.integers(5_000, 600_000))
    t_us = 1_000_000 + np.cumsum(rng.exponential(rtt_us / 40, acks).astype(np.int64) + 1)
    t_us[acks // 2 :] += int(rng.choice([0, 0, 0, 12 * rtt_us]))
    elapsed = (t_us - t_us[0]) / rtt_us
    rate = np.minimum(2.0 ** np.minimum(elapsed, 30), float(rng.integers(8, 300)))
    steps = rate * np.diff(t_us, prepend=t_us[0] - 100) / rtt_us * 1448
    delivered = np.cumsum(steps.astype(np.int64))
    return {
        "t_us": t_us,
        "rtt_us": (rtt_us * (1 + 0.3 * rng.random(acks) + rng.choice([0, 2], acks, p=[0.99, 0.01]))).astype(np.int64),
        "delivered_bytes": delivered,
        "sent_bytes": 2 * delivered,
        "limited": (rng.random(acks) < 0.002).astype(np.int64),
        "reset": (rng.random(acks) < 0.001).astype(np.int64),
    }


def in_slow_start(seed: int) -> list[Event]:
    """The stream as events of a sender that stays in slow start; a reset is a timeout."""
    rows = [[int(word) for word in row] for row in zip(*stream(seed).values(), strict=True)]
    return [
        event
        for t_us, rtt_us, delivered, sent, limited, reset in rows
        for event in [
            Event("timeout", t_us, delivered, sent, 0, 0, 0, 0, 1, NO_THRESHOLD, PACKET_BYTES, 0, 0, 0, 1),
            Event("ack", t_us, delivered, sent, 0, 0, 0, 0, 1, NO_THRESHOLD, PACKET_BYTES, rtt_us, limited, 0, 0),
        ][1 - reset :]
    ]


@pytest.mark.parametrize("name", VERSIONS)
def test_core_and_quic_decide_the_same_on_the_same_ack_streams(search_library: Path, name: str) -> None:
    left = 0
    for seed in range(STREAMS // len(VERSIONS) + 1):
        events = in_slow_start(seed)
        core = core_bins(search_library, name, events)
        assert bins(name, events) == core
        left += bool(core) and core[-1][-1] == EXIT
    assert left > 3  # the streams reach what they are for


def path(seed: int, jumps: bool) -> list[Event]:
    """A connection whose window is full: ACKs of a path that queues and loses, and that may time out.

    What a core decides does not come back: the window goes on as the path would have it.
    """
    rng = np.random.default_rng(seed)
    rtt_us, now_us = int(rng.integers(60_000, 200_000)), 5_000_000
    delivered, lost, first_sent, recovery, found = 0, 0, 0, 0, list[Event]()
    window = 10 * PACKET_BYTES
    for number in range(400):
        now_us += int(rng.exponential(rtt_us * PACKET_BYTES / window)) + 1
        acked = int(rng.integers(1, 3)) * PACKET_BYTES - int(rng.integers(0, 2)) * 300
        delivered += acked
        flight = window - int(rng.integers(1, 3)) * PACKET_BYTES
        sent = delivered + lost + flight
        in_recovery = int(number < recovery)
        rtt = int(rtt_us * (1 + 0.4 * (number > 150) + 0.05 * rng.random() - 0.6 * (rng.random() < 0.001)))
        before = acked if in_recovery else 0
        limited = int(rng.random() < 0.02 and number > FIRST_ACKS)
        numbers = (flight, window, NO_THRESHOLD, PACKET_BYTES, rtt, limited, in_recovery, 0)
        found.append(Event("ack", now_us, delivered, sent, acked, before, 0, *numbers))
        window += acked
        first_sent = first_sent or sent
        if jumps and sent - flight >= first_sent and window < JUMP_BYTES:
            window = JUMP_BYTES
        if number > FIRST_ACKS and rng.random() < (0.05 if in_recovery else 0.01):
            share = int(rng.integers(1, 6)) * PACKET_BYTES
            lost += share
            recovery = recovery if in_recovery else number + int(rng.integers(2, 80))
            numbers = (0, window * 7 // 10, window * 7 // 10, PACKET_BYTES, 0, 0, 0, window)
            kind = "timeout" if rng.random() < 0.05 else "loss"
            found.append(Event(kind, now_us, delivered, sent, 0, 0, share, *numbers))
    return found


def test_rapid_starts_core_and_quic_decide_the_same_on_the_same_events(cores: Path) -> None:
    ended = 0
    for seed in range(STREAMS):
        events = path(seed, jumps=False)
        core = rapid_start(cores, events)
        assert decisions("rapid_start", events) == core
        ended += any(w_max for _, _, w_max in core.values())
    assert ended > STREAMS // 2  # a recovery period that ends


def test_careful_resumes_core_and_quic_decide_the_same_on_the_same_events(cores: Path) -> None:
    jumped, retreated = 0, 0
    for seed in range(STREAMS):
        events = path(seed, jumps=True)
        core = careful_resume(cores, events, **SAVED)
        assert decisions("careful_resume", events, **SAVED) == core
        jumped += any(window == JUMP_BYTES for window, _, _ in core.values())
        retreated += any(ssthresh for _, ssthresh, _ in core.values())
    assert jumped > STREAMS // 2
    assert retreated > STREAMS // 10


def alone(seed: int) -> list[Event]:
    """The same for a core that is alone: what was noted as packets were sent, samples, and idle times."""
    rng = np.random.default_rng(seed)
    found = []
    for event in path(seed, jumps=False):
        pipe = min(event.flight_bytes, PIPE_BYTES)
        then = max(0, event.delivered_bytes - pipe), 0, pipe, int(rng.random() < 0.02)
        interval_us = 0 if rng.random() < 0.05 else event.rtt_us + int(rng.integers(0, 20_000))
        samples = interval_us, event.rtt_us, int(rng.random() < 0.3)
        words: dict[str, Any] = dict(zip(Event._fields[15:], (*then, *samples), strict=True))
        found += [event._replace(**words)]
        if event.limited:
            found += [event._replace(kind="restart", flight_bytes=0, now_us=event.now_us + 500_000)]
    return found


def test_bbrs_core_and_quic_decide_the_same_on_the_same_events(cores: Path) -> None:
    left, restarted = 0, 0
    for seed in range(STREAMS):
        events = alone(seed)
        core = bbr3(cores, events)
        assert paced("bbr3", events) == core
        left += any(threshold for _, threshold, _ in core.values())
        restarted += any(event.kind == "restart" for event in events)
    assert left > STREAMS // 2  # Startup
    assert restarted > STREAMS // 2


@pytest.fixture
def port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    return int(number)


def test_a_server_with_another_key_is_refused_in_one_line(tmp_path: Path, port: int) -> None:
    built = build.QUINN.find()
    assert built
    logs = [f"log={tmp_path / 'log'}", f"qlog={tmp_path / 'qlog'}", "datagram_bytes=1472", f"port={port}"]
    server = subprocess.Popen([built.program, "serve", "controller=cubic", "key=1", *logs], stdout=subprocess.PIPE)
    try:
        assert server.stdout
        assert server.stdout.readline() == b"listening\n"
        done = program("get", "127.0.0.1", "seconds=2", *logs)
    finally:
        server.terminate()
        server.communicate()
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 1
    assert "the server's key must be the trial's" in done.stdout


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["serve", "datagram_bytes=1000"], "datagram_bytes=1000: must be at least 1200 (RFC 9000, section 14)"),
        (["replay", "vegas"], f"controller=vegas: {KNOWN}"),
        (["replay", "search31"], f"controller=search31: {KNOWN}"),
        (["params", "search2"], f"controller=search2: {KNOWN}"),
        (["replay", "rapid_start", "iw_pkts=1"], "iw_pkts=1: must be a whole number from 2 to 1000"),
        (
            ["replay", "rapid_start", "iw=20"],
            "iw=20: must be a parameter of the controller: iw_pkts, queue_us, queue_pct",
        ),
        (["serve", *SERVED, "controller=bbr", "bins=10"], "bins=10: must be left out with bbr"),
        (["serve", *SERVED, "controller=search9", "bins=4"], "bins=4: must be a whole number from 5 to 100"),
        (["get", "127.0.0.1", "datagram_bytes=1472", "bins=10"], "bins: must be an option of lab-quic get"),
        (["get", "127.0.0.1", "port=5201", *SERVED, "workload=/dev/null"], "/dev/null: must be a workload's plan"),
        (["get", "nowhere", "datagram_bytes=1472"], "nowhere: must be an IP address"),
        ([], "must be serve, get, replay or params, with options"),
    ],
)
def test_a_wrong_word_is_one_line(words: list[str], line: str) -> None:
    done = program(*words)
    assert (done.returncode, done.stdout) == (1, f"lab-quic: {line}\n")
