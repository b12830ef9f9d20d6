# SPDX-License-Identifier: GPL-2.0-or-later
"""The exit that packets show is that of a sender whose window is known, within a fifth of a round."""

from collections import Counter
from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl
import pytest

from lab.judge.packet_exit import BEHIND, Estimate, Flight, Seen
from tests.brief import present

RTT_S, UP_S, FRAME_BYTES = 0.1, 0.05, 1514
SAMPLE_S = 0.002
SEEN = Seen(RTT_S, UP_S, FRAME_BYTES)


@dataclass
class Path:
    """A sender of which each acknowledged frame sends others, over a link with a rate and a queue."""

    rate_pkts: float  # per second
    stops_pkts: float = np.inf  # window at which growth ends
    cuts_to: float = 1.0  # what is left of the window then
    after: float = 0.0  # growth per acknowledgement afterwards
    paced: bool = False  # at 5/4 of the window per round trip
    seconds: float = 3.0
    buffer_pkts: float = np.inf  # a frame beyond it is dropped; the sender stops when it learns of the first
    loses: tuple[int, ...] = ()  # the frames that the link loses
    heeds: bool = True  # whether a loss stops the sender

    def run(self) -> tuple[pl.DataFrame, pl.DataFrame, float | None]:
        """Return samples of the queue, packets, and when the window stopped."""
        window, left_s, free_s, in_flight = 10.0, None, 0.0, 0
        sent: list[float] = []
        left: list[float] = []
        dropped_s: list[float] = []
        dropped_behind: Counter[int] = Counter()  # by the frames that were queued before it
        acked = 0
        now_s = 0.0
        while now_s < self.seconds:
            may_s = max(now_s, sent[-1] + RTT_S / (1.25 * window)) if self.paced and sent else now_s
            next_s = left[acked] + RTT_S if acked < len(left) else np.inf
            if in_flight < int(window) and may_s < next_s:
                now_s = may_s
                in_flight += 1
                if (free_s - now_s) * self.rate_pkts > self.buffer_pkts:
                    dropped_s.append(now_s)
                    dropped_behind[len(left)] += 1
                else:
                    free_s = max(may_s, free_s) + 1 / self.rate_pkts
                    sent.append(now_s)
                    left.append(free_s)
                continue
            now_s = next_s
            acked += 1
            if acked - 1 in self.loses:
                continue
            behind_lost = acked - 1 - BEHIND in self.loses
            in_flight -= 1 + dropped_behind[acked] + behind_lost
            window += self.after if left_s is not None else 1
            lost = self.heeds and (behind_lost or (dropped_s and acked >= min(dropped_behind) + BEHIND))
            if left_s is None and (window >= self.stops_pkts or lost):
                left_s, window = now_s, window * self.cuts_to
        t_s = np.arange(0, self.seconds, SAMPLE_S)
        out, through, lost_pkts = (
            np.searchsorted(np.array(times), t_s, side="right") for times in (sent, left, dropped_s)
        )
        samples = {"t_s": t_s, "sent_bytes": through * FRAME_BYTES, "backlog_bytes": (out - through) * FRAME_BYTES}
        arrived = np.delete(np.array(left) + RTT_S - UP_S, self.loses)
        packets = {"t_s": arrived, "to_client": True, "frame_bytes": FRAME_BYTES}
        gone = np.searchsorted(np.array(left)[list(self.loses)], t_s, side="right") * FRAME_BYTES
        samples |= {"drops_pkts": lost_pkts, "lost_bytes": gone}
        return pl.DataFrame(samples), pl.DataFrame(packets), left_s


def estimate(qdisc: pl.DataFrame, packets: pl.DataFrame) -> Estimate | None:
    return Flight.of(qdisc, packets, SEEN, qdisc["lost_bytes"].to_numpy()).exit(RTT_S)


PACED, BUFFERS = (False, True), (50, 200, 800)
LOSES = ((4,), (25,), (60, 75, 90), (400,))  # in the first flight, the second, some, late


def left(path: Path) -> tuple[Estimate, float, pl.DataFrame]:
    """Return the estimate for a path, when its sender left, and the queue."""
    qdisc, packets, left_s = path.run()
    return present(estimate(qdisc, packets)), present(left_s), qdisc


