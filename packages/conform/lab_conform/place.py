# SPDX-License-Identifier: GPL-2.0-or-later
"""When an event happens: found in a trial that has every earlier event, and the same packets up to this one.

The lab repeats a trial to the nanosecond. So the trial without an event states when the sender comes to a state, and
which packet is on the link then; the trial with the event is the same until that instant.
"""

from dataclasses import dataclass
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab.tables.packets import SYN
from lab_conform.events import Event, When
from lab_conform.link import Span
from lab_conform.view import REDUCING, Floats, Ints, View

STEP_S = 2e-6  # within which a step of a series begins
LEAST_GAP_S = 4e-6  # between two packets of which one is lost: the kernel's steps are of a microsecond


class NeverComes(Exception):
    """A state that a trial does not come to; its text is the reason of a verdict."""


@dataclass(frozen=True)
class Placed:
    """An event with its time."""

    at_s: float  # since the SYN
    spans: tuple[Span, ...]
    dropped: tuple[int, ...] = ()  # first bytes of the segments that it loses

    def spared(self, view: View) -> bool:
        """Return whether a segment came that this event loses, in a trial with it; of lost ACKs there is no record."""
        times, seqs = _passing("down", view)
        ends_s = [cast("float", each.end_s) - lead(view) for each in self.spans if self.dropped and each.way == "down"]
        return any(np.any((seqs == seq) & (times < end_s)) for seq, end_s in zip(self.dropped, ends_s, strict=False))

    def shows_s(self, view: View) -> float:
        """Return when it can show at the client: at the shortest delay that the path has, or gets by it."""
        delays_ms = [span.value for span in self.spans if (span.way, span.quantity) == ("down", "delay_ms")]
        return self.at_s + float(min([*_delays(view)["value"], *delays_ms])) / 1e3


def place(events: list[Event], view: View) -> list[Placed]:
    """Return the times and spans of the next events: one, and those whose time follows from it."""
    lead_s = lead(view)
    found = [_first_placed(events[0], view, lead_s)]
    for event in events[1:]:
        if event.when is not None:
            break
        since_s = found[-1].at_s if event.follows else cast("float", event.at_s)
        found.append(_timed(event, since_s, view, lead_s))
    return found


def _first_placed(event: Event, view: View, lead_s: float) -> Placed:
    if event.when is None:
        return _timed(event, cast("float", event.at_s), view, lead_s)
    since_s = view.events_s[-1] if view.events_s else 0.0
    at_s = reached_s(event.when, view, since_s) + event.plus_s + event.plus_rtts * view.rtt_s
    if at_s > view.duration_s + view.rtt_s * 2:
        raise NeverComes(f"the event at {event.when.text} lies behind the trial's end")
    if event.drop is None:
        return Placed(at_s, (_span(event, at_s + lead_s),))
    return _dropped(event, view, at_s, lead_s)


def _timed(event: Event, since_s: float, view: View, lead_s: float) -> Placed:
    at_s = since_s + event.plus_s + event.plus_rtts * view.rtt_s
    return Placed(at_s, (_span(event, at_s + lead_s),))


def lead(view: View) -> float:
    """Return the time from the begin of the link's steps to the SYN."""
    return -float(np.min(view.trial.table("link")["t_s"].to_numpy()))


def reached_s(when: When, view: View, since_s: float) -> float:
    """Return when a state is reached after a time."""
    if when.packet:
        return _packet_s(when.packet, view)
    if when.exit:
        if view.exit is None:
            raise NeverComes("slow start never ends")
        return float(cast("float", view.exit["t_s"]))
    if when.state or when.retransmit:
        times = view.repeats_s if when.retransmit else [t_s for t_s, name in view.states if name == when.state]
        return _first([t_s for t_s in times if t_s > since_s], when)
    if when.window_pct is not None:
        return _regrown_s(when, view, since_s)
    later = view.t_s > since_s
    if when.cwnd_pkts is not None:
        return _led_to_s(later & (view.cwnd_pkts >= when.cwnd_pkts), view, when)
    acked = (view.una_bytes - 1) / view.mss_bytes
    return _led_to_s(later & (acked >= cast("float", when.acked_pkts)), view, when)


def _regrown_s(when: When, view: View, since_s: float) -> float:
    """Return when the window is a share of what it was at the reduction that follows the event before."""
    reduced_s = _first([t_s for t_s, name in view.states if t_s > since_s and name in REDUCING], when)
    opened_s = _first([t_s for t_s, name in view.states if t_s > reduced_s and name == "open"], when)
    wanted_pkts = view.cwnd_pkts[view.after(reduced_s)] * cast("float", when.window_pct) / 100
    return _led_to_s((view.t_s > opened_s) & (view.cwnd_pkts >= wanted_pkts), view, when)


def _led_to_s(reached: NDArray[np.bool_], view: View, when: When) -> float:
    """Return when the ACK came that led to a state: a row has the socket as it was before its ACK."""
    rows = np.flatnonzero(reached)
    if not len(rows):
        raise NeverComes(f"the sender never comes to {when.text}")
    return float(view.t_s[max(int(rows[0]) - 1, 0)])


