# SPDX-License-Identifier: GPL-2.0-or-later
"""A download over ngtcp2 is a trial like any other; lab-ngtcp2 by itself refuses in one line, sends nothing unasked."""

import os
import subprocess
from pathlib import Path

import polars as pl
import pytest
from lab_quic.ngtcp2 import build
from quic_trials import (
    line_without_an_answer,
    require_certified_and_judged,
    require_the_same_twice,
    run,
    senders_on,
)

from lab.images import image
from tests.conftest import SMALL, Bench
from tests.exact_links import deep

DEEP = deep(rate_mbps=20, rtt_ms=60)
SENDERS = senders_on("ngtcp2")

pytestmark = pytest.mark.skipif(
    build.NGTCP2.find() is None, reason="lab-ngtcp2 is not built: lab run quic-stacks builds it"
)


def test_the_same_trial_is_the_same_byte_for_byte_handshake_and_qlogs_included(bench: Bench) -> None:
    require_the_same_twice(bench, "hystartpp_ngtcp2", "ngtcp2-first", "ngtcp2-second")


@pytest.mark.parametrize("cca", SENDERS)
def test_every_sender_on_ngtcp2_passes_the_certificate_and_has_an_outcome(bench: Bench, cca: str) -> None:
    require_certified_and_judged(run(SMALL, cca, bench, "ngtcp2-first"))


def test_what_was_lost_and_delivered_adds_up_to_what_the_capture_has(bench: Bench) -> None:
    trial = run(SMALL, "reno_ngtcp2", bench, "ngtcp2-first")
    data = trial.packets.filter(pl.col("to_client") & (pl.col("len_bytes") > 0))
    received = int(data["len_bytes"].sum())
    assert data["seq_bytes"].min() == 1
    assert received == trial.meta["flows"][0]["bytes"]
    delivered = int(trial.acks["snd_una_bytes"][-1])
    on_the_way = 1.3 * 1472 * float(trial.acks["cwnd_pkts"].to_numpy().max())
    assert received < delivered * 1.03 + on_the_way  # packets have 2 % more bytes than their data
    assert delivered < received * 1.03 + on_the_way
    assert (trial.meta["flows"][0]["retransmits_pkts"] or 0) > 10  # a loss ended slow start
    assert trial.exits["cause"].to_list() == ["loss"]


def test_packets_have_the_time_at_which_the_server_sent_them(bench: Bench) -> None:
    data = run(SMALL, "reno_ngtcp2", bench, "ngtcp2-first").packets.filter(pl.col("len_bytes") > 0)
    stamps = data["tsval"].drop_nulls().cast(pl.Int64)
    assert len(stamps) > 0.99 * len(data)
    assert (stamps.diff().drop_nulls() >= 0).all()
    spent_ms = (data["t_s"][-1] - data["t_s"][0]) * 1e3
    assert stamps[-1] - stamps[0] == pytest.approx(spent_ms, abs=400)


@pytest.mark.parametrize(("cca", "cause"), [("hystartpp_ngtcp2", "hystartpp"), ("bbr_ngtcp2", "bbr")])
def test_in_a_deep_queue_the_sender_leaves_by_its_own_rule(bench: Bench, cca: str, cause: str) -> None:
    assert run(DEEP, cca, bench, "ngtcp2-deep").exits["cause"].to_list() == [cause]


def test_hystartpp_of_ngtcp2_grows_by_a_quarter_before_it_leaves(bench: Bench) -> None:
    trial = run(DEEP, "hystartpp_ngtcp2", bench, "ngtcp2-deep")
    before = trial.acks.filter(pl.col("t_s") <= trial.exits["t_s"][0])
    assert _growth(before.head(before.height // 8)) == pytest.approx(1, abs=0.05)
    assert _growth(before.tail(before.height // 2)) == pytest.approx(0.25, abs=0.02)


def _growth(acks: pl.DataFrame) -> float:
    """Return the bytes by which the window grew for each byte that was delivered."""
    grown, delivered = (float(acks[name][-1] - acks[name][0]) for name in ("cwnd_pkts", "snd_una_bytes"))
    return grown * 1472 / delivered


def test_a_handshake_that_no_answer_reaches_is_one_line(bench: Bench) -> None:
    assert line_without_an_answer(bench, "hystartpp_ngtcp2") == "lab-ngtcp2: no handshake within 25 s"


SIZE = "datagram_bytes=1472"
LOGS = "log=/tmp/{0}.rows qlog=/tmp/{0}.qlog " + SIZE


def in_world(command: str, folder: Path, limit_s: int = 60) -> "subprocess.CompletedProcess[str]":
    """Run a shell command with the program at /build/lab-ngtcp2, without a network but its own."""
    built, world = build.NGTCP2.find(), image.find("world")
    assert built
    assert world
    alone = ["--unshare-net", "--unshare-pid", *(["--unshare-user"] if os.geteuid() else ["--cap-add", "ALL"])]
    binds = ["--ro-bind", str(world.root), "/", "--ro-bind", str(built.program.parent), "/build"]
    views = ["--dev", "/dev", "--proc", "/proc", "--bind", str(folder), "/tmp", "--chdir", "/build"]
    argv = ["bwrap", *alone, *binds, *views, "--", "sh", "-c", command]
    return subprocess.run(argv, capture_output=True, text=True, timeout=limit_s, check=False)


def both(folder: Path, serve: str, get: str) -> tuple[str, str]:
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
