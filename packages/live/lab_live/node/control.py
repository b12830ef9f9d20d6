# SPDX-License-Identifier: GPL-2.0-or-later
"""The recorder's control connection: lines of JSON, and raw records that a line announced."""

import json
import socket
import time
from typing import Any

from lab.node.system.tools import NodeError
from lab_live.node.datagrams import MOST_RECORDS_BYTES

MOST_LINE_BYTES, PIECE_BYTES = 1 << 16, 1 << 20
MOST_ERROR_CHARS = 300
Message = dict[str, Any]  # a line: its keys follow from the exchange (packages/live/lab_live/node/recorder.py)


def line_bytes(received: bytes | bytearray) -> int | None:
    """Return the length of the first line; None where it has not come yet. NodeError where it is too long."""
    end = received.find(b"\n", 0, MOST_LINE_BYTES)
    if end < 0 and len(received) >= MOST_LINE_BYTES:
        raise NodeError(f"recorder: a line must have at most {MOST_LINE_BYTES} bytes")
    return end + 1 or None


def message(line: bytes) -> Message:
    """Read a line; NodeError where it is no message of a recorder."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise NodeError("recorder: the other end is no recorder")
    return content


class Line:
    """The TCP connection: a line of JSON either way, or bytes of a length that a line announced."""

    def __init__(self, connection: socket.socket, received: bytes = b"") -> None:
        self.connection = connection
        self.received = bytearray(received)  # and not used yet

    def send(self, **message: Any) -> None:
        """Send a line."""
        self.connection.sendall(json.dumps(message).encode() + b"\n")

    def answer(self, patience_s: float) -> Message:
        """Wait for the other end's line; NodeError where none comes, or it reports an error."""
        end_s = time.monotonic() + patience_s
        while (length := line_bytes(self.received)) is None:
            try:
                self.connection.settimeout(max(end_s - time.monotonic(), 0.001))
                piece = self.connection.recv(MOST_LINE_BYTES)
            except TimeoutError:
                raise NodeError(f"recorder: no answer within {patience_s:g} s") from None
            if not piece:
                raise NodeError("recorder: the other end hung up")
            self.received += piece
        self.connection.settimeout(patience_s)
        text = bytes(self.received[:length])
        del self.received[:length]
        content = message(text)
        if "error" in content:
            raise NodeError(ascii(content["error"])[1:-1][:MOST_ERROR_CHARS])
        return content

    def records(self, length: int) -> bytes:
        """Read raw records of a length."""
        if not isinstance(length, int) or not 0 <= length <= MOST_RECORDS_BYTES:
            raise NodeError(f"recorder: records must have 0 to {MOST_RECORDS_BYTES} bytes")
        while len(self.received) < length:
            piece = self.connection.recv(min(length - len(self.received), PIECE_BYTES))
            if not piece:
                raise NodeError("recorder: the other end hung up")
            self.received += piece
        got = bytes(self.received[:length])
        del self.received[:length]
        return got

    def report(self, error: str) -> None:
        """Report an error to the other end, which may have gone already."""
        try:
            self.send(error=error)
        except OSError:
            return


def listen(port: int) -> socket.socket:
    """Listen on IPv6 and IPv4, or on IPv4 where the kernel has no IPv6."""
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", port))
