# SPDX-License-Identifier: GPL-2.0-or-later
"""A paced sender over a bottleneck, without a kernel: what the start-up family's cores are run over."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

NEVER = 2**62


@dataclass
class Packet:
    """One on its way."""

    number: int
    sent_us: int
    first_sent_us: int
    delivered_us: int  # when the last one was delivered, as this one was sent
    delivered: int  # how many were, then
    lost: int
    inflight: int  # with this one
    app_limited: bool
    back_us: int  # when its ACK comes
    dropped: bool


@dataclass
class Link:
    """A bottleneck with a buffer, and a round trip; all may change while a flow runs."""

    rate: float = 0.002  # packets per microsecond: 24 Mb/s of 1500 bytes
    rtt_us: int = 40_000
    buffer_pkts: int = 1000
    drop: Callable[[int], bool] = lambda _number: False


class PacedFlow:
    """A sender with a window and a pacing rate; every packet has its ACK, or is known to be lost when it would have."""

    def __init__(self, path: Link | None = None, limit: float = 0) -> None:
        self.path, self.limit = path or Link(), limit  # packets per microsecond that the application has; 0: no limit
        self.paused = self.recovering = self.cwnd_full = False
        self.cwnd = 10
        self.now_us = self.next_us = self.busy_us = self.delivered_us = self.first_sent_us = 0
        self.delivered = self.lost = self.number = self.recovery_from = self.newly_lost = 0
        self.limited_until = -1  # delivered packets; TCP's app_limited
        self.under_way: deque[Packet] = deque()
        self.modes: list[tuple[int, int]] = [(0, self.mode)]

    # What a sender provides.

    state: Any  # of its core

    @property
    def mode(self) -> int:
        return int(self.state.mode)

    @property
    def pacing(self) -> float:
        """Packets per microsecond; 0: no limit."""
        raise NotImplementedError

    def acknowledged(self, packet: Packet, rtt_us: int, interval_us: int) -> None:
        raise NotImplementedError

    def declared_lost(self, packet: Packet) -> None:
        """A sender may answer before the next ACK."""

    def recovery_begins(self) -> None:
        """Also this."""

    def recovery_ends(self) -> None:
        """And this."""

    def idle_ends(self) -> None:
        """And this."""

    # What a test reads.

    @property
    def inflight(self) -> int:
        return len(self.under_way)

    def visits(self, mode: int) -> list[tuple[int, int]]:
        """When a mode began and ended, in microseconds."""
        ends = [*(at for at, _ in self.modes[1:]), self.now_us]
        return [(at, end) for (at, each), end in zip(self.modes, ends, strict=True) if each == mode]

    def run(self, seconds: float, until: Callable[[Self], bool] = lambda _flow: False) -> Self:
        for _ in self._events(self.now_us + int(seconds * 1e6)):
            if until(self):
                break
        return self

    # How it runs.

    def _events(self, end_us: int) -> Iterator[None]:
        while True:
            ack_us = self.under_way[0].back_us if self.under_way else NEVER
            send_us = max(self.next_us, self.now_us) if self._may_send() else NEVER
            if min(ack_us, send_us) > end_us:
                self.now_us = end_us
                return
            self.now_us = min(ack_us, send_us)
            if send_us <= ack_us:
                self._send()
            else:
                self._ack(self.under_way.popleft())
            yield

    def _may_send(self) -> bool:
        if self.paused:
            return False
        self.cwnd_full |= self.inflight >= self.cwnd
        return self.inflight < self.cwnd

    @property
    def app_limited(self) -> bool:
        return self.limited_until >= self.delivered

    def _send(self) -> None:
        if not self.under_way:
            self.first_sent_us = self.delivered_us = self.now_us
            if self.app_limited:
                self.idle_ends()
        if self.limit:
            self.limited_until = self.delivered + self.inflight + 1
        self.under_way.append(self._packet())
        self.number += 1
        rates = [rate for rate in (self.limit, self.pacing) if rate]
        self.next_us = self.now_us + (int(1 / min(rates)) if rates else 0)

    def _packet(self) -> Packet:
        waiting = max(self.busy_us - self.now_us, 0) * self.path.rate
        dropped = waiting > self.path.buffer_pkts or self.path.drop(self.number)
        if not dropped:
            self.busy_us = int(max(self.busy_us, self.now_us) + 1 / self.path.rate)
        back_us = max(self.busy_us, self.now_us) + self.path.rtt_us
        last_us = self.under_way[-1].back_us if self.under_way else 0
        times = self.now_us, self.first_sent_us, self.delivered_us
        counts = self.delivered, self.lost, self.inflight + 1
        return Packet(self.number, *times, *counts, self.app_limited, max(back_us, last_us), dropped)

    def _ack(self, packet: Packet) -> None:
        if packet.dropped:
            self._lose(packet)
            return
        self.delivered += 1
        self.delivered_us, self.first_sent_us = self.now_us, packet.sent_us
        if self.recovering and packet.number >= self.recovery_from:
            self.recovering = False
            self.recovery_ends()
        interval_us = max(packet.sent_us - packet.first_sent_us, self.now_us - packet.delivered_us)
        self.acknowledged(packet, self.now_us - packet.sent_us, interval_us)
        self.newly_lost = 0
        if self.mode != self.modes[-1][1]:
            self.modes.append((self.now_us, self.mode))

    def _lose(self, packet: Packet) -> None:
        self.lost += 1
        self.newly_lost += 1
        self.recovery_from = self.number  # what is sent again must arrive, too
        if not self.recovering:
            self.recovering = True
            self.recovery_begins()
        self.declared_lost(packet)
