# SPDX-License-Identifier: GPL-2.0-or-later
"""Peers that connected and have not sent a request yet: none of them keeps another one waiting."""

import selectors
import socket
import time
from typing import NamedTuple

from lab.node.system.tools import NodeError
from lab_live.node.control import MOST_LINE_BYTES, line_bytes

TURN_S = 1.0  # a wait without end goes on after Ctrl-C where a library restarts system calls
MOST_PEERS = 64  # those that came first leave first


class Peer(NamedTuple):
    """A peer, what it has sent, and the reason for which it is refused, if there is one."""

    connection: socket.socket
    address: str
    received: bytes
    refusal: str | None = None


class Lobby:
    """A listening socket and the peers that wait; a peer leaves with a whole line, or with the reason why not."""

    def __init__(self, listening: socket.socket, patience_s: float) -> None:
        self._listening, self._patience_s = listening, patience_s
        self._waiting: dict[socket.socket, tuple[str, float, bytearray]] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(listening, selectors.EVENT_READ)
        listening.setblocking(False)

    def next_peer(self) -> Peer:
        """Wait for the next peer that has sent a line or is refused."""
        while True:
            ready = [key.fileobj for key, _ in self._selector.select(TURN_S)]
            if self._listening in ready:
                self._accept()
            for connection in ready:
                if isinstance(connection, socket.socket) and connection in self._waiting:
                    peer = self._read(connection)
                    if peer:
                        return peer
            late = [one for one, (_, end_s, _) in self._waiting.items() if time.monotonic() > end_s]
            if late:
                return self._leave(late[0], f"recorder: no answer within {self._patience_s:g} s")
            if len(self._waiting) > MOST_PEERS:
                return self._leave(next(iter(self._waiting)), f"recorder: at most {MOST_PEERS} peers may wait")

    def _accept(self) -> None:
        try:
            connection, address = self._listening.accept()
        except OSError:  # it has gone already, or this process has no more files for it
            return
        connection.setblocking(False)
        self._waiting[connection] = (str(address[0]), time.monotonic() + self._patience_s, bytearray())
        self._selector.register(connection, selectors.EVENT_READ)

    def _read(self, connection: socket.socket) -> Peer | None:
        """Read what has come; returns the peer where it leaves."""
        received = self._waiting[connection][2]
        try:
            piece = connection.recv(MOST_LINE_BYTES)
            received += piece
            if not piece:
                return self._leave(connection, "recorder: the other end hung up")
            return self._leave(connection) if line_bytes(received) else None
        except (NodeError, OSError) as error:
            return self._leave(connection, str(error))

    def _leave(self, connection: socket.socket, refusal: str | None = None) -> Peer:
        address, _, received = self._waiting.pop(connection)
        self._selector.unregister(connection)
        return Peer(connection, address, bytes(received), refusal)

    def close(self) -> None:
        """Hang up on all peers that wait."""
        self._selector.close()
        for connection in self._waiting:
            connection.close()
