# SPDX-License-Identifier: GPL-2.0-or-later
"""The recorder's control connection: lines of JSON, and raw records that a line announced."""

import json
import socket
from typing import Any

from lab.node.tools import NodeError

MOST_LINE_BYTES = 1 << 16
Message = dict[str, Any]  # a line: its keys follow from the exchange (lab/node/recorder.py)


class Line:
    """The TCP connection: a line of JSON either way, or bytes of a length that a line announced."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.stream = connection.makefile("rb")

    def send(self, **message: Any) -> None:
        """Send a line."""
        self.connection.sendall(json.dumps(message).encode() + b"\n")

    def answer(self, patience_s: float) -> Message:
        """Wait for the other end's line; NodeError where none comes, or it reports an error."""
        self.connection.settimeout(patience_s)
        try:
            text = self.stream.readline(MOST_LINE_BYTES)
            said = json.loads(text) if text else None
        except TimeoutError:
            raise NodeError(f"recorder: no answer within {patience_s:g} s") from None
        except ValueError:
            raise NodeError("recorder: the other end is no recorder") from None
        if said is None:
            raise NodeError("recorder: the other end hung up")
        if not isinstance(said, dict) or "error" in said:
            raise NodeError(str(said["error"]) if isinstance(said, dict) else "recorder: the other end is no recorder")
        return said

    def records(self, length: int) -> bytes:
        """Read raw records of a length."""
        got = self.stream.read(length)
        if len(got) < length:
            raise NodeError("recorder: the other end hung up")
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
