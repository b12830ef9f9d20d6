# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the exit that a module recorded is one that the packets show.

The record is the module's own: it can write one at any time. What left the bottleneck and what reached the client was
counted on other nodes, from which the exit is estimated (packages/quic). Two things contradict it:

* The record is too early: from it on the flight still grows by more than a half. Slow start doubles it in a round; a
  sender that has left adds at most a half per round (RFC 9438, 4.2), and the estimate ends in the first rounds without
  growth. Few packets more are left alone: in a small window a single one is much.
* The record is too late: the flight has not grown by more than a half in the 8 rounds before. HyStart++ may hold its
  window for 5 rounds before it leaves (RFC 9406, 4.3), the estimate lies up to 2 rounds before the peak, and one is
  spare.

What it costs an honest sender: none of the course's solutions, starting points and mistakes, over any of its links, is
refused (docs/course/grading.md).
"""

from lab_quic.stack.packet_exit import Flight, Seen

from lab.judge.slow_start import SlowStartExit, first_exit
from lab.tables.downloads import FLOW
from lab.tables.stored_trial import Trial

GROWN, SPARE_PKTS, MOST_ROUNDS = 1.5, 12, 8


def contradiction(trial: Trial) -> str | None:
    """Return how the packets contradict the first exit on record; none where they do not, or there is no exit."""
    if not (left := first_exit(trial.exits, FLOW)):
        return None
    path = _path(trial)
    flight = Flight.of(trial.qdisc, trial.packets.filter(flow=FLOW), path)
    why = _grows_on(flight, left.t_s, path) or _stood_before(flight, left.t_s, path)
    return f"slow_start_left={left.t_s:.2f} s: must be an exit that the packets show: {why}" if why else None


def flight_pkts(trial: Trial, left: SlowStartExit) -> float:
    """Return the most packets that were in flight until an exit."""
    path = _path(trial)
    return _peak_until(Flight.of(trial.qdisc, trial.packets.filter(flow=FLOW), path), left.t_s) / path.frame_bytes


def holds_pkts(trial: Trial) -> float:
    """Return how many packets in flight fill the path without a queue."""
    path = _path(trial)
    return float(trial.meta["rate_mbps"]) * 1e6 / 8 * path.rtt_s / path.frame_bytes


def _path(trial: Trial) -> Seen:
    applied = trial.meta["applied"]
    up_us = next(each["spec"]["delay_us"] for each in applied if each["part"] == "delay-up")
    return Seen.of(applied, trial.meta["base_rtt_ms"], up_us / 1e6, trial.link.frame_bytes)


def _peak_until(flight: Flight, t_s: float) -> float:
    """Return the most that was in flight until a time."""
    return float(flight.bytes[flight.t_s <= t_s].max(initial=0.0))


def _grows_on(flight: Flight, left_s: float, path: Seen) -> str | None:
    """Return how the flight grows after the record; none where it does not."""
    before, after = _peak_until(flight, left_s), flight.exit_since(left_s, path.rtt_s)
    reached = after.flight_bytes if after else _peak_until(flight, flight.t_s[-1])
    if reached <= GROWN * before + SPARE_PKTS * path.frame_bytes:
        return None
    most, later = before / path.frame_bytes, reached / path.frame_bytes
    return f"at most {most:.0f} packets were in flight until then, and the flight grew on to {later:.0f}"


def _stood_before(flight: Flight, left_s: float, path: Seen) -> str | None:
    """Return for how many rounds the flight had stood before the record; none where it grew, or not so long."""
    first = flight.exit_since(0.0, path.rtt_s)
    if first is None or _peak_until(flight, left_s) > GROWN * first.flight_bytes + SPARE_PKTS * path.frame_bytes:
        return None
    rounds = flight.rounds(first.t_s, left_s, path.rtt_s)
    return f"the flight had stopped growing {rounds} rounds before" if rounds > MOST_ROUNDS else None
