# SPDX-License-Identifier: GPL-2.0-or-later
"""The exit that packets show is that of a sender whose window is known, within a fifth of a round."""

from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

from lab.judge.packet_exit import Flight, Seen, exit_of

RTT_S, UP_S, FRAME_BYTES = 0.1, 0.05, 1514
SAMPLE_S = 0.002
SEEN = Seen(RTT_S, UP_S, FRAME_BYTES)


@dataclass
class Path:
    """A sender of which each acknowledged frame sends others, over a link with a rate and an endless queue."""

    rate_pkts: float  # per second
    stops_pkts: float = np.inf  # window at which growth ends
    cuts_to: float = 1.0  # what is left of the window then
    after: float = 0.0  # growth per acknowledgement afterwards
    paced: bool = False  # at 5/4 of the window per round trip
    seconds: float = 3.0

    def run(self) -> tuple[pl.DataFrame, pl.DataFrame, float | None]:
        """Return samples of the queue, packets, and when the window stopped."""
        window, left_s, free_s, in_flight = 10.0, None, 0.0, 0
        sent: list[float] = []
        left: list[float] = []
        acked = 0
        now_s = 0.0
        while now_s < self.seconds:
            may_s = max(now_s, sent[-1] + RTT_S / (1.25 * window)) if self.paced and sent else now_s
            next_s = left[acked] + RTT_S if acked < len(left) else np.inf
            if in_flight < int(window) and may_s < next_s:
                now_s, free_s = may_s, max(may_s, free_s) + 1 / self.rate_pkts
                sent.append(now_s)
                left.append(free_s)
                in_flight += 1
                continue
            now_s = next_s
            acked += 1
            in_flight -= 1
            window += self.after if left_s is not None else 1
            if left_s is None and window >= self.stops_pkts:
                left_s, window = now_s, window * self.cuts_to
        t_s = np.arange(0, self.seconds, SAMPLE_S)
        out, through = (np.searchsorted(np.array(times), t_s, side="right") for times in (sent, left))
        samples = {"t_s": t_s, "sent_bytes": through * FRAME_BYTES, "backlog_bytes": (out - through) * FRAME_BYTES}
        arrived = np.array(left) + RTT_S - UP_S
        packets = {"t_s": arrived, "to_client": [True] * len(left), "frame_bytes": [FRAME_BYTES] * len(left)}
        return pl.DataFrame({**samples, "drops_pkts": 0 * through}), pl.DataFrame(packets), left_s


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
    qdisc, packets, left_s = path.run()
    found = exit_of(qdisc, packets, SEEN)
    assert found
    assert left_s is not None
    round_s = RTT_S + path.stops_pkts / path.rate_pkts
    assert found.t_s == pytest.approx(left_s, abs=(0.5 if path.paced else 0.2) * round_s)
    assert found.flight_bytes == pytest.approx(path.stops_pkts * FRAME_BYTES, rel=0.3 if path.paced else 0.15)


@pytest.mark.parametrize("paced", [False, True])
def test_a_sender_that_doubles_until_the_end_has_no_estimate(paced: bool) -> None:
    qdisc, packets, _ = Path(5000, seconds=0.7, paced=paced).run()
    assert exit_of(qdisc, packets, SEEN) is None


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
