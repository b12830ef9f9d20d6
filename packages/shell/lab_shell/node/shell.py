# SPDX-License-Identifier: GPL-2.0-or-later
"""A prompt's node: the network is up, and each line of the host is executed in one of its nodes.

The kernel's second terminal leads to the host. From there comes a line at a time, a node and a command in JSON, and
INTERRUPT for what runs. Back go frames: `o LENGTH` with a command's output behind it, for which the host returns TAKEN,
and `s STATUS` when the command has ended and the next line may come. In virtual time nothing here sleeps but while a
command runs: so the clock stands. The host stops the kernel while it has no line for it.
"""

import ctypes
import json
import os
import select
import signal
import subprocess
import time
import tty
from pathlib import Path
from typing import TYPE_CHECKING

from lab.node import beginning
from lab.node.net import interface, netns
from lab.node.net.namespace import entered
from lab.node.qdiscs import link
from lab.node.system.libc import LIBC
from lab.node.system.tools import NodeError
from lab.node.trial import network_up

if TYPE_CHECKING:
    from lab.node.plan import Plan, Topology

TERMINAL = "/dev/tty1"
INTERRUPT, TAKEN = b"\x03", b"\x06"
PIECE_BYTES = 4096
PIPE_PIECES = 16  # in a full pipe
MOST_AHEAD = 8  # pieces of output that the host has not taken: what waits in the terminal itself may never leave it
FILES = "files"  # below the trial's folder: where commands run
HOSTS, NAMES = "/etc/hosts", "/tmp/hosts"
MS_BIND = 4096  # linux/mount.h
SLOW_AHEAD_NS = 2 * 10**9  # link.AHEAD_NS in real time: a virtual kernel takes long to read the first steps
LINES_AT_ONCE = "/usr/libexec/coreutils/libstdbuf.so"  # each line of output as it comes, as by stdbuf -oL


def run_shell(plan: "Plan", folder: Path) -> None:
    """Bring a plan's network up, and execute lines until the host sends no more; the link's series begin with them."""
    os.umask(0)  # dumpcap gives up root's right to write anywhere
    (folder / FILES).mkdir()
    os.chdir(folder / FILES)
    with network_up(plan, folder):
        _name_nodes(plan["topology"])
        second = beginning.settle(plan, beginning.TRAFFIC_S)
        beginning.begin(plan, second)
        beginning.start(plan, second)
        real = plan.get("clock") == "real"
        start_ns = time.monotonic_ns() + (SLOW_AHEAD_NS if real else link.AHEAD_NS)
        with link.following(plan["shapes"], folder, start_ns):
            time.sleep(max(start_ns - time.monotonic_ns(), 0) / 1e9)
            Prompt(plan, start_ns).serve()
    (folder / "node.json").write_text("{}")


def _name_nodes(topology: "Topology") -> None:
    """Let programs find each address by its node's name."""
    names = ["127.0.0.1 localhost"]
    for node in topology["nodes"]:
        with entered(node):
            names += [f"{interface.address(dev)} {node}" for dev in netns.interfaces(topology, node)]
    Path(NAMES).write_text("\n".join([*names, ""]))
    if LIBC.mount(NAMES.encode(), HOSTS.encode(), None, MS_BIND, None):
        raise NodeError(f"mount {HOSTS}: {os.strerror(ctypes.get_errno())}")


class Prompt:
    """The node's end of a prompt."""

    def __init__(self, plan: "Plan", start_ns: int) -> None:
        self._terminal = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self._terminal)
        self._output, self._inlet = os.pipe()  # of every command, also of those that go on behind a line's end
        os.set_blocking(self._output, False)
        self._received, self._gone, self._ahead = b"", False, 0
        self._virtual = plan.get("clock") != "real"
        self._duration_s = plan["flows"][0]["duration_s"]
        follows = any(shape["steps"] for shape in plan["shapes"])
        self._end_ns = start_ns + self._duration_s * 10**9 if follows else None
        preloads = [each for each in (plan.get("preload"), LINES_AT_ONCE) if each]
        self._environment = os.environ | {"LD_PRELOAD": ":".join(preloads), "_STDBUF_O": "L", "HOME": "/tmp"}

    def serve(self) -> None:
        """Execute one line after another, until the host has gone."""
        status = 0
        while True:
            self._write(b"s %d\n" % status)
            while b"\n" not in self._received:
                self._wait()
                if self._gone:
                    return
            line, self._received = self._received, b""
            status = self._execute(*json.loads(line.replace(INTERRUPT, b"")))  # one that came too late

    def _wait(self) -> None:
        """Wait for the host; in virtual time as one who computes, because the clock goes on while all sleep."""
        if self._virtual:
            os.sched_yield()
        else:
            select.select([self._terminal], [], [])
        self._receive()

    def _receive(self) -> None:
        """Read what has come from the host, if anything has."""
        try:
            piece = os.read(self._terminal, PIECE_BYTES)
        except BlockingIOError:
            return
        except OSError:  # hung up
            piece = b""
        self._gone = not piece
        self._ahead -= piece.count(TAKEN)
        self._received += piece.replace(TAKEN, b"")

    def _execute(self, node: str, command: str) -> int:
        """Execute a line, and return its exit status, as a shell has it."""
        with entered(node):
            process = subprocess.Popen(
                ["sh", "-c", command],
                stdin=subprocess.DEVNULL,
                stdout=self._inlet,
                stderr=self._inlet,
                env=self._environment,
                start_new_session=True,
            )
        ended = os.pidfd_open(process.pid)
        while not self._attend(process, ended):
            continue
        os.close(ended)
        self._forward(PIPE_PIECES)
        status = process.wait()
        return status if status >= 0 else 128 - status

    def _attend(self, process: "subprocess.Popen[bytes]", ended: int) -> bool:
        """Wait until a command prints something, is interrupted or ends; return whether it has ended."""
        left_s = None if self._end_ns is None else (self._end_ns - time.monotonic_ns()) / 1e9
        ready = select.select([self._output, self._terminal, ended], [], [], left_s and max(left_s, 0))[0]
        if not ready:
            raise NodeError(f"link: its {self._duration_s} s are over: a longer --duration gives more")
        if self._output in ready:
            self._forward(1)
        if self._terminal in ready:
            self._receive()
        if self._gone:
            raise NodeError("prompt: the host has gone")
        if INTERRUPT in self._received:
            self._received = b""
            os.killpg(process.pid, signal.SIGINT)
        return ended in ready

    def _forward(self, pieces: int) -> None:
        """Send the host what commands have printed, at most some pieces of it."""
        for _ in range(pieces):
            try:
                piece = os.read(self._output, PIECE_BYTES)
            except BlockingIOError:
                return
            while self._ahead >= MOST_AHEAD and not self._gone:
                self._wait()
            self._ahead += 1
            self._write(b"o %d\n" % len(piece) + piece)

    def _write(self, content: bytes) -> None:
        while content:
            content = content[os.write(self._terminal, content) :]
