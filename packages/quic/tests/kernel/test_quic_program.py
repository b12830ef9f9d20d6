# SPDX-License-Identifier: GPL-2.0-or-later
"""lab-quic by itself: its SEARCH decides as the kernel's library does, and each refusal is one line."""

import socket
import subprocess
from pathlib import Path

import numpy as np
import pytest
from lab_quic.quinn import build
from numpy.typing import NDArray

from lab.judge.search_replay import BIN, replay_bins, version

STREAMS = 200
PRINTED = [name for name in (BIN.names or ()) if name != "reserved"]
VERSIONS = ("search", "search1", "search2_printed")
Numbers = NDArray[np.int64]

pytestmark = pytest.mark.skipif(build.find() is None, reason="lab-quic is not built: lab run tcp-quic builds it")


def program(*words: str, text: str = "", limit_s: int = 60) -> "subprocess.CompletedProcess[str]":
    built = build.find()
    assert built
    return subprocess.run(
        [built.program, *words], input=text, capture_output=True, text=True, timeout=limit_s, check=False
    )


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


@pytest.mark.parametrize("name", VERSIONS)
def test_core_and_quic_decide_the_same_on_the_same_ack_streams(search_library: Path, name: str) -> None:
    params = version(search_library, name).params
    left = 0
    for seed in range(STREAMS // len(VERSIONS) + 1):
        acks = stream(seed)
        if not params.app_limited:  # for who calls: lab-quic, as the module, tells such a version of no limit
            acks["limited"][:] = 0
        core = replay_bins(
            search_library,
            acks["t_us"],
            acks["rtt_us"],
            acks["delivered_bytes"],
            params,
            sent_bytes=acks["sent_bytes"],
            limited=acks["limited"],
            reset=acks["reset"],
        )
        done = program(
            "replay", name, text="\n".join(" ".join(map(str, row)) for row in zip(*acks.values(), strict=True))
        )
        ours = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
        assert ours == [[int(row[field]) for field in PRINTED] for row in core]
        left += bool(len(core)) and int(core[-1]["verdict"]) == 8
    assert left > 10  # the streams reach what they are for


@pytest.fixture
def port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    return int(number)


def test_a_server_with_another_key_is_refused_in_one_line(tmp_path: Path, port: int) -> None:
    built = build.find()
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
        (["replay", "vegas"], "controller=vegas: must be cubic, newreno, bbr, hystartpp or a version of SEARCH"),
        (["replay", "search31"], "controller=search31: must not be bound to the kernel's sockets: try search"),
        (["get", "nowhere", "datagram_bytes=1472"], "nowhere: must be an IP address"),
        ([], "must be serve, get or replay, with options"),
    ],
)
def test_a_wrong_word_is_one_line(words: list[str], line: str) -> None:
    done = program(*words)
    assert (done.returncode, done.stdout) == (1, f"lab-quic: {line}\n")
