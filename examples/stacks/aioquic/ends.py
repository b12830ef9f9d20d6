# SPDX-License-Identifier: GPL-2.0-or-later
"""Both ends of a download over aioquic: a client requests a number of bytes on one stream, a server sends them."""

import asyncio
import json
import signal
import socket
import ssl
import sys
from pathlib import Path

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.asyncio.server import serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import ConnectionTerminated, HandshakeCompleted, StreamDataReceived
from aioquic.quic.logger import QuicLogger, QuicLoggerTrace

PIECE_BYTES = 1 << 16
WINDOW_BYTES = 1 << 30
KEPT = ("recovery", "packet_sent", "packet_received")  # of the qlog: all events would fill the memory


class Lines(QuicLogger):
    """Writes events as they come, as JSON-SEQ; aioquic's own logger keeps them until the end."""

    def __init__(self, path):
        super().__init__()
        self.file = Path(path).open("w")  # noqa: SIM115 until the server ends
        self.write({"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "trace": {"vantage_point": {"type": "server"}}})

    def write(self, record):
        """Write a record."""
        self.file.write("\x1e" + json.dumps(record) + "\n")

    def start_trace(self, is_client, odcid):
        """Begin the events of a connection."""
        return Trace(self, is_client, odcid)

    def end_trace(self, _trace):
        """Write what is buffered."""
        self.file.flush()


class Trace(QuicLoggerTrace):
    """The events of a connection, written at once."""

    def __init__(self, logger, is_client, odcid):
        super().__init__(is_client=is_client, odcid=odcid)
        self.logger = logger

    def log_event(self, *, category, event, data):
        """Write an event that is of use."""
        super().log_event(category=category, event=event, data=data)
        record = self._events.pop()
        if category in KEPT or event in KEPT:
            self.logger.write({"time": record["time"], "name": record["name"], "data": slim(data)})


def slim(data):
    """Leave out the frames: the lab reads sizes, windows and round trips."""
    return {name: value for name, value in data.items() if name != "frames"}


class Sender(QuicConnectionProtocol):
    """Sends what is requested, a piece whenever all before it is on its way."""

    stream, left = None, 0

    def quic_event_received(self, event):
        """Take an event of the connection in."""
        if isinstance(event, StreamDataReceived) and event.data:
            self.stream, self.left = event.stream_id, int(event.data)

    def transmit(self):
        """Send what may be sent now."""
        super().transmit()
        while self.left and self._quic._streams[self.stream].sender.buffer_is_empty:
            piece = min(PIECE_BYTES, self.left)
            self.left -= piece
            self._quic.send_stream_data(self.stream, bytes(piece), end_stream=not self.left)
            super().transmit()


class Receiver(QuicConnectionProtocol):
    """Requests a number of bytes and counts what comes."""

    def __init__(self, quic, size):
        super().__init__(quic)
        self.size, self.done = size, asyncio.get_running_loop().create_future()

    def quic_event_received(self, event):
        """Take an event of the connection in."""
        if isinstance(event, HandshakeCompleted):
            stream = self._quic.get_next_available_stream_id()
            self._quic.send_stream_data(stream, str(self.size).encode(), end_stream=True)
        elif isinstance(event, StreamDataReceived) and event.end_stream:
            self.done.set_result(None)
        elif isinstance(event, ConnectionTerminated) and not self.done.done():
            self.done.set_exception(ConnectionError(event.reason_phrase or f"error {event.error_code}"))


def settings(datagram, **more):
    """Return what both ends have in common."""
    flow = {"max_data": WINDOW_BYTES, "max_stream_data": WINDOW_BYTES, "idle_timeout": 600.0}
    return QuicConfiguration(alpn_protocols=["lab"], max_datagram_size=int(datagram), **flow, **more)


async def run_server(address, port, datagram, control, cert, key, log):
    """Serve until SIGTERM."""
    lines = Lines(log)
    configuration = settings(datagram, is_client=False, quic_logger=lines, congestion_control_algorithm=control)
    configuration.load_cert_chain(cert, key)
    end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end.set)
    await serve(address, int(port), configuration=configuration, create_protocol=Sender)
    await end.wait()
    lines.file.close()


async def run_client(address, port, datagram, size):
    """Request some bytes, and end when all have come."""
    configuration = settings(datagram, is_client=True, verify_mode=ssl.CERT_NONE, server_name="server")
    loop = asyncio.get_running_loop()
    quic = QuicConnection(configuration=configuration)
    _, receiver = await loop.create_datagram_endpoint(lambda: Receiver(quic, int(size)), family=socket.AF_INET)
    receiver.connect((address, int(port)))
    await receiver.done


if __name__ == "__main__":
    asyncio.run({"serve": run_server, "get": run_client}[sys.argv[1]](*sys.argv[2:]))
