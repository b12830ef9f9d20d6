# SPDX-License-Identifier: GPL-2.0-or-later
"""Which captures cannot answer: each rule as one line, with its numbers and what to capture instead."""

from collections.abc import Iterator

import numpy as np
from lab_formats.reading.packets import ACK, SYN

from lab.tables.packets import unwrap
from lab_whatif.infer import Inferred
from lab_whatif.path import Path
from lab_whatif.segments import Numbers, Segments, full_bytes
from lab_whatif.stamps import seconds_of, unsteady_s

ONE_FLOW = 0.95  # of the bytes
LEAST_STEPS = {"receiver": 5, "sender": 2}  # of the time stamps in a base RTT: a sender's clock also measures it alone
MOST_MERGED, MOST_NOT_CAPTURED, MOST_AT_WINDOW, MOST_COPIES = 0.01, 0.001, 0.02, 0.01
MOST_UNPLACED = 0.02  # of a receiver's segments: answers to probes, and to what was sent again for nothing
HELD_S = 0.0002  # by which a host may send a segment behind its time stamp
MOST_DRIFT = 0.005  # seconds in each, between two clocks: NTP changes one's rate by 0.0005 at most
MOST_BACK = 0.05  # of both ways: a path reorders fewer, and hardly of both
BULK_BYTES = 20_000  # before it a request, TLS and the server may wait
BULK = "capture a bulk download that has the link to itself, not calls or a stream"
LEAST_ROUNDS, LEAST_BINS = 10, 10
MOST_ROUGH = 0.5  # of the capacity may be wrong: its upper bound is then twice what is seen
ECE, CWR, AE = 64, 128, 256  # ECE alone: a receiver's report that a packet was marked (RFC 3168)
UNMARKED = AE | ECE  # the count of marks, 5, with which each end begins that counts them in these bits (RFC 9768)
MOST_SILENT = 2  # round trips that a silence counts as
IDLE_ROUNDS = 0.01  # of the round trips may begin with nothing in flight
DELAYED_ACK_S = 0.2  # beside two round trips: later, what empties the path is no answer to what was sent again


def before_path(segments: Segments) -> Iterator[str]:
    """Yield what forbids to read a path at all."""
    back = older_share(segments)
    if back > MOST_BACK:
        rule = f"at most {MOST_BACK:.0%} of both ways: no clock that is set back meanwhile (NTP), no files that overlap"
        yield f"segments behind later ones, by their time stamps={back:.1%}: must be {rule}"
        return
    if not segments.has_handshake:
        yield (
            "handshake=absent: must be captured: start the capture before the download, or join its files (mergecap)"
        )
    if segments.share < ONE_FLOW:
        rule = f"at least {ONE_FLOW:.0%} of the bytes: capture one download alone, or filter its port"
        yield f"largest connection={segments.share:.1%}: must be {rule}"
    if segments.cut:
        yield f"cut TCP headers={segments.cut:.1%}: must be none: capture with a snap length of 128 bytes (-s 128)"
    stamped = float((segments.tsval >= 0).mean(where=segments.length > 0)) if segments.length.any() else 1.0
    if segments.far_copies > MOST_COPIES and stamped == 1:  # else what was sent again looks like a copy
        rule = f"at most {MOST_COPIES:.0%}: capture at one place, or keep one interface of the file"
        yield f"segments that stand twice, apart by over 1 ms={segments.far_copies:.1%}: must be {rule}"
    if stamped < 1 and not segments.cut:
        rule = "on all data segments: set net.ipv4.tcp_timestamps=1 at both ends"
        yield f"TCP time stamps={stamped:.1%}: must be {rule}"
    if not segments.has_handshake:
        return  # what follows counts from it
    lost = not_captured(segments)
    if lost > MOST_NOT_CAPTURED:
        rule = f"at most {MOST_NOT_CAPTURED:.1%} of the bytes"
        yield f"acknowledged but not captured={lost:.2%}: must be {rule}: capture headers only (-s 128 -B 65536)"
    unseen = echoes_not_captured(segments)
    if stamped == 1 and unseen > MOST_NOT_CAPTURED:
        rule = f"of captured segments but for {MOST_NOT_CAPTURED:.1%}: capture both ways (-s 128 -B 65536)"
        yield f"echoes of time stamps that were not captured={unseen:.2%}: must be {rule}"


def merged(segments: Segments) -> Iterator[str]:
    """Yield that segments were merged before they were captured: when each arrived is not known then."""
    full = full_bytes(segments)
    if full is None:
        yield "MSS in the handshake=absent: must be there, for merged segments are known by it: capture whole headers"
    else:
        share = float(np.mean(segments.length > full, where=segments.length > 0)) if segments.length.any() else 0.0
        if share > MOST_MERGED:
            rule = f"at most {MOST_MERGED:.0%} longer than {full} bytes"
            yield f"merged segments={share:.1%}: must be {rule}: switch GRO and LRO off (ethtool -K)"


