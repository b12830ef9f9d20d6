# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel's cores decide on a QUIC sender's events: the libraries that are built from the modules' C files.

An event is a line of a server's log; `Event` has its numbers in their order (struct quic_event of
lab_quic/quinn/cores/quic_core.h). A decision is (window, threshold, W_max) in bytes, 0 where it stays.
"""

import subprocess
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from lab_papers.search_replay import EXIT, replay_bins, version
from lab_quic.quinn import build

from bench.same_exit import quic
from bench.same_exit.quic import BIN_AT, BIN_FIELDS, Event
from tests.bbr3 import PROBE_RTT, RATE_ONE, Ack, Loss, Sent
from tests.bbr3 import Core as Bbr3Core
from tests.careful_resume import NORMAL, RECONNAISSANCE, SAFE_RETREAT
from tests.careful_resume import Core as CarefulResume
from tests.careful_resume import Params as SavedSet
from tests.rapid_start import Core as RapidStart

LOW_WORD = (1 << 32) - 1
Decision = tuple[int, int, int]


def events_of(log: Path) -> list[Event]:
    lines = [line.removeprefix("event\t") for line in log.read_text().splitlines() if line.startswith("event\t")]
    return [Event(kind, *map(int, numbers)) for kind, *numbers in (line.split() for line in lines)]


def program(*words: str, text: str = "", limit_s: int = 60) -> "subprocess.CompletedProcess[str]":
    built = build.QUINN.find()
    assert built
    return subprocess.run(
        [built.program, *words], input=text, capture_output=True, text=True, timeout=limit_s, check=False
    )


def replayed(name: str, events: Iterable[Event], **params: int) -> dict[int, list[int]]:
    """Return what lab-quic's core changes, by the place of the event."""
    built = build.QUINN.find()
    assert built
    return quic.replayed(built.program, name, events, **params)


def decisions(name: str, events: Iterable[Event], **params: int) -> dict[int, Decision]:
    """Return the decisions of lab-quic's core, by the place of the event."""
    return {place: (row[0], row[1], row[2]) for place, row in replayed(name, events, **params).items()}


def paced(name: str, events: Iterable[Event]) -> dict[int, Decision]:
    """Return window, threshold and pacing rate, in bytes per second, of lab-quic's core that is alone."""
    return {place: (row[0], row[1], row[4]) for place, row in replayed(name, events).items()}


def bins(name: str, events: list[Event]) -> list[list[int]]:
    """Return the bins of lab-quic's SEARCH up to its exit, with the ACK of each."""
    found = [[place, *row[BIN_AT:]] for place, row in replayed(name, events).items() if row[-1]]
    ends = [number for number, row in enumerate(found) if row[-1] == EXIT]
    return found[: ends[0] + 1] if ends else found


def core_bins(library: Path, name: str, events: list[Event]) -> list[list[int]]:
    """Return the same of the kernel's core."""
    params = version(library, name).params
    columns = dict(zip(Event._fields[1:], np.array([event[1:] for event in events], dtype=np.uint64).T, strict=True))
    limited = columns["limited"] * np.uint64(bool(params.app_limited))  # for who calls: the others get no limit
    rows = replay_bins(
        library,
        columns["now_us"],
        columns["rtt_us"],
        columns["delivered_bytes"],
        params,
        sent_bytes=columns["sent_bytes"],
        limited=limited,
        reset=np.array([event.kind == "timeout" for event in events]),
    )
    return [[int(row["ack"]), *(int(row[field]) for field in BIN_FIELDS)] for row in rows]


def pkts(event: Event, size_bytes: int) -> int:
    return size_bytes // event.packet_bytes


def rapid_start(library: Path, events: Iterable[Event]) -> dict[int, Decision]:
    """Return the decisions of Rapid Start's rules by the kernel's core."""
    core, before_pkts, acked, lost = RapidStart(library), 0, 0, 0
    found: dict[int, Decision] = {}
    for place, event in enumerate(events):
        if event.kind == "timeout":
            break
        if event.kind == "ack" and not before_pkts:
            words = event.delivered_bytes & LOW_WORD, event.sent_bytes & LOW_WORD
            grown = core.grown(*words, event.rtt_us) * event.acked_bytes
            if not event.limited:
                found[place] = event.window_bytes + grown, 0, 0
            continue
        if event.kind == "ack" and not event.in_recovery:
            found[place] = 0, 0, core.w_max(pkts(event, event.window_bytes)) * event.packet_bytes
            break
        before_pkts = before_pkts or pkts(event, event.before_bytes)
        acked, lost = acked + event.acked_bytes, lost + event.lost_bytes
        window = core.recovering(before_pkts, pkts(event, acked), pkts(event, lost)) * event.packet_bytes
        found[place] = window, window, 0
    return found


