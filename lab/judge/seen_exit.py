# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the exit on record is one that the packets show, where a user's code wrote the record.

It can write one at any time. What left the bottleneck and what reached the client was counted on other nodes, from
which the exit is estimated (lab/judge/packet_exit.py). Two things contradict the record:

* It is too early: from it on the flight still grows by more than a half. Slow start doubles it in a round; a sender
  that has left adds at most a half per round (RFC 9438, 4.2), and the estimate ends in the first rounds without growth.
  Few packets more are left alone: in a small window a single one is much.
* It is too late: the flight has not grown by more than a half in the 8 rounds before. HyStart++ may hold its window for
  5 rounds before it leaves (RFC 9406, 4.3), the estimate lies up to 2 rounds before the peak, and one is spare.

What it costs an honest sender: none of the course's solutions, starting points and mistakes, over any of its links, is
refused (docs/course/grading.md). Beside a rival the samples of the queue show both flights, and nothing is compared.
"""

from lab.base.errors import field_error
from lab.judge.packet_exit import Flight, Seen
from lab.judge.slow_start import SlowStartExit
from lab.schema.cca import ESTIMATED
from lab.tables.downloads import FLOW
from lab.tables.stored_trial import Trial

GROWN, SPARE_PKTS, MOST_ROUNDS = 1.5, 12, 8


def contradiction(trial: Trial, left: SlowStartExit | None) -> str | None:
    """Return how the packets contradict the exit on record; none where they do not, or the record is the lab's."""
    own = trial.own_code
    own_record = own == "module" or (own == "stack" and left is not None and left.cause != ESTIMATED)
    if left is None or not own_record or len(trial.meta["flows"]) > 1 or trial.qdisc.is_empty():
        return None
    flight, path = flight_of(trial)
    why = _grows_on(flight, left.t_s, path) or _stood_before(flight, left.t_s, path)
    return f"slow_start_left={left.t_s:.2f} s: must be an exit that the packets show: {why}" if why else None


def flight_of(trial: Trial) -> tuple[Flight, Seen]:
    """Return what was in flight, and the path."""
    applied = trial.meta["applied"]
    try:
        up_us = next(each["spec"]["delay_us"] for each in applied if each["part"] == "delay-up")
        path = Seen.of(applied, trial.meta["base_rtt_ms"], up_us / 1e6, trial.link.frame_bytes)
    except (StopIteration, LookupError, TypeError, ImportError):
        parts = ", ".join(each["part"] for each in applied)
        raise field_error(trial.path / "trial.json", "applied", parts, "the qdiscs of a path") from None
    return Flight.of(trial.qdisc, trial.packets.filter(flow=FLOW), path), path


def _grows_on(flight: Flight, left_s: float, path: Seen) -> str | None:
    """Return how the flight grows after the record; none where it does not."""
    before, after = flight.peak_until(left_s), flight.exit_since(left_s, path.rtt_s)
    reached = after.flight_bytes if after else flight.peak_until(flight.t_s[-1])
    if reached <= GROWN * before + SPARE_PKTS * path.frame_bytes:
        return None
    most, later = before / path.frame_bytes, reached / path.frame_bytes
    return f"at most {most:.0f} packets were in flight until then, and the flight grew on to {later:.0f}"


def _stood_before(flight: Flight, left_s: float, path: Seen) -> str | None:
    """Return for how many rounds the flight had stood before the record; none where it grew, or not so long."""
    first = flight.exit_since(0.0, path.rtt_s)
    if first is None or flight.peak_until(left_s) > GROWN * first.flight_bytes + SPARE_PKTS * path.frame_bytes:
        return None
    rounds = flight.rounds(first.t_s, left_s, path.rtt_s)
    return f"the flight had stopped growing {rounds} rounds before" if rounds > MOST_ROUNDS else None