def unplaced(segments: Segments, side: str) -> Iterator[str]:
    """Yield that ACKs at the sender do not show which segments arrived behind a hole."""
    acks = ~segments.data & (segments.flags & (SYN | ACK) == ACK) & (segments.length == 0)
    same = [np.diff(each[acks], prepend=-1) == 0 for each in (segments.ack, segments.window)]
    share = float((same[0] & same[1] & (segments.sack.left[acks, 0] < 0)).sum()) / max(int(acks.sum()), 1)
    if side == "sender" and share > MOST_UNPLACED:
        rule = f"at most {MOST_UNPLACED:.0%}: set net.ipv4.tcp_sack=1 at both ends, or capture at the receiver"
        yield f"ACKs that repeat another without SACK blocks={share:.1%}: must be {rule}"


def of_path(segments: Segments, inferred: Inferred, side: str) -> Iterator[str]:
    """Yield what forbids to rest anything on what was inferred."""
    path, steps = inferred.path, LEAST_STEPS[side]
    stamps = "time stamps at 1 MHz, 1000, 250, 100 or 10 Hz that lose no time (some macOS's do while packets pass)"
    pace = f"{stamps}, and no clock that is set meanwhile (NTP)"
    if inferred.set_ms > (least_ms := inferred.least_apart_s * 1e3):
        yield f"the capture's clock against its host's time stamps={inferred.set_ms:.0f} ms: must be steady: {pace}"
    elif (back_ms := _set_back_s(segments, side) * 1e3) > least_ms:
        yield f"the other end's time stamps, set back=by {back_ms:.0f} ms: must be steady: {pace}"
    elif abs(drift := inferred.drift) > MOST_DRIFT:
        rule = f"at most {MOST_DRIFT * 1e3:g} ms/s, as between two clocks: {pace}; nor ACKs that wait ever longer"
        yield f"even change of the way up={drift * 1e3:.1f} ms/s: must be {rule}"
    elif path.base_rtt_ms <= 0:
        yield f"base RTT={path.base_rtt_ms:.1f} ms: must be above 0: {pace}"
    else:
        clock = "the capture's clock" if segments.grain_s * 1e3 >= path.step_ms else "the time stamps"
        yield from of_few_steps(path, steps, clock)
    if path.taken_back:
        rule = "none: at the sender nothing shows what arrived and was discarded: give the receiver memory (tcp_rmem)"
        yield f"ACKs that take back what SACK reported={path.taken_back}: must be {rule}"
    at_window = float((path.sent.room < inferred.mss_bytes).mean()) if len(path.sent.room) else 0.0
    if at_window > MOST_AT_WINDOW:
        rule = f"at most {MOST_AT_WINDOW:.0%}: raise net.ipv4.tcp_rmem at the receiver"
        yield f"segments at the receive window's edge={at_window:.1%}: must be {rule}"
    yield from paused(idle_starts(path, segments), inferred)
    yield from too_little(inferred)


def set_s(segments: Segments, side: str) -> float:
    """Return by how much the capture's clock was set meanwhile, beyond one step of its host's time stamps."""
    at_end = segments.data if side == "sender" else ~segments.data
    apart_s = unsteady_s(segments.tsval[at_end], segments.t_s[at_end])
    return apart_s if apart_s > HELD_S + segments.grain_s else 0.0


def _set_back_s(segments: Segments, side: str) -> float:
    """Return by how much the other end's time stamps fall between segments each of which holds or reports more."""
    rows = (segments.data if side == "receiver" else ~segments.data) & (segments.tsval >= 0)
    reported = np.maximum(segments.ack, segments.sack.right.max(axis=1))
    place = (segments.seq + segments.length if side == "receiver" else reported)[rows]
    goes_on = np.diff(np.maximum.accumulate(place), prepend=-2) > 0
    far = seconds_of(segments.tsval[rows][goes_on], segments.t_s[rows][goes_on])
    return 0.0 if far is None else float((np.maximum.accumulate(far.t_s) - far.t_s).max())


def of_few_steps(path: Path, steps: int, clock: str) -> Iterator[str]:
    """Yield that the base RTT has too few steps of the clock by which it is measured."""
    if path.base_rtt_ms < steps * path.step_ms:
        rule = f"at least {steps} steps of {clock} ({path.step_ms:g} ms): use a longer path"
        yield f"base RTT={path.base_rtt_ms:.1f} ms: must be {rule}"


def paused(idle: int, inferred: Inferred) -> Iterator[str]:
    """Yield that the sender had nothing to send too often."""
    if idle > (most_idle := int(IDLE_ROUNDS * _rounds(inferred))):
        share = f"one in {1 / IDLE_ROUNDS:.0f} round trips"
        rule = f"at most {most_idle}, {share}: {BULK}"
        yield f"segments sent with nothing in flight={idle}: must be {rule}"


