# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: what a flow of each sender meets on bad paths, and what the kernel counted meanwhile."""

import socket
import time
from collections.abc import Callable
from typing import Any

from lab.node.system.tools import run
from tests.guest.flow import PORT, Flow, connect, counters, finish, link_up, listening, pump, receiving, set_algorithm
from tests.guest.peer import Peer, reneged_on

SIZE_BYTES, RENEGED_BYTES = 700_000, 100_000
PATIENCE_S, SILENCE_S = 600.0, 100.0  # virtual
TCP_MAXSEG, TCP_FASTOPEN = 2, 23
LEAST_MSS_BYTES = 88
Link = dict[str, Any]
Facts = dict[str, dict[str, int]]
Hardship = Callable[[Link, str], Flow]
SYSCTLS = {"marks": {"net.ipv4.tcp_ecn": "1"}, "fast_open": {"net.ipv4.tcp_fastopen": "3"}}


def suffered(link: Link, algorithms: list[str], hardship: str) -> Facts:
    """Have every sender suffer what a function of this file makes."""
    return each_sender(link, algorithms, globals()[hardship], SYSCTLS.get(hardship))


def each_sender(link: Link, algorithms: list[str], one: Hardship, sysctls: dict[str, str] | None = None) -> Facts:
    """Have every sender do the same; returns, by sender, its flow's figures and by how much the counters grew."""
    facts: Facts = {}
    with link_up(link, sysctls):
        for algorithm in algorithms:
            before = {node: counters(node) for node in link["ends"]}
            flow = one(link, algorithm)
            facts[algorithm] = {"most_cwnd_pkts": flow.most_cwnd_pkts, "got_bytes": flow.got_bytes}
            for node, old in before.items():
                grown = {name: new - old[name] for name, new in counters(node).items()}
                facts[algorithm] |= {f"{node}.{name}": by for name, by in grown.items() if by}
    return facts


def tc(link: Link, part: str, words: str) -> None:
    """Change a part of the link to something that no profile has."""
    (shape,) = (shape for shape in link["shapes"] if shape["part"] == part)
    run("tc", "-n", shape["node"], "qdisc", "change", "dev", shape["dev"], "root", "handle", "1:", *words.split())


def lossy(link: Link, loss: str) -> None:
    """Let the way down lose, or mark, a share of the packets."""
    tc(link, "delay-down", f"netem limit 1000000 delay 50ms rate 10gbit loss {loss}")


def opened(link: Link, algorithm: str, size_bytes: int = SIZE_BYTES, **receiver: Any) -> Flow:
    server, client = link["ends"]
    with listening(server, algorithm) as sock:
        return connect(link, sock, receiving(client, **receiver), size_bytes)


def timeout(link: Link, algorithm: str) -> Flow:
    """The path goes dark for three seconds in mid-flow."""
    flow = opened(link, algorithm)
    pump([flow], 0.25)  # before the fastest start has sent all
    lossy(link, "100%")
    pump([flow], 3)
    lossy(link, "0%")
    finish([flow], PATIENCE_S)
    return flow


def reordering(link: Link, algorithm: str) -> Flow:
    """A fifth of the packets overtake the others."""
    flow = opened(link, algorithm)
    tc(link, "delay-down", "netem limit 1000000 delay 50ms loss 0% reorder 20% gap 5")
    finish([flow], PATIENCE_S)
    return flow


def zero_window(link: Link, algorithm: str) -> Flow:
    """The reader stops for a minute, and its small buffer fills."""
    flow = opened(link, algorithm, rcvbuf_bytes=65536)
    pump([flow], 0.5)
    flow.reading = False
    pump([flow], 60)
    flow.reading = True
    finish([flow], PATIENCE_S)
    return flow


def tiny_mss(link: Link, algorithm: str) -> Flow:
    """The receiver takes no segments above 88 bytes."""
    flow = opened(link, algorithm, SIZE_BYTES // 4, options={TCP_MAXSEG: LEAST_MSS_BYTES})
    finish([flow], PATIENCE_S)
    return flow


def marks(link: Link, algorithm: str) -> Flow:
    """Both ends speak ECN, and the path marks where it would lose."""
    flow = opened(link, algorithm)
    lossy(link, "3% ecn seed 1")
    pump([flow], PATIENCE_S)
    # Handshake and farewell hold no data, and so no mark: there the path would lose them.
    lossy(link, "0%")
    finish([flow], PATIENCE_S)
    return flow


def fast_open(link: Link, algorithm: str) -> Flow:
    """The request comes with the SYN, and data goes out before the handshake is done."""
    server, client = link["ends"]
    with listening(server, algorithm, {TCP_FASTOPEN: 16}) as sock:
        for _ in range(2):  # the first brings the cookie
            receiver = receiving(client)
            receiver.sendto(b"GET", socket.MSG_FASTOPEN, (link["addresses"][server], PORT))
            sender = sock.accept()[0]
            sender.recv(3)
            flow = Flow(sender, receiver, SIZE_BYTES)
            finish([flow], PATIENCE_S)
    return flow


def lost_syn(link: Link, algorithm: str) -> Flow:
    """The sender opens the flow and loses its first SYNs: hooks come before a flow has its state."""
    server, client = link["ends"]
    sender = receiving(server)
    set_algorithm(sender, algorithm)
    with listening(client, algorithm) as sock:
        lossy(link, "100%")
        sender.setblocking(False)
        sender.connect_ex((link["addresses"][client], PORT))
        time.sleep(2)  # the first timeout comes after one
        lossy(link, "0%")
        flow = Flow(sender, sock.accept()[0], SIZE_BYTES)
    finish([flow], PATIENCE_S)
    return flow


def switched(link: Link, algorithms: list[str]) -> dict[str, Any]:
    """One flow changes its congestion control from every sender to every other, while data flows."""
    switches: list[list[str]] = []
    with link_up(link, {"net.ipv4.tcp_ecn": "1"}):  # on a flow without ECN the kernel puts Reno in DCTCP's place
        flow = opened(link, algorithms[0], 2**62)
        for pair in ((a, b) for a in algorithms for b in algorithms if a != b):
            for algorithm in pair:
                set_algorithm(flow.sender, algorithm)
                pump([flow], 0.04)
                flow.note_window()
            switches.append(list(pair))
        flow.size_bytes = flow.sent_bytes
        finish([flow], PATIENCE_S)
    return {"switches": switches, "most_cwnd_pkts": flow.most_cwnd_pkts, "got_bytes": flow.got_bytes}


def reneging(link: Link, algorithm: str) -> Flow:
    """The receiver drops what it had selectively acknowledged, as RFC 2018 allows."""
    with listening(link["ends"][0], algorithm) as sock:
        peer = Peer(link)
        peer.connect()
        flow = Flow(sock.accept()[0], peer.wire, RENEGED_BYTES)
        peer.wire.settimeout(SILENCE_S)
    flow.sender.setblocking(True)
    flow.got_bytes = reneged_on(flow.sender, peer, RENEGED_BYTES)
    flow.most_cwnd_pkts = flow.info()["cwnd_pkts"]
    flow.sender.close()
    peer.leave()
    return flow
