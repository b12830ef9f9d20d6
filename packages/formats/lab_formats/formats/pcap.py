# SPDX-License-Identifier: GPL-2.0-or-later
"""A packet capture (pcap or pcapng): the rate each way, and the round trips that its packets show."""

from collections import Counter
from ipaddress import ip_address
from pathlib import Path

import numpy as np
import polars as pl

from lab.base.errors import UserError, field_error
from lab.traces.columns import LONGEST_S
from lab.traces.importer import Head, Importer
from lab.traces.recording import Meaning, Recording
from lab_formats.reading.copies import counted_once, untranslated
from lab_formats.reading.frames import MAGICS
from lab_formats.reading.grain import coarse, of_interfaces_s
from lab_formats.reading.missing import again_share, behind_acks_share, merged, missing_share
from lab_formats.reading.packets import Flow, Packet, address_of, packets_of
from lab_formats.reading.round_trips import Sample, round_trips

ONE_FLOW = 0.9  # of the bytes in one TCP connection: the rate is what that flow got
MOST_OTHERS = 0.01  # of the bytes may be of other flows without a word
USAGE = "The rate is what was sent: usage."
MOST_ELSEWHERE = 0.01  # of the packets may be copies that are too late for one place
MOST_BEHIND = 0.1  # of the segments: fewer are out of order, as with several queues of a card
MOST_MISSING = 0.001  # of the bytes, without a word
MOST_AGAIN = 0.01  # of the payload, without a word
Talk = Flow | frozenset[bytes]
SILENT_S = 10.0
MOST_BINS = 10_000_000  # 11 days in the usual steps


def fits(head: Head) -> bool:
    """Recognise the magic numbers of pcap and pcapng."""
    return head.data.startswith(MAGICS)


def read(path: Path, *, user: str | None = None, step_ms: float = 100.0) -> Recording:
    """Read the IP bytes each way in steps, and the median RTT of the round trips answered in each.

    `user` is the address on the link's user side; else the host that opened the largest conversation, by a TCP SYN or
    an echo request.
    """
    if isinstance(step_ms, bool) or not isinstance(step_ms, (int, float)) or not 0.001 <= step_ms <= 3.6e6:
        raise field_error(path, "step_ms", step_ms, "a number from 0.001 to 3600000")
    notes: list[str] = []
    whole = untranslated(_between_two(path, packets_of(path, notes), notes), notes)
    packets, elsewhere = counted_once(whole)
    if len(packets) < len(whole):
        notes.append(f"{len(whole) - len(packets)} of {len(whole)} packets are copies of others: each is counted once.")
    side = address_of(path, user) if user is not None else _opener(path, packets, notes)
    mine = [packet for packet in packets if side in (packet.source, packet.target)]
    if not mine:
        raise field_error(path, "user", user, "an address that the capture holds")
    if two_places := elsewhere > MOST_ELSEWHERE * len(packets):
        words = "two places: each counts where it was seen first, and no RTT is seen. Keep the file of one place"
        notes.append(f"{elsewhere} packets stand again over 1 ms later, for the capture shows {words}.")
    if disorder := (behind := behind_acks_share(mine)) > MOST_BEHIND:
        words = "its two ways have different clocks, so that no RTT is seen"
        notes.append(f"{behind:.1%} of the segments stand behind their own acknowledgements: {words}.")
    samples = [] if two_places or disorder else round_trips(mine, side, notes)
    if (missing := missing_share(mine)) > MOST_MISSING:
        words = "the rate is too low by at least as much. Capture headers only (-s 128 -B 65536)"
        notes.append(f"{missing:.1%} of the bytes that were acknowledged were not captured: {words}.")
    if (again := again_share(mine)) > MOST_AGAIN:
        words = "where the capture was taken they passed twice, and the rate counts both"
        notes.append(f"{again:.1%} of the bytes of the largest way were sent again: {words}.")
    notes += merged(mine)
    clock_s = _clock_s(path, packets, step_ms)
    notes += [*(coarse(clock_s, "capture") if samples else ()), *_silent(mine)]
    frame = _binned(path, mine, side, samples, step_ms / 1e3)
    if way := _not_captured(mine, side):
        notes.append(f"No packet of the way {way} was captured, though TCP answers: its rate is not known.")
        frame = frame.drop(f"rate_{way}_mbps")
    if len(packets) > len(mine):
        notes.append(f"{len(packets) - len(mine)} of {len(packets)} packets are of other hosts: left out.")
    notes.append(f"{len(samples)} round trips seen; each contains the queues that the captured traffic made.")
    share = _largest_share(mine)
    others = "" if share > 1 - MOST_OTHERS else f", with {1 - share:.1%} of the bytes that are of others"
    meaning: Meaning = "goodput" if share >= ONE_FLOW else "usage"
    notes.append(f"The rate is what one TCP flow got{others}." if share >= ONE_FLOW else USAGE)
    return Recording(frame, "series", meaning, "pcap", path.name, tuple(notes))


def _clock_s(path: Path, packets: list[Packet], step_ms: float) -> float:
    """Return the step of the capture's clock; UserError where rates in shorter steps would be 0 between two of them."""
    clock_s = of_interfaces_s(packets)
    if clock_s * 1e3 > 1.01 * step_ms and 2 * len({packet.t_s for packet in packets}) < len(packets):
        raise field_error(path, "step_ms", step_ms, f"at least {clock_s * 1e3:.4g}, a step of the capture's clock")
    return clock_s


