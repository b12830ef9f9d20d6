# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab shell`: commands in the nodes of an emulated network, whose clock stands while none runs; nothing stays."""

import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lab_shell.command import keep

from lab.base.errors import UserError
from lab.base.paths import REPO
from tests.brief import few_bytes_per_file, put
from tests.command import ENOUGH_S, ENV, Done, refused, running_on, wait_for

COMMAND = [ENV, "--default-signal=HUP,INT", sys.executable, "-m", "lab", "shell", "--profile"]
PROMPT = b"lab> "
RTT_MS = re.compile(r"rtt min/avg/max/mdev = ([\d.]+)/([\d.]+)/([\d.]+)/")
ANSWERS = re.compile(rb"(\d+) packets transmitted, (\d+) received, ")
POWER_OFF = "import ctypes; ctypes.CDLL(None).reboot(0x4321FEDC)"
NOW = "client date +%s.%N\n"
pytestmark = pytest.mark.usefixtures("kernel")


def shell(script: str, *options: str, profile: str = "wired-clean", **environment: str) -> Done:
    """Run `lab shell` with a script on its standard input."""
    return subprocess.run(
        [*COMMAND, profile, *options],
        input=script,
        cwd=REPO,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=ENOUGH_S,
        check=False,
    )


def printed(done: Done) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def asking(*options: str) -> Iterator["subprocess.Popen[str]"]:
    """Start `lab shell` for a program that writes a line, and reads what it prints."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*COMMAND, "wired-clean", *options], stdin=pipe, stdout=pipe, cwd=REPO, text=True, bufsize=1
    ) as process:
        yield process


def answer(process: "subprocess.Popen[str]", line: str) -> float:
    assert process.stdin
    assert process.stdout
    process.stdin.write(line)
    return float(process.stdout.readline())


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_a_ping_has_the_round_trip_of_the_link(sandbox: str) -> None:
    environment = {"LAB_SANDBOX": "none"} if sandbox == "none" else {}
    found = RTT_MS.search(printed(shell("client ping -c3 server\n", **environment)))
    assert found
    assert [float(each) for each in found.groups()] == pytest.approx([40, 40, 40], abs=0.01)


def test_in_real_time_a_ping_has_at_least_that_round_trip() -> None:
    found = RTT_MS.search(printed(shell("client ping -c5 -i 0.2 server\n", "--real-time")))
    assert found
    assert 40 <= float(found[1]) < 80


def test_virtual_time_stands_between_lines_and_real_time_goes_on() -> None:
    with asking() as process:
        before_s = answer(process, NOW)
        time.sleep(1)
        assert 0 <= answer(process, NOW) - before_s < 0.01
        assert 100 <= answer(process, NOW.replace("date", "sleep 100; date")) - before_s < 100.1
    with asking("--real-time") as process:
        before_s = answer(process, NOW)
        time.sleep(1)
        assert 1 <= answer(process, NOW) - before_s < 60


def test_a_program_behind_an_ampersand_goes_on_and_senders_are_loaded_by_their_name() -> None:
    download = "server iperf3 -s -1 &\nclient iperf3 -c server -R -t 3 -C search\n"
    out = printed(shell(f"{download}server sysctl net.ipv4.tcp_available_congestion_control\n"))
    assert re.search(r" [\d.]+ Mbits/sec +receiver", out)
    assert out.strip().endswith("reno cubic search")


def test_each_node_has_its_qdisc_of_the_link() -> None:
    script = "gateway tc -s qdisc show dev eth2\nsatellite tc -s qdisc show dev eth2\n"
    out = printed(shell(script, profile="geo-viasat"))
    assert "qdisc replay" in out
    assert "qdisc step_drop" in out
    assert "qdisc netem" in out
    assert "delay 300ms" in out


@pytest.mark.parametrize(
    ("script", "options", "status", "out"),
    [
        ("client false\n# a comment\n\nclient echo on\n", [], 0, "on\n"),
        ("client echo on\nclient exit 7\n", [], 7, "on\n"),
        ("client exit 3\nclient echo on\n", ["-e"], 3, ""),
        ("client kill -9 $$\n", [], 137, ""),
        ("client seq 1 50000 | tail -n 1\n", [], 0, "50000\n"),
    ],
)
def test_a_script_ends_with_the_status_of_its_last_line_or_of_the_first_that_fails(
    script: str, options: list[str], status: int, out: str
) -> None:
    done = shell(script, *options)
    assert (done.returncode, done.stdout) == (status, out), done.stderr


@pytest.mark.parametrize(
    ("script", "options", "message"),
    [
        ("client true\nrouter ip link\n", [], "standard input:2: node=router: must be one of client, gateway, "),
        ("server\n", [], "standard input:1: command=: must be behind the node, such as: server ip address"),
        (f"client echo {'x' * 5000}\n", [], "prompt: bytes=5020: must be at most 3000 in one line"),
        ("client true\n", ["--topology", "ring"], "command line: topology=ring: must be a known topology: "),
        ("client true\n", ["--keep", "lab"], "command line: keep=lab: must be a folder that does not exist yet"),
        ("client true\n", ["--duration", "0"], "command line: duration_s=0: must be "),
        ("client echo s 5x >/dev/tty1\n", [], "virtual kernel: its prompt: must send output or a status"),
        (f"client python3 -Sc '{POWER_OFF}'\n", [], "virtual kernel: exit status 0: "),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(script: str, options: list[str], message: str) -> None:
    assert refused(shell(script, *options)).startswith(message)


def test_a_link_that_changes_ends_with_its_series() -> None:
    done = shell("client sleep 2\nclient sleep 9\n", "--duration", "10", profile="geo-viasat")
    assert refused(done) == "link: its 10 s are over: a longer --duration gives more"


def test_what_commands_write_is_kept_on_request_only(tmp_path: Path) -> None:
    script = "client dumpcap -q -i eth1 -w ping.pcapng &\nclient ping -c1 server\nclient pkill dumpcap\n"
    before = sorted(tmp_path.iterdir())
    assert shell(script, TMPDIR=str(tmp_path)).returncode == 0
    assert sorted(tmp_path.iterdir()) == before
    assert shell(script, "--keep", str(tmp_path / "kept")).returncode == 0
    assert sorted(each.name for each in (tmp_path / "kept").iterdir()) == ["ping.pcapng", "session.txt"]
    assert "1 received, 0% packet loss" in (tmp_path / "kept/session.txt").read_text()
    assert (tmp_path / "kept/ping.pcapng").stat().st_size > 0
    assert refused(shell("client echo on\nrouter ip link\n", "--keep", str(tmp_path / "until"))).startswith("standard")
    assert (tmp_path / "until/session.txt").read_text() == "lab> client echo on\non\n"


def test_a_folder_that_is_kept_is_whole_or_not_there(tmp_path: Path) -> None:
    session = put(tmp_path / "session.txt", "lab> true\n")
    put(tmp_path / "files" / "first", "1")
    put(tmp_path / "files" / "second", "much")
    with few_bytes_per_file(2), pytest.raises(UserError, match="File too large"):
        keep(tmp_path / "files", session, tmp_path / "kept")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["files", "session.txt"]


class Terminal:
    """A terminal with `lab shell` in it; its scratch folder is below `folder`."""

    def __init__(self, folder: Path) -> None:
        self.pid, self.screen = pty.fork()
        if not self.pid:
            os.chdir(REPO)
            os.execve(COMMAND[0], [*COMMAND, "wired-clean"], os.environ | {"TMPDIR": str(folder)})  # noqa: S606

    def type(self, keys: bytes) -> None:
        os.write(self.screen, keys)

    def until(self, text: bytes) -> bytes:
        """Read until a text appears; returns all that was read."""
        shown = b""
        while text not in shown:
            shown += os.read(self.screen, 1 << 16)
        return shown

    def status(self) -> int:
        """Wait for the end of the command, and return its exit status."""
        pid, self.pid = self.pid, 0
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def close(self) -> None:
        """Close the terminal: a command that is in it ends."""
        screen, self.screen = self.screen, -1
        os.close(screen)

    def end(self) -> None:
        """Leave nothing of a test that failed."""
        if self.screen >= 0:
            self.close()
        if self.pid:
            self.status()


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    one = Terminal(tmp_path)
    try:
        one.until(PROMPT)
        yield one
    finally:
        one.end()
    assert running_on(tmp_path) == []


def test_in_a_terminal_ctrl_c_ends_a_command_and_ctrl_d_the_network(terminal: Terminal) -> None:
    terminal.type(b"help\n")
    assert b"client ping -c3 server" in terminal.until(PROMPT)
    terminal.type(b"nowhere ls\n")
    assert b"node=nowhere: must be one of client, " in terminal.until(PROMPT)
    terminal.type(b"client ping server\n")
    terminal.until(b"icmp_seq=20 ")
    terminal.type(b"\x03")
    answers = ANSWERS.search(terminal.until(PROMPT))
    assert answers
    assert int(answers[1]) - int(answers[2]) in (0, 1)  # one may have been on its way
    terminal.type(b"\x04")
    assert terminal.status() == 0


def test_a_second_ctrl_c_ends_a_command_that_no_signal_reaches(terminal: Terminal) -> None:
    terminal.type(b"client sh -c 'while :; do :; done'\n")
    terminal.until(b"\n")
    time.sleep(0.5)
    terminal.type(b"\x03")
    terminal.until(b"^C")
    time.sleep(1)  # two signals at once are one
    terminal.type(b"\x03")
    assert terminal.status() == 130


@pytest.mark.parametrize("end", ["kill -9", "a closed terminal", "SIGTERM"])
def test_nothing_runs_on(terminal: Terminal, tmp_path: Path, end: str) -> None:
    assert running_on(tmp_path)
    if end == "a closed terminal":
        terminal.close()
    else:
        os.kill(terminal.pid, signal.SIGKILL if end == "kill -9" else signal.SIGTERM)
    terminal.status()
    wait_for(lambda: running_on(tmp_path) == [], "end of every process")
    assert (list(tmp_path.iterdir()) == []) == (end != "kill -9")  # `lab clean` removes what a killed command left
