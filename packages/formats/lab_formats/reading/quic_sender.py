# SPDX-License-Identifier: GPL-2.0-or-later
"""What a QUIC sender has in flight, as the events of its qlog come.

What asks for no acknowledgement (ACKs alone) is not in flight, and gives no round trip (RFC 9002, 2 and 5.1).
"""

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from lab_formats.reading.documents import Node, counted

APPLICATION = ("1RTT", "1rtt", "onertt")
LOST = "packet_lost"
PASSED_OVER = 3  # numbers behind the largest acknowledged, from which a packet is lost (RFC 9002, 6.1.1)
METRICS = ("recovery_metrics_updated", "metrics_updated", "metric_update")
STATED_RTTS = ("min_rtt", "latest_rtt", "smoothed_rtt")  # of METRICS
SILENT = ("ack", "padding", "connection_close", "application_close")  # frames that ask for no acknowledgement
LARGEST, MOST_BYTES = 2**62, 65_535


class _Packet(NamedTuple):
    t_ms: float
    size: int
    in_flight: bool


class Sender:
    """What is in flight, as the events come."""

    def __init__(self, *, names_lost: bool) -> None:
        self.names_lost = names_lost
        self.sent: dict[int, _Packet] = {}  # neither acknowledged nor lost, in the order of their numbers
        self.lost: dict[int, _Packet] = {}  # taken for lost, and perhaps only late
        self.lost_numbers: list[int] = []  # of them, sorted
        self.rows: list[tuple[float, int, float | None, int, int]] = []
        self.sizes: Counter[int] = Counter()
        self.longest_acked = 0
        self.probes: set[int] = set()  # of the lost ones: they tried whether the path takes longer packets
        self.acked_bytes = self.flight_bytes = self.sent_bytes = self.received_bytes = self.passed_over = 0
        self.newest = self.largest_acked = -1
        self.stated_rtts: set[float] = set()  # by the log itself, in whatever unit

    def take(self, t_ms: float, name: str, data: Node) -> None:
        """Take the next event, by its name without the schema."""
        if name in METRICS:
            found = (part.value for key in STATED_RTTS if (part := data.get(key)))
            self.stated_rtts.update(value for value in found if isinstance(value, (int, float)) and value > 0)
            return
        if not is_of_data(data):
            return
        if name == "packet_received":
            self.received_bytes += _size(data) or 0
            frames = data.get("frames")
            for frame in frames.items() if frames else ():
                if frame.get("acked_ranges"):  # an ACK, also one with ECN or times of arrival
                    self._acknowledge(t_ms, list(_ranges(frame)))
            return
        header = data.get("header") or data  # aioquic's lost packets have none
        number = counted(header.at("packet_number"))
        if name == LOST:
            self._lose(number.whole(0, LARGEST))
        else:
            size = _size(data) or data.at("raw", "length").whole(1, MOST_BYTES)
            self._send(number, _Packet(t_ms, size, _asks(data)))

    def _send(self, number: Node, packet: _Packet) -> None:
        if number.whole(0, LARGEST) <= self.newest:
            raise number.refuse(f"above {self.newest}, which was sent before: the packets of one connection")
        if number.value <= self.largest_acked:
            raise number.refuse(f"sent before it is acknowledged, at {packet.t_ms:g} ms: times must not go back")
        if not self.rows:
            self.rows.append((packet.t_ms / 1e3, 0, None, 0, 0))
        self.newest = number.value
        self.sent[number.value] = packet
        self.flight_bytes += packet.size * packet.in_flight
        self.sent_bytes += packet.size
        self.sizes[packet.size] += 1

    def _lose(self, number: int) -> None:
        if number in self.sent:
            packet = self.lost[number] = self.sent.pop(number)
            size = packet.size
            self.flight_bytes -= size * packet.in_flight
            insort(self.lost_numbers, number)
            if self.longest_acked and size > max(self.longest_acked, self.sizes.most_common(1)[0][0]):
                self.probes.add(number)  # RFC 8899

    def _acknowledge(self, t_ms: float, ranges: list[tuple[int, int]]) -> None:
        largest = max((last for _, last in ranges), default=-1)
        late = [number for first, last in ranges for number in self._late(first, last)]
        new = {number: self.sent.pop(number) for number in list(self._among(ranges, largest))}
        self.flight_bytes -= sum(packet.size * packet.in_flight for packet in new.values())
        new |= {number: self.lost.pop(number) for number in late}
        if not self.names_lost:
            self._pass_over(largest)
        self.largest_acked = max(self.largest_acked, largest)
        if new:
            sizes = [packet.size for packet in new.values()]
            self.acked_bytes += sum(sizes)
            self.longest_acked = max(self.longest_acked, *sizes)
            # only the largest gives a round trip, and where one of the new ones asks for an ACK (RFC 9002, 5.1)
            shown = largest in new and any(packet.in_flight for packet in new.values())
            rtt_ms = t_ms - new[largest].t_ms if shown else None
            lost = len(self.lost) - len(self.probes)
            self.rows.append((t_ms / 1e3, self.acked_bytes, rtt_ms, self.flight_bytes, lost))

    def _pass_over(self, largest: int) -> None:
        passed = list(self._until(largest - PASSED_OVER))
        self.passed_over += len(passed)
        for number in passed:
            self._lose(number)

    def _until(self, largest: int) -> Iterator[int]:
        for number in self.sent:
            if number > largest:
                return
            yield number

    def _among(self, ranges: list[tuple[int, int]], largest: int) -> Iterator[int]:
        """Yield what is in flight of ranges of packet numbers."""
        for number in self._until(largest):
            if any(first <= number <= last for first, last in ranges):
                yield number

    def _late(self, first: int, last: int) -> list[int]:
        """Take out of the lost numbers those of a range."""
        place = slice(bisect_left(self.lost_numbers, first), bisect_right(self.lost_numbers, last))
        found, self.lost_numbers[place] = self.lost_numbers[place], []
        self.probes.difference_update(found)
        return found


def is_of_data(data: Node) -> bool:
    """Return whether a packet is one with application data; early drafts, and aioquic's losses, may lack a header."""
    kind = data.get("packet_type") or (data.get("header") or data).get("packet_type") or data.get("type")
    if kind is None:
        raise data.refuse("that of a packet with packet_type: without it the packet may be of the handshake")
    return kind.value in APPLICATION


def _asks(data: Node) -> bool:
    """Return whether a packet asks for an acknowledgement, as one does of which the log names no frames."""
    listed = data.get("frames")
    frames = list(listed.items()) if listed and listed.value else []
    types = [frame.get("frame_type") for frame in frames if not frame.get("acked_ranges")]
    return not frames or any(not kind or str(kind.value).lower() not in SILENT for kind in types)


def _size(data: Node) -> int | None:
    """Return the length of a packet; None where it is not stated.

    Early drafts, and quinn, have it in the header: a 1-RTT packet has no length there of its own (RFC 9000, 17.3).
    """
    places = ("raw", "length"), ("header", "packet_size"), ("header", "length")
    found = (part.get(name) for place, name in places if (part := data.get(place)))
    size = next((each for each in found if each), None)
    return counted(size).whole(1, MOST_BYTES) if size else None


def _ranges(frame: Node) -> Iterator[tuple[int, int]]:
    for each in frame.at("acked_ranges").items():
        ends = [counted(end).whole(0, LARGEST) for end in each.items()]
        if len(ends) not in (1, 2) or ends[0] > ends[-1]:
            raise each.refuse("one packet number, or the first and the last of a range")
        yield ends[0], ends[-1]
