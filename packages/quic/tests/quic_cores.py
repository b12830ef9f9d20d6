# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel's cores decide on a QUIC sender's events: the libraries that are built from the modules' C files.

An event is a line of a server's log; `Event` has its numbers in their order (struct quic_event of
lab_quic/quinn/cores/quic_core.h). A decision is (window, threshold, W_max) in bytes, 0 where it stays.
"""

import subprocess
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from lab_quic.quinn import build

from bench.same_exit import quic
from bench.same_exit.quic import BIN_AT, BIN_FIELDS, Event
from lab.judge.search_replay import EXIT, replay_bins, version
from tests.careful_resume import NORMAL, RECONNAISSANCE, SAFE_RETREAT
from tests.careful_resume import Core as CarefulResume
from tests.careful_resume import Params as SavedSet
from tests.rapid_start import Core as RapidStart

LOW_WORD = (1 << 32) - 1
Decision = tuple[int, int, int]


def events_of(log: Path) -> list[Event]:
    """Return the events of a server's log."""
    lines = [line.removeprefix("event\t") for line in log.read_text().splitlines() if line.startswith("event\t")]
    return [Event(kind, *map(int, numbers)) for kind, *numbers in (line.split() for line in lines)]


def program(*words: str, text: str = "", limit_s: int = 60) -> "subprocess.CompletedProcess[str]":
    """Run lab-quic."""
    built = build.find()
    assert built
    return subprocess.run(
        [built.program, *words], input=text, capture_output=True, text=True, timeout=limit_s, check=False
    )


def replayed(name: str, events: Iterable[Event], **params: int) -> dict[int, list[int]]:
    """Return what lab-quic's core changes, by the place of the event."""
    built = build.find()
    assert built
    return quic.replayed(built.program, name, events, **params)


def decisions(name: str, events: Iterable[Event], **params: int) -> dict[int, Decision]:
    """Return the decisions of lab-quic's core, by the place of the event."""
    return {place: (row[0], row[1], row[2]) for place, row in replayed(name, events, **params).items()}


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
    """Return whole packets."""
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
