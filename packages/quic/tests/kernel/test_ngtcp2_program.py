# SPDX-License-Identifier: GPL-2.0-or-later
"""lab-ngtcp2 by itself, in the world that has its libraries: each refusal is one line, and nothing is sent unasked."""

import os
import subprocess
from pathlib import Path

import pytest
from lab_quic.ngtcp2 import build

from lab.images import image

SIZE = "datagram_bytes=1472"
LOGS = "log=/tmp/{0}.rows qlog=/tmp/{0}.qlog " + SIZE

pytestmark = pytest.mark.skipif(build.find() is None, reason="lab-ngtcp2 is not built: lab run quic-stacks builds it")


def in_world(command: str, folder: Path, limit_s: int = 60) -> "subprocess.CompletedProcess[str]":
    """Run a shell command with the program at /build/lab-ngtcp2, without a network but its own."""
    built, world = build.find(), image.find("world")
    assert built
    assert world
    alone = ["--unshare-net", "--unshare-pid", *(["--unshare-user"] if os.geteuid() else ["--cap-add", "ALL"])]
    binds = ["--ro-bind", str(world.root), "/", "--ro-bind", str(built.program.parent), "/build"]
    views = ["--dev", "/dev", "--proc", "/proc", "--bind", str(folder), "/tmp", "--chdir", "/build"]
    argv = ["bwrap", *alone, *binds, *views, "--", "sh", "-c", command]
    return subprocess.run(argv, capture_output=True, text=True, timeout=limit_s, check=False)


def both(folder: Path, serve: str, get: str) -> tuple[str, str]:
    """Run both ends; return what each printed."""
    serving = f"./lab-ngtcp2 serve {serve} {LOGS.format('server')} > /tmp/server.out & server=$!; sleep 0.5"
    getting = f"./lab-ngtcp2 get 127.0.0.1 {get} {LOGS.format('client')} > /tmp/client.out"
    done = in_world(f"{serving}; {getting}; kill $server 2> /tmp/ended; wait", folder)
    assert done.stderr == ""
    return (folder / "server.out").read_text(), (folder / "client.out").read_text()


def test_a_download_of_a_size_is_whole(tmp_path: Path) -> None:
    server, client = both(tmp_path, "port=5201 controller=bbr", "port=5201 seconds=20 bytes=300000")
    assert server == "listening\n"
    assert client.startswith('{"bytes": 300000, "seconds": ')
    assert '"whole": true, ' in client


def test_a_server_with_another_key_is_refused_in_one_line_by_both_ends(tmp_path: Path) -> None:
    server, client = both(tmp_path, "port=5201 key=1", "port=5201 seconds=2")
    assert client == "lab-ngtcp2: the server's key must be the trial's\n"
    lines = server.splitlines()
    assert lines[0] == "listening"
    assert len(lines) <= 2
    assert all(line.startswith("lab-ngtcp2: ") for line in lines[1:])


def test_noise_before_the_handshake_is_ignored(tmp_path: Path) -> None:
    noise = "python3 -c 'import os, socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    noise += 'for n in (1, 20, 1200, 2000): s.sendto(os.urandom(n), ("127.0.0.1", 5201))\''
    serving = f"./lab-ngtcp2 serve port=5201 {LOGS.format('server')} & server=$!; sleep 0.5; {noise}"
    getting = f"./lab-ngtcp2 get 127.0.0.1 port=5201 seconds=5 bytes=50000 {LOGS.format('client')}"
    done = in_world(f"{serving}; {getting}; kill $server 2> /tmp/ended; wait", tmp_path)
    assert '"bytes": 50000' in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("serve datagram_bytes=1000", "datagram_bytes=1000: must be at least 1200 (RFC 9000, section 14)"),
        (f"serve controller=vegas {SIZE}", "controller=vegas: must be cubic, reno or bbr"),
        (f"serve port=70000 {SIZE}", "port=70000: must be a whole number within its range"),
        (f"serve port=-1 {SIZE}", "port=-1: must be a whole number within its range"),
        (f"serve speed=1 {SIZE}", "speed: must be an option of lab-ngtcp2"),
        (f"serve now {SIZE}", "now: must be an option, name=value"),
        (f"get 127.0.0.1 workload=/dev/null {SIZE}", "/dev/null: must be a workload's plan"),
        (f"get nowhere {SIZE}", "nowhere: must be an IPv4 address"),
        (f"serve log=/nowhere/x {SIZE}", "/nowhere/x: No such file or directory"),
        ("", "must be serve or get, with options"),
    ],
)
def test_a_wrong_word_is_one_line(tmp_path: Path, words: str, line: str) -> None:
    done = in_world(f"./lab-ngtcp2 {words}", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, f"lab-ngtcp2: {line}\n", "")