def careful_resume(library: Path, events: Iterable[Event], **params: int) -> dict[int, Decision]:
    """Return the decisions of Careful Resume's rules by the kernel's core."""
    core = CarefulResume(library, SavedSet(**({"saved_cwnd_pkts": 0, "max_jump_pkts": 10_000_000} | params)))
    found: dict[int, Decision] = {}
    begun, retreat = False, 0
    for place, event in enumerate(events):
        was = core.phase
        if event.kind == "timeout":
            core.timeout()
        elif event.kind == "loss":
            change = core.congested(event.sent_bytes & LOW_WORD)
            if core.phase == SAFE_RETREAT:
                retreat = change.cwnd_pkts * event.packet_bytes or retreat
                found[place] = retreat, retreat, 0
        elif was != NORMAL and (begun or was != RECONNAISSANCE or not event.limited):
            begun = True
            cwnd, ssthresh = (each * event.packet_bytes for each in core.ack(**_input(event, was)))
            if core.phase == SAFE_RETREAT != was:
                retreat = ssthresh = cwnd
            if cwnd or ssthresh:
                found[place] = cwnd, ssthresh, 0
    return found


def _input(event: Event, phase: int) -> dict[str, int]:
    acked = event.acked_before_bytes if phase == SAFE_RETREAT else event.acked_bytes
    return {
        "now_us": event.now_us & LOW_WORD,
        "snd_una": (event.sent_bytes - event.flight_bytes) & LOW_WORD,
        "snd_nxt": event.sent_bytes & LOW_WORD,
        "rtt_us": event.rtt_us,
        "acked_pkts": -(-acked // event.packet_bytes),
        "before_pkts": pkts(event, event.flight_bytes + event.acked_bytes) + 1,
        "flight_pkts": pkts(event, event.flight_bytes),
        "cwnd_pkts": pkts(event, event.window_bytes),
        "limited": int(not event.limited),
    }


def bbr3(library: Path, events: list[Event]) -> dict[int, Decision]:
    """Return window and threshold by the kernel's core of BBR version 3, with the pacing rate in bytes per second."""
    core, lost, newly_lost, full, left = Bbr3(library, events), 0, 0, False, False
    probed = range(0)  # delivered when what ProbeRTT sends is sent
    found: dict[int, Decision] = {}
    for place, event in enumerate(events):
        limited = int(event.then_limited or event.then_delivered_bytes in probed)
        sent = Sent(event.then_delivered_bytes, event.then_lost_bytes, event.then_flight_bytes, limited)
        if event.kind == "restart":
            found[place] = core.restarted(event), 0, core.pacing_bytes_per_s
        elif event.kind != "ack":
            lost, newly_lost = lost + event.lost_bytes, newly_lost + event.lost_bytes
            core.lose(event, lost, sent)
            if event.kind == "timeout":
                found[place] = 2 * event.packet_bytes, 0, 0
        else:
            full |= bool(event.window_full)
            window = core.acknowledge(event, lost, newly_lost, sent, full)
            newly_lost, full = 0, full and not core.state.round_start
            if core.state.mode == PROBE_RTT:
                begin = probed.start if core.was_probing else event.delivered_bytes
                probed = range(begin, event.delivered_bytes + event.flight_bytes + 1)
            core.was_probing = core.state.mode == PROBE_RTT
            exits, left = core.state.full_bw_reached and not left, left or core.state.full_bw_reached
            threshold = min(max(core.lib.bbr3_bdp(core.state), 2 * event.packet_bytes), window) if exits else 0
            found[place] = window, threshold, core.pacing_bytes_per_s
    return found


class Bbr3(Bbr3Core):
    """The kernel's core of BBR version 3, which counts in bytes."""

    was_probing = False

    def __init__(self, library: Path, events: list[Event]) -> None:
        first = next(event for event in events if event.kind == "ack")
        begin = first.delivered_bytes - first.acked_bytes
        start = first.packet_bytes, 65536, 1, first.window_bytes, first.srtt_us, begin, 1, first.now_us & LOW_WORD
        super().__init__(library, *start, now_us=first.now_us)

    @property
    def pacing_bytes_per_s(self) -> int:
        return int(self.state.pacing_rate) * 1_000_000 // RATE_ONE

    def acknowledge(self, event: Event, lost: int, newly_lost: int, sent: Sent, full: bool) -> int:
        window = event.window_bytes
        if self.state.recovering and not event.in_recovery:
            window = self.lib.bbr3_exit_recovery(self.state, window)
        ack = Ack(
            event.now_us, event.delivered_bytes, lost, event.flight_bytes, window, event.acked_bytes, newly_lost,
            event.rtt_us, event.srtt_us, event.interval_us, 1, sent, int(full), int(self.state.recovering),
        )  # fmt: skip
        return int(self.taken("on_ack", ack))

    def lose(self, event: Event, lost: int, sent: Sent) -> None:
        if not self.state.recovering:
            self.lib.bbr3_enter_recovery(self.state, event.window_bytes, event.delivered_bytes)
        size = event.lost_bytes
        self.taken("lost", Loss(event.now_us, event.delivered_bytes, lost, event.window_bytes, size, sent))

    def restarted(self, event: Event) -> int:
        return self.restart(event.now_us, event.window_bytes, event.delivered_bytes)
