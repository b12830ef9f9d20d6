# SPDX-License-Identifier: GPL-2.0-or-later
"""The class of an exit: early, chokepoint ("timely" in the papers) or late (thesis, section 5.3.4).

The tests, in this order; the first that holds decides:

1. null  - the sender never left slow start within the trial, or (median throughput) its exit bitrate or the median is
           not known.
2. early - the exit came before the capacity was reached.
3. late  - slow start was left upon a signal of the network: the kernel names loss as the cause, or the exit came with
           or after the first loss or mark. Loss is the third duplicate ACK at the client, a mark the first ACK that
           echoes one; both reach the sender half an RTT later: an exit within that half RTT counts as late, as in the
           papers, which compare the same two times. A queue that manages itself (CoDel, CAKE, PIE) drops or marks long
           before its buffer is full: there the chokepoint ends with that, and not with an overflow.
4. null  - the capacity was never found, yet the link showed signs of it at the exit (see latency_offset.filling): a
           queue that never grows past the rule's threshold, as a sender that left in time leaves behind.
5. early - the capacity was never found and nothing hinted at it: a longer trial could only find it after the exit. The
           thesis does the same for HyStart on LEO ("estimated"), whose capacity it found in 10 % of the trials.
6. chokepoint - after the capacity and before any loss or mark.

A trial without a class is in no percentage; the tables show how many of the valid trials were judged.
"""

from enum import StrEnum

from lab.judge.slow_start import BY_LOSS, SlowStartExit


class ExitClass(StrEnum):
    """Where an exit lies between the link's capacity and the first loss or mark."""

    EARLY = "early"
    CHOKEPOINT = "chokepoint"
    LATE = "late"


def by_time(
    left: SlowStartExit | None, capacity_s: float | None, signal_s: float | None, *, filling: bool = False
) -> ExitClass | None:
    """Class of an exit against a capacity known as a time (latency offset, truth).

    filling: the heuristic saw signs of a queue at the exit, so that a capacity it never found proves nothing.
    """
    if left is None:
        return None
    if capacity_s is not None and left.t_s < capacity_s:
        return ExitClass.EARLY
    if _upon_signal(left, signal_s):
        return ExitClass.LATE
    if capacity_s is not None:
        return ExitClass.CHOKEPOINT
    return None if filling else ExitClass.EARLY


def by_bitrate(
    left: SlowStartExit | None, bitrate_mbps: float | None, median_mbps: float | None, signal_s: float | None
) -> ExitClass | None:
    """Class of an exit against a capacity known as a rate (median throughput)."""
    if left is None or bitrate_mbps is None or median_mbps is None:
        return None
    if bitrate_mbps < median_mbps:
        return ExitClass.EARLY
    return ExitClass.LATE if _upon_signal(left, signal_s) else ExitClass.CHOKEPOINT


def _upon_signal(left: SlowStartExit, signal_s: float | None) -> bool:
    return left.cause in BY_LOSS or (signal_s is not None and left.t_s >= signal_s)