@pytest.mark.parametrize(
    "path",
    [
        Path(5000, stops_pkts=100),
        Path(5000, stops_pkts=1000),
        Path(5000, stops_pkts=1000, after=0.01),
        Path(2000, stops_pkts=400, cuts_to=0.5),
        Path(2000, stops_pkts=400, cuts_to=0.7, after=0.005),
        Path(5000, stops_pkts=100, paced=True),
        Path(2000, stops_pkts=400, cuts_to=0.5, paced=True),
    ],
    ids=["below the rate", "with a queue", "grows slowly", "halves", "CUBIC's cut", "paced", "paced, and halves"],
)
def test_the_estimate_is_where_the_window_stopped(path: Path) -> None:
    found, left_s, _ = left(path)
    round_s = RTT_S + path.stops_pkts / path.rate_pkts
    assert found.t_s == pytest.approx(left_s, abs=(0.5 if path.paced else 0.2) * round_s)
    assert found.flight_bytes == pytest.approx(path.stops_pkts * FRAME_BYTES, rel=0.3 if path.paced else 0.15)
    assert not found.upon_loss


UPON_LOSS = [
    *(Path(2000, cuts_to=to, paced=paced, buffer_pkts=pkts) for paced, pkts, to in product(PACED, BUFFERS, (0.5, 0.7))),
    *(Path(5000, cuts_to=0.5, paced=paced, loses=loses) for paced, loses in product(PACED, LOSES)),
]


@pytest.mark.parametrize("path", UPON_LOSS)
def test_who_doubles_until_it_learns_of_a_loss_has_left_upon_it(path: Path) -> None:
    """The buffer's, or one of the link itself."""
    found, left_s, _ = left(path)
    assert found.upon_loss
    assert found.t_s == pytest.approx(left_s, abs=3 * SAMPLE_S)


def test_who_goes_on_doubling_has_not_left_upon_a_loss() -> None:
    found, left_s, _ = left(Path(5000, stops_pkts=600, heeds=False, loses=(25, 60, 200)))
    assert not found.upon_loss
    assert found.t_s == pytest.approx(left_s, abs=0.2 * (RTT_S + 600 / 5000))


@pytest.mark.parametrize("stops_pkts", [300, 390, 410])
def test_who_stood_when_the_queue_overflowed_has_left_before(stops_pkts: float) -> None:
    """A window beyond what path and queue hold overflows within the round in which it stops."""
    found, left_s, qdisc = left(Path(2000, stops_pkts=stops_pkts, after=0.05, buffer_pkts=200))
    assert qdisc["drops_pkts"][-1] > 0
    assert not found.upon_loss
    assert found.t_s == pytest.approx(left_s, abs=0.2 * (RTT_S + stops_pkts / 2000))


@pytest.mark.parametrize("paced", [False, True])
def test_a_sender_that_doubles_until_the_end_has_no_estimate(paced: bool) -> None:
    qdisc, packets, _ = Path(5000, seconds=0.7, paced=paced).run()
    assert estimate(qdisc, packets) is None


def test_rounds_between_two_times_are_as_long_as_the_queue_makes_them() -> None:
    qdisc, packets, left_s = Path(2000, stops_pkts=400).run()
    assert left_s is not None
    flight = Flight.of(qdisc, packets, SEEN)
    assert flight.bytes[flight.t_s <= left_s].max() == pytest.approx(400 * FRAME_BYTES, rel=0.1)
    assert flight.rounds(left_s, left_s + 1.0, RTT_S) == pytest.approx(1.0 / (400 / 2000), abs=1)


def test_who_has_left_has_not_left_again_later() -> None:
    """From the exit on the estimate is at once; before it, it is where the window stopped."""
    qdisc, packets, left_s = Path(2000, stops_pkts=400).run()
    assert left_s is not None
    flight = Flight.of(qdisc, packets, SEEN)
    for since_s in (0.2, left_s, left_s + 0.5):
        found = flight.exit_since(since_s, RTT_S)
        assert found
        assert found.t_s == pytest.approx(max(since_s, left_s), abs=0.1)


def test_a_flight_that_doubles_once_more_had_not_stopped_growing() -> None:
    """A queue that empties hides two rounds of slow start; a half more per round is no slow start."""
    for windows, stopped_pkts in (
        ((8, 16, 32, 32, 32, 64, 128, 128, 128, 128), 128),
        ((8, 16, 32, 32, 32, 44, 60, 60, 60), 32),
    ):
        pkts = np.repeat(windows, int(RTT_S / SAMPLE_S)).astype(np.float64)
        acked = np.cumsum(pkts * FRAME_BYTES * SAMPLE_S / RTT_S)
        t_s = (np.arange(len(pkts)) * SAMPLE_S).astype(np.float64)
        found = Flight(t_s, acked + pkts * FRAME_BYTES, acked).exit(RTT_S)
        assert found
        assert found.flight_bytes == pytest.approx(stopped_pkts * FRAME_BYTES)