def for_others(segments: Segments) -> Iterator[str]:
    """Yield what forbids to speak of other senders, though the link is seen."""
    if segments.is_subflow:
        rule = "the only one, for the replay has no other: set net.mptcp.enabled=0 at the receiver, or leave --was out"
        yield f"subflow of MPTCP=one of several: must be {rule}"
    counts = segments.flags[~segments.data & (segments.flags & SYN == 0)] & (ECE | CWR | AE)
    if _counts_marks(segments):
        reports = int((counts[0 if segments.opener_sends else 1 :] != UNMARKED).sum())  # the opener's first is another
    else:
        reports = int((counts & ECE > 0).sum())
    if reports:
        rule = "none, for the replay has no marks: set net.ipv4.tcp_ecn=0 at the receiver, or leave --was out"
        yield f"ACKs that report congestion marks (ECN)={reports}: must be {rule}"


def _counts_marks(segments: Segments) -> bool:
    """Return whether both ends offered to count marks (AccECN); all three bits in the answer are an old host's echo."""
    bits = segments.flags & (ECE | CWR | AE)
    offers = bits[segments.flags & (SYN | ACK) == SYN] == ECE | CWR | AE
    answers = bits[segments.flags & (SYN | ACK) == SYN | ACK]
    accepts = (answers & (CWR | AE) > 0) & (answers != ECE | CWR | AE)
    return bool(offers.any() and accepts.any())


def too_little(inferred: Inferred) -> Iterator[str]:
    """Yield that a download was too short, or never filled the link."""
    rounds = _rounds(inferred)
    if rounds < LEAST_ROUNDS:
        yield f"round trips={rounds:.1f}: must be at least {LEAST_ROUNDS}: capture a longer download"
    known = int(inferred.capacity["known"].sum())
    if known < LEAST_BINS:
        rule = f"at least {LEAST_BINS}: capture a longer download, by a sender that fills the link"
        yield f"steps of 100 ms with a backlog={known}: must be {rule}"
    elif inferred.rough_share > MOST_ROUGH:
        least_ms = inferred.late_ms / MOST_ROUGH
        where = ", at the receiver, where no ACK is late" if inferred.path.by_acks else ""
        rule = f"at least {least_ms:.0f} ms, for packets are late by up to {inferred.late_ms:.0f} ms by themselves"
        yield f"mean backlog={inferred.backlog_ms:.0f} ms: must be {rule}: {BULK}{where}"


def _rounds(inferred: Inferred) -> float:
    """Return how many round trips the download took; a silence counts as few, however long it is."""
    round_s = max(inferred.path.base_rtt_ms, inferred.path.step_ms) / 1e3
    gaps_s = np.diff(inferred.path.down.arrival_s, prepend=0.0)
    return float(np.minimum(gaps_s, MOST_SILENT * round_s).sum()) / round_s


def not_captured(segments: Segments) -> float:
    """Return the share of acknowledged bytes that no captured segment holds."""
    rows = segments.data & (segments.length > 0)
    acked = int(segments.ack[~segments.data].max(initial=1))
    begin = segments.seq[rows]
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], np.minimum((segments.seq + segments.length)[rows][order], acked)
    before = np.concatenate([[1], np.maximum.accumulate(end)[:-1]])
    missing = int(np.maximum(np.minimum(begin, acked) - before, 0).sum())
    last = int(end.max(initial=1))
    fin = int((segments.flags[segments.data] & 1).any())
    return (missing + max(acked - last - fin, 0)) / max(acked - 1, 1)


def echoes_not_captured(segments: Segments) -> float:
    """Return the share of segments, of either way, that echo a time stamp which no captured segment has."""
    unseen = 0
    for way in (segments.data, ~segments.data):
        echoes = segments.tsecr[way & (segments.flags & ACK > 0) & (segments.tsecr > 0)]
        unseen += int((~np.isin(echoes, segments.tsval[~way])).sum())
    return unseen / len(segments.data)


def older_share(segments: Segments) -> float:
    """Return the share of segments that stand behind later ones of their host, of the way that has fewer of them."""
    shares = []
    for way in (segments.data, ~segments.data):
        values = segments.tsval[way & (segments.tsval >= 0)]
        ticks = unwrap(values, int(values[0])) if len(values) else values
        shares.append(float((ticks < np.maximum.accumulate(ticks)).mean()) if len(ticks) else 0.0)
    return min(shares)


def idle_starts(path: Path, segments: Segments) -> int:
    """Count new segments that were sent with nothing in flight, once the bulk had begun and outside timeouts."""
    sent = path.sent
    begun = sent.end[(sent.end > BULK_BYTES) & (sent.flight <= 0)]
    answers = _of_timeouts(segments, begun, 2 * path.base_rtt_ms / 1e3 + DELAYED_ACK_S)
    return int((~np.isin(begun, answers)).sum())


def _of_timeouts(segments: Segments, begun: Numbers, most_s: float) -> Numbers:
    """Return the ends of new segments that leave by the ACK of one that was sent again.

    Of that one a receiver may not have seen the first copy: then it was sent alone, and with nothing in flight.
    """
    rows = np.flatnonzero(segments.data & (segments.length > 0))
    end = (segments.seq + segments.length)[rows]
    is_new = np.diff(np.maximum.accumulate(end), prepend=0) > 0
    soon = np.diff(segments.t_s[rows]) < most_s
    return end[1:][is_new[1:] & (~is_new | np.isin(end, begun))[:-1] & soon]