def _first(times: Floats | list[float], when: When) -> float:
    if not len(times):
        raise NeverComes(f"the sender never comes to {when.text}")
    return float(times[0])


def _packet_s(packet: str, view: View) -> float:
    """Return when the first such frame passed the line down."""
    if packet == "data":
        if not len(view.data.t_s):
            raise NeverComes("no data segment came")
        return float(_at_line_s(view, view.data.t_s[:1])[0])
    return view.rtt_s / 2  # the answer to the SYN


def _dropped(event: Event, view: View, at_s: float, lead_s: float) -> Placed:
    """Place the loss of packets: each span begins and ends in the middle between two packets."""
    times, seqs = _passing(event.way, view)
    lost = cast("list[int]", event.drop)
    when = event.when
    if event.way == "up" or (when and when.packet):
        first = int(np.searchsorted(times, at_s - STEP_S))
    elif when and when.retransmit:
        first = _first_again(at_s, times, seqs)
    else:
        first = _first_new(view, at_s, times, seqs)
    places = [first + number for number in lost]
    if not len(times) or places[-1] + 1 >= len(times):
        raise NeverComes(f"the packet to lose at {when.text if when else ''} is never sent")
    spans = tuple(_around(times, number, event.way, lead_s) for number in places)
    return Placed(spans[0].begin_s - lead_s, spans, tuple(int(seqs[number]) for number in places))


def _passing(way: str, view: View) -> tuple[Floats, Ints]:
    """Return when SYN/ACK and data come to the line, and the first byte of each; up: ACKs and what they acknowledge."""
    if way == "up":
        return view.client_acks.t_s, view.client_acks.ack_bytes
    packets = view.trial.packets
    carries = (packets["len_bytes"] > 0) | ((packets["flags"] & SYN) > 0)
    down = packets.filter(packets["to_client"] & (packets["flow"] == 1) & carries)
    return _at_line_s(view, down["t_s"].to_numpy()), down["seq_bytes"].to_numpy()


def _at_line_s(view: View, came_s: Floats) -> Floats:
    """Return when frames that came to the client came to the line, each delayed by what then held."""
    delays = _delays(view)
    found: Floats = came_s - delays["value"][0] / 1e3
    for begin_s, delay_ms in delays.iter_rows():
        then_s = came_s - delay_ms / 1e3
        found = np.where(then_s >= begin_s, then_s, found)
    return found


def _delays(view: View) -> pl.DataFrame:
    """Return from when on the way down has which delay."""
    return view.trial.table("link").filter(pl.col("quantity") == "down.delay_ms").select("t_s", "value")


def _first_new(view: View, at_s: float, times: Floats, seqs: Ints) -> int:
    """Return the first frame that the sender had not yet sent at a time."""
    row = view.after(at_s)
    sent_bytes = view.nxt_bytes[min(row, len(view.nxt_bytes) - 1)]
    found = np.flatnonzero((seqs >= sent_bytes) & (times >= at_s))
    return int(found[0]) if len(found) else len(times)


def _first_again(at_s: float, times: Floats, seqs: Ints) -> int:
    """Return the first frame from a time on that lies below one before it: its bytes were sent before."""
    found = np.flatnonzero((seqs < np.maximum.accumulate(seqs)) & (times >= at_s - STEP_S))
    return int(found[0]) if len(found) else len(times)


def _around(times: Floats, number: int, way: str, lead_s: float) -> Span:
    before_s = times[number - 1] if number else times[number] - 1e-3
    gaps_s = (times[number] - before_s, times[number + 1] - times[number])
    if min(gaps_s) < LEAST_GAP_S:
        raise NeverComes(f"the packet to lose is {min(gaps_s) * 1e6:.1f} us from another, which must be at least 4")
    begin_s, end_s = times[number] - min(gaps_s[0] / 2, 1e-3), times[number] + min(gaps_s[1] / 2, 1e-3)
    return Span(way, "loss_pct", 100.0, float(begin_s) + lead_s, float(end_s) + lead_s)


def _span(event: Event, begin_s: float) -> Span:
    quantity = next(name for name in ("loss_pct", "delay_ms", "rate_mbps") if getattr(event, name) is not None)
    end_s = None if event.for_s is None else begin_s + event.for_s
    return Span(event.way, quantity, float(getattr(event, quantity)), begin_s, end_s)


def same_before(one: View, other: View, until_s: float) -> bool:
    """Return whether two trials have the same packets at the client until a time."""
    until_s -= STEP_S  # a step may begin that much early
    columns = ["t_s", "to_client", "seq_bytes", "ack_bytes", "len_bytes"]
    first, second = (
        each.trial.packets.filter((each.trial.packets["flow"] == 1) & (each.trial.packets["t_s"] < until_s))[columns]
        for each in (one, other)
    )
    return first.equals(second)
