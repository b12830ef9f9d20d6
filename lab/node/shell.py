# SPDX-License-Identifier: GPL-2.0-or-later
"""A prompt's node: the network is up, and each line of the host is executed in one of its nodes.

The kernel's second terminal leads to the host. From there comes a line at a time, a node and a command in JSON, and
INTERRUPT for what runs. Back go frames: `o LENGTH` with a command's output behind it, and `s STATUS` when it has ended
and the next line may come. In virtual time nothing here sleeps but while a command runs: so the clock stands. The host
stops the kernel while it has no line for it.
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

from lab.node import beginning, interface, link, netns
from lab.node.namespace import LIBC, entered
from lab.node.tools import NodeError
from lab.node.trial import network_up

if TYPE_CHECKING:
    from lab.node.plan import Plan, Topology

TERMINAL = "/dev/tty1"
INTERRUPT = b"\x03"
PIECE_BYTES = 4096
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
        self._virtual = plan.get("clock") != "real"
        self._duration_s = plan["flows"][0]["duration_s"]
        follows = any(shape["steps"] for shape in plan["shapes"])
        self._end_ns = start_ns + self._duration_s * 10**9 if follows else None
        preloads = [each for each in (plan.get("preload"), LINES_AT_ONCE) if each]
        self._environment = os.environ | {"LD_PRELOAD": ":".join(preloads), "_STDBUF_O": "L", "HOME": "/tmp"}

    def serve(self) -> None:
        """Execute one line after another, until the host has gone."""
        self._report(0)
        while line := self._next_line():
            self._report(self._execute(*json.loads(line)))

    def _next_line(self) -> bytes:
        """Return what the host sends up to a line's end; an interrupt that came too late is none of it."""
        line = b""
        while not line.endswith(b"\n"):
            piece = self._read()
            if piece == b"":
                return b""
            line += (piece or b"").replace(INTERRUPT, b"")
            if piece is None:
                self._wait(select.POLLIN)
        return line

    def _read(self) -> bytes | None:
        """Read from the host: None where there is nothing yet, and nothing where it has gone."""
        try:
            return os.read(self._terminal, PIECE_BYTES)
        except BlockingIOError:
            return None
        except OSError:  # hung up
            return b""

    def _wait(self, event: int) -> None:
        """Wait for the host; in virtual time as one who computes, because the clock goes on while all sleep."""
        if self._virtual:
            os.sched_yield()
        else:
            poll = select.poll()
            poll.register(self._terminal, event)
            poll.poll()

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
        self._forward()
        status = process.wait()
        return status if status >= 0 else 128 - status

    def _attend(self, process: "subprocess.Popen[bytes]", ended: int) -> bool:
        """Wait until a command prints something, is interrupted or ends; return whether it has ended."""
        left_s = None if self._end_ns is None else (self._end_ns - time.monotonic_ns()) / 1e9
        ready = select.select([self._output, self._terminal, ended], [], [], left_s and max(left_s, 0))[0]
        if not ready:
            raise NodeError(f"link: its {self._duration_s} s are over: a longer --duration gives more")
        if self._output in ready:
            self._forward()
        if self._terminal in ready and (sent := self._read()) is not None:
            if not sent:
                raise NodeError("prompt: the host has gone")
            os.killpg(process.pid, signal.SIGINT)
        return ended in ready

    def _forward(self) -> None:
        """Send the host what commands have printed."""
        while True:
            try:
                piece = os.read(self._output, PIECE_BYTES)
            except BlockingIOError:
                return
            self._send(b"o %d\n" % len(piece) + piece)

    def _report(self, status: int) -> None:
        self._send(b"s %d\n" % status)

    def _send(self, content: bytes) -> None:
        while content:
            try:
                content = content[os.write(self._terminal, content) :]
            except BlockingIOError:
                self._wait(select.POLLOUT)
