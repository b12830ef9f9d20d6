# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures of one download, as other clocks and other places show them."""

import struct
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from whatif_captures import MSS, START_NS, SYN, Frame, Known, framed


def later(frames: list[Frame], since_s: float, by_s: float) -> list[Frame]:
    """Set the capture's clock once."""
    return [replace(each, t_s=each.t_s + (by_s if each.t_s > since_s else 0)) for each in frames]


def twice(frames: list[Frame], after_s: float, every: int = 1) -> list[Frame]:
    copies = [replace(each, t_s=each.t_s + after_s) for each in frames[::every]]
    return sorted([*frames, *copies], key=lambda each: each.t_s)


def without(frames: list[Frame], chosen: list[Frame]) -> list[Frame]:
    dropped = {id(frame) for frame in chosen}
    return [frame for frame in frames if id(frame) not in dropped]


def thinned(frames: list[Frame]) -> list[Frame]:
    """Drop one of 200 data segments: a capture that lost some."""
    return without(frames, [frame for frame in frames if frame.length][100::200])


def without_acks(frames: list[Frame]) -> list[Frame]:
    """Drop each ninth ACK: a capture that lost some."""
    return without(frames, [frame for frame in frames if not frame.length and not frame.flags & SYN][1::9])


def again(frames: list[Frame]) -> list[Frame]:
    """Download once more from the same ports."""
    pause_s = frames[-1].t_s + 1
    ticks = round(pause_s * 1e3)
    moved = [replace(one, t_s=one.t_s + pause_s, tsval=one.tsval + ticks, tsecr=one.tsecr + ticks) for one in frames]
    return [*frames, *moved]


def in_steps(frames: list[Frame], step_s: float) -> list[Frame]:
    """Coarsen the capture's clock."""
    return [replace(each, t_s=int(each.t_s / step_s) * step_s) for each in frames]


def both(first: list[Any], second: list[Any]) -> list[Any]:
    return sorted([*first, *second], key=lambda each: each.t_s)


def spoiled(frames: Iterable[Frame], **change: Any) -> list[Frame]:
    return [replace(frame, **change) for frame in frames]


def merged(frames: list[Frame], count: int) -> list[Frame]:
    """Join runs of segments that follow each other, as GRO does."""
    out: list[Frame] = []
    for frame in frames:
        last = out[-1] if out else None
        joins = last and last.length and frame.length and last.seq + last.length == frame.seq
        if last and joins and last.length < count * MSS:
            out[-1] = replace(last, length=last.length + frame.length, t_s=frame.t_s)
        else:
            out.append(frame)
    return out


def off(frames: list[Frame], side: str, per_s: float) -> list[Frame]:
    """Let the time stamps of the end that is not the capture's gain so much in each second."""
    kinds = ("tsecr", "tsval") if side == "client" else ("tsval", "tsecr")  # of what goes up, and down
    out = []
    for each in frames:
        field = kinds[each.to_client]
        out.append(replace(each, **{field: getattr(each, field) + int(max(getattr(each, field) - 1000, 0) * per_s)}))
    return out


def other_end_set(frames: list[Frame], side: str, since_s: float, by_ms: int) -> list[Frame]:
    """Set the clock of the end that is not the capture's once."""
    kinds, since = (("tsecr", "tsval") if side == "client" else ("tsval", "tsecr")), 1000 + since_s * 1e3
    stamps = [(each, kinds[each.to_client]) for each in frames]
    return [replace(each, **{f: getattr(each, f) + by_ms * (getattr(each, f) > since)}) for each, f in stamps]


def in_pairs_turned(frames: list[Frame]) -> list[Frame]:
    """Let two segments that follow each other within 0.2 ms change places, and times."""
    out = list(frames)
    for place in range(3, len(out) - 1, 2):
        first, second = out[place : place + 2]
        if first.length and second.length and second.t_s - first.t_s < 2e-4:
            out[place : place + 2] = replace(second, t_s=first.t_s), replace(first, t_s=second.t_s)
    return out


def kept_alive(frames: list[Frame], length: int = 1) -> list[Frame]:
    """Let the data's sender ask each ten seconds whether the other end is there, behind all that was acknowledged."""
    data, ack = (next(one for one in frames[::-1] if one.to_client is down) for down in (True, False))
    out = list(frames)
    for number in range(1, 8):
        t_s, ticks, edge = frames[-1].t_s + 10 * number, 10_000 * number, ack.ack - 1
        asks = replace(
            data, t_s=t_s, seq=edge, length=length, tsval=data.tsval + ticks, tsecr=ack.tsval + ticks - 10_000
        )
        answer = replace(ack, t_s=t_s, tsval=ack.tsval + ticks, tsecr=asks.tsval, sack=((edge, edge + 1),))
        out += [asks, answer]
    return out


def in_sections(frames: list[Frame], known: Known, count: int, interfaces: int = 1) -> bytes:
    """Return pcapng files that follow each other in one, as those of a ring buffer do; interfaces take turns."""
    each = -(-len(frames) // count)
    interface = struct.pack("<HHI", 1, 0, 262_144) + struct.pack("<HHB3xHH", 9, 1, 9, 0, 0)
    begin = _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + interfaces * _block(1, interface)
    out = b""
    for place, frame in enumerate(frames):
        data, wire = framed(frame, known)
        t_ns = START_NS + round(frame.t_s * 1e9)
        head = struct.pack("<IIIII", place % interfaces, t_ns >> 32, t_ns & 0xFFFFFFFF, len(data), wire)
        out += (b"" if place % each else begin) + _block(6, head + data + bytes(-len(data) % 4))
    return out


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length
