# SPDX-License-Identifier: GPL-2.0-or-later
"""Measuring a live path between a server and a client: fillers saturate it, small probes measure its round trip.

The client leads over one TCP connection: it requests phases, both ends open UDP (the server's port for fillers, the
next for probes), and the client shows that it owns its address. A phase is silence, fillers one way, or both ways;
probes go all the time. Afterwards the client holds raw records of both ends in a folder, for `lab_live.record`.
"""

import itertools
import json
import os
import platform
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from lab.node.system.task import Task
from lab.node.system.tools import NodeError
from lab_live.node import datagrams
from lab_live.node.control import MOST_ERROR_CHARS, Line, Message, listen
from lab_live.node.datagrams import Arrived, Phase, open_udp
from lab_live.node.lobby import Lobby, Peer

VERSION = 1
PORT = 5301
GREETING_S = 10  # for an answer while nothing else goes on
Print = Callable[[str], None]


class Limits(NamedTuple):
    """The most that a client may request."""

    rate_mbps: float = 1000.0
    seconds: float = 600.0


class PathRequest(NamedTuple):
    """How to measure."""

    phases: list[Message]  # {name, seconds, down, up}
    rate_mbps: float = 200.0
    packet_bytes: int = 1500
    probe_ms: float = 10.0
    quiet_s: float = 2.0
    drain_s: float = 60.0

    def phase(self, index: int) -> Phase:
        """Return what the datagrams of a phase need to know."""
        return Phase(index, self.phases[index]["seconds"], self.quiet_s, self.drain_s)


def check(sent: Message, limits: Limits) -> PathRequest:
    """Read a client's request; NodeError names the field that cannot be had."""
    request = PathRequest._make(sent.get(name) for name in PathRequest._fields)
    rules = (
        ("rate_mbps", 0.001, limits.rate_mbps),
        ("packet_bytes", 100, 9000),
        ("probe_ms", 1, 10_000),
        ("quiet_s", 0.1, 30),
        ("drain_s", 0.1, 120),
    )
    for name, low, high in rules:
        value = getattr(request, name)
        kinds = int if name == "packet_bytes" else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
            raise NodeError(f"{name}={_short(value)}: must be {low} to {high}")
    for phase in request.phases if isinstance(request.phases, list) else [None]:
        _check_phase(phase, limits)
    seconds = sum(phase["seconds"] for phase in request.phases)
    if not 0 < seconds <= limits.seconds:
        raise NodeError(f"seconds={seconds:g}: must be above 0, and at most {limits.seconds:g} in all")
    return request


def _check_phase(phase: Any, limits: Limits) -> None:
    if not isinstance(phase, dict) or not {"name", "down", "up", "seconds"} <= phase.keys():
        raise NodeError(f"phases={_short(phase)}: must be a list of phases with name, seconds, down and up")
    seconds = phase["seconds"]
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds <= limits.seconds:
        raise NodeError(f"seconds={_short(seconds)}: must be above 0, and at most {limits.seconds:g} in all")


def _short(value: Any) -> str:
    try:
        return str(value)[:60]
    except ValueError:
        return "a number of more than 4300 digits"


def serve(port: int = PORT, limits: Limits | None = None, sessions: int = 0, show: Print | None = None) -> None:
    """Serve one client after the other, for ever or so many; an error of a session is reported and ends that one."""
    with listen(port) as listening, closing(Lobby(listening, GREETING_S)) as lobby:
        for number in range(1, sessions + 1) if sessions else itertools.count(1):
            peer = lobby.next_peer()
            with peer.connection:
                outcome = _serve_peer(peer, port, limits or Limits())
            if show:
                show(f"{number}: {peer.address.removeprefix('::ffff:')}: {outcome}")


def _serve_peer(peer: Peer, port: int, limits: Limits) -> str:
    """Measure with a peer, or report the reason why not; whatever a peer sends, the next one is served."""
    line = Line(peer.connection, peer.received)
    try:
        if peer.refusal:
            raise NodeError(peer.refusal)
        _session(line, peer.address, port, limits)
    except (NodeError, OSError) as error:
        outcome = str(error)
    except Exception as error:  # what no rule foresaw: this peer's session ends, and no other
        outcome = f"recorder: {type(error).__name__}: must be a request of a recorder"
    else:
        return "measured"
    outcome = ascii(outcome)[1:-1][:MOST_ERROR_CHARS]
    line.report(outcome)
    return outcome


def _session(line: Line, client: str, port: int, limits: Limits) -> None:
    greeting = line.answer(GREETING_S)
    if greeting.get("version") != VERSION:
        raise NodeError(f"version={greeting.get('version')}: must be {VERSION}, the server's")
    request = check(greeting, limits)
    token = secrets.token_bytes(8)
    with _udp_pair(line.connection.family, port) as (fillers, probes):
        line.send(token=token.hex())
        for udp in (fillers, probes):
            udp.connect(_caller(udp, token, client))
        line.send(server=_about())
        stop = threading.Event()
        echoing = threading.Thread(target=datagrams.echo, args=(probes, token, stop), daemon=True)
        echoing.start()
        try:
            for index in range(len(request.phases)):
                _serve_phase(line, request, index, token, fillers)
        finally:
            stop.set()
            echoing.join()