def _between_two(path: Path, packets: list[Packet], notes: list[str]) -> list[Packet]:
    """Leave out what a host sent to its own address, which is neither up nor down."""
    kept = [packet for packet in packets if packet.source != packet.target]
    if own := len(packets) - len(kept):
        notes.append(f"{own} packets have one address at both ends (loopback), and are neither up nor down: left out.")
    if not kept:
        rule = f"those of two hosts ({own} have one address at both ends, and are neither up nor down)"
        raise UserError(f"{path}: packets: must be {rule}: give each end an address of its own, as 127.0.0.2")
    return kept


def _opener(path: Path, packets: list[Packet], notes: list[str]) -> bytes:
    """Return who opened the largest of the conversations whose begin the capture holds."""
    opened: dict[Talk, bytes] = {}
    sizes: Counter[Talk] = Counter()
    ends: Counter[bytes] = Counter()
    for packet in packets:
        talk: Talk = packet.flow or frozenset((packet.source, packet.target))
        sizes[talk] += packet.ip_bytes
        ends.update({packet.source: packet.ip_bytes, packet.target: packet.ip_bytes})
        if packet.opens:
            opened.setdefault(talk, packet.source)
    why = "for the capture holds neither a TCP SYN nor an echo request"
    if opened:
        talk, largest = (max(talks, key=lambda talk: sizes[talk]) for talks in (opened, sizes))
        if largest == talk or sizes[largest] == sizes[talk]:
            words = "who opened the largest conversation: it makes the direction (--set user=ADDRESS)"
            notes.append(f"The user is taken to be {ip_address(opened[talk])}, {words}.")
            return opened[talk]
        why = "for the begin of the largest conversation was not captured"
        if opened[talk] in largest:
            words = f"the user is taken to be {ip_address(opened[talk])}, who opened another (--set user=ADDRESS)"
            notes.append(f"The begin of the largest conversation was not captured: {words}.")
            return opened[talk]
    known = " or ".join(f"--set user={ip_address(end)}" for end, _ in ends.most_common(2))
    raise UserError(f"{path}: user: must be given, {why}: {known}")


def _not_captured(packets: list[Packet], side: bytes) -> str:
    """Return the way of which a capture of TCP holds no packet, as a mirror of one way or a filter leaves it out."""
    down = {packet.target == side for packet in packets}
    is_answer = any(packet.ack is not None for packet in packets)  # a SYN alone may have had none
    return ("up" if down == {True} else "down") if len(down) == 1 and is_answer else ""


def _silent(packets: list[Packet]) -> list[str]:
    """Return a note on the longest time without a packet, which may be none at all."""
    time_s = np.array([packet.t_s for packet in packets])
    gaps_s = np.diff(time_s)
    if not (gaps_s > SILENT_S).any():
        return []
    longest = int(gaps_s.argmax())
    since = f"from {time_s[longest] - time_s[0]:.1f} s on for {gaps_s[longest]:.0f} s"
    return [f"No packet was captured {since}: the rates are 0 there, wrongly if the clock was set forward."]


def _largest_share(packets: list[Packet]) -> float:
    """Return the share of the bytes that are of the largest TCP connection."""
    flows: dict[object, int] = {}
    for packet in packets:
        flows[packet.flow] = flows.get(packet.flow, 0) + packet.ip_bytes
    return max((count for flow, count in flows.items() if flow is not None), default=0) / sum(flows.values())


def _binned(path: Path, packets: list[Packet], side: bytes, samples: list[Sample], step_s: float) -> pl.DataFrame:
    time_s = np.array([packet.t_s for packet in packets])
    start_s, end_s = float(time_s.min()), float(time_s.max())
    if end_s - start_s > LONGEST_S or (end_s - start_s) / step_s > MOST_BINS:
        rule = f"a capture of at most a year and {MOST_BINS} steps: a longer step_ms gives fewer"
        raise field_error(path, "time", f"{end_s - start_s:.0f} s", rule)
    bins = int((end_s - start_s) / step_s)
    if bins == 0:
        raise field_error(path, "step_ms", step_s * 1e3, f"no longer than the capture ({end_s - start_s:.6f} s)")
    # the last step is cut short by the capture's end: it is left out
    place = ((time_s - start_s) / step_s).astype(np.int64)
    bits = np.array([packet.ip_bytes * 8 for packet in packets])
    down = np.array([packet.target == side for packet in packets])
    rates = [np.bincount(place[way], bits[way], minlength=bins)[:bins] / step_s / 1e6 for way in (down, ~down)]
    table = pl.DataFrame({"bin": np.arange(bins), "rate_down_mbps": rates[0], "rate_up_mbps": rates[1]})
    where = pl.Series("bin", [int((sample.t_s - start_s) / step_s) for sample in samples], dtype=pl.Int64)
    rtt = pl.DataFrame([where, pl.Series("rtt_ms", [sample.rtt_ms for sample in samples], dtype=pl.Float64)])
    medians = rtt.group_by("bin").agg(pl.median("rtt_ms"))
    whole = table.join(medians, on="bin", how="left", maintain_order="left")
    return whole.select((pl.col("bin") * step_s).alias("t_s"), "rate_down_mbps", "rate_up_mbps", "rtt_ms")


IMPORTERS = (Importer("pcap", "a packet capture", "rate both ways, RTT", fits, read),)