@contextmanager
def _udp_pair(family: int, port: int) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Open the socket of fillers and that of probes; port 0: any ports, as a client has them."""
    with ExitStack() as stack:
        pair = [stack.enter_context(open_udp(family, port and port + offset)) for offset in (0, 1)]
        yield pair[0], pair[1]


def _caller(udp: socket.socket, token: bytes, client: str) -> Any:
    """Wait for the client's token: fillers are sent to nobody who did not call from that address."""
    end_s = time.monotonic() + GREETING_S
    while (left_s := end_s - time.monotonic()) > 0:
        udp.settimeout(left_s)
        try:
            datagram, address = udp.recvfrom(64)
        except TimeoutError:
            break
        if datagram == token and address[0] == client:
            udp.settimeout(None)
            return address
    raise NodeError(f"UDP port {udp.getsockname()[1]}: must be reachable: no datagram of the client came")


def _serve_phase(line: Line, request: PathRequest, index: int, token: bytes, fillers: socket.socket) -> None:
    phase, spec = request.phase(index), request.phases[index]
    line.answer(GREETING_S + phase.drain_s)
    collecting = Task(datagrams.collect, fillers, token, phase, request.rate_mbps) if spec["up"] else None
    line.send(begun=index)
    sent = datagrams.fill(fillers, token, phase, request.rate_mbps, request.packet_bytes) if spec["down"] else 0
    arrived = collecting.result() if collecting else Arrived(b"", 0)
    line.answer(GREETING_S + phase.seconds + phase.drain_s)
    line.send(sent_pkts=sent, overflowed_pkts=arrived.overflowed_pkts, bytes=len(arrived.records))
    line.connection.sendall(arrived.records)


def measure(host: str, port: int, request: PathRequest, folder: Path) -> Message:
    """Measure the path to a server and leave raw records in a folder; returns record.json's content."""
    try:
        return _measure(host, port, request, folder)
    except (KeyError, TypeError, ValueError):  # of what the server sent
        raise NodeError(f"{host} port {port}: must be a recorder that serves: its lines are no recorder's") from None


def _measure(host: str, port: int, request: PathRequest, folder: Path) -> Message:
    try:
        connection = socket.create_connection((host, port), timeout=GREETING_S)
    except OSError as error:
        raise NodeError(f"{host} port {port}: {error.strerror or error}: must be a recorder that serves") from None
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        line = Line(connection)
        line.send(version=VERSION, **request._asdict())
        token = bytes.fromhex(line.answer(GREETING_S)["token"])
        with _udp_pair(connection.family, 0) as (fillers, probes):
            server = _call(line, (fillers, probes), token, connection.getpeername(), port)
            phases = [
                _measure_phase(line, request, index, token, fillers, probes, folder)
                for index in range(len(request.phases))
            ]
    record = {"version": VERSION, "asked": request._asdict(), "client": _about(), "server": server, "phases": phases}
    (folder / "record.json").write_text(json.dumps(record, indent=1))
    return record


def _call(line: Line, pair: tuple[socket.socket, socket.socket], token: bytes, peer: Any, port: int) -> Message:
    """Show the token on both UDP ports until the server has seen it; return what it reports about itself."""
    stop = threading.Event()

    def knock() -> None:
        while not stop.wait(0.1):
            for udp in pair:
                datagrams.send(udp, token)

    for offset, udp in enumerate(pair):
        udp.connect((peer[0], port + offset, *peer[2:]))
    knocking = Task(knock)
    try:
        server: Message = line.answer(2 * GREETING_S + 1)["server"]
    finally:
        stop.set()
        knocking.join()
    return server


def _measure_phase(
    line: Line,
    request: PathRequest,
    index: int,
    token: bytes,
    fillers: socket.socket,
    probes: socket.socket,
    folder: Path,
) -> Message:
    phase, spec = request.phase(index), request.phases[index]
    echoes = Task(datagrams.collect_probes, probes, token, phase)
    arrivals = Task(datagrams.collect, fillers, token, phase, request.rate_mbps) if spec["down"] else None
    line.send(begin=index)
    line.answer(GREETING_S)
    start_ns = time.time_ns()
    probing = Task(datagrams.send_probes, probes, token, phase, request.probe_ms / 1e3)
    sent_up = datagrams.fill(fillers, token, phase, request.rate_mbps, request.packet_bytes) if spec["up"] else 0
    probes_sent = probing.result()
    down = arrivals.result() if arrivals else Arrived(b"", 0)
    round_trips = echoes.result()
    line.send(end=index)
    received = line.answer(GREETING_S + phase.seconds + phase.drain_s)
    stem = f"{index}-{spec['name']}"
    for kind, records in (("down", down.records), ("up", line.records(received["bytes"])), ("probes", round_trips)):
        (folder / f"{stem}.{kind}").write_bytes(records)
    return {
        "name": spec["name"],
        "stem": stem,
        "start_ns": start_ns,
        "probes_sent": probes_sent,
        "down": {"sent_pkts": received["sent_pkts"], "overflowed_pkts": down.overflowed_pkts},
        "up": {"sent_pkts": sent_up, "overflowed_pkts": received["overflowed_pkts"]},
    }


def _about() -> Message:
    """Return the system that this end runs on."""
    return {"system": platform.platform(), "python": platform.python_version(), "cpus": os.cpu_count()}
