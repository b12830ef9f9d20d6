# SPDX-License-Identifier: GPL-2.0-or-later
"""The TCP segments of one connection, in columns, from a capture or from a stored trial's packets."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path

import numpy as np
import polars as pl
from lab_formats.reading.copies import SAME_PLACE_S, of_one_interface, untranslated
from lab_formats.reading.grain import of_interfaces_s
from lab_formats.reading.missing import stated_mss
from lab_formats.reading.packets import ACK, SYN, Flow, Packet, is_cut, packets_of
from numpy.typing import NDArray

from lab.base.errors import UserError, field_error
from lab.base.format import counted
from lab.tables import tcp_headers
from lab.tables.packets import unwrap
from lab_whatif.mptcp import OTHERS, is_one_of_several
from lab_whatif.sack import Blocks, blocks_of

Numbers = NDArray[np.int64]
Seconds = NDArray[np.float64]
STAMP_BYTES = 12
COLUMNS = ("t_s", "data", "ack", "flags", "window", "tsval", "tsecr")
LEAST_FULL, SHARE_FULL = 500, 0.5  # bytes; of the segments that must be multiples of what a full one holds
MOST_SIZES = 200
HEAD_BYTES = 60  # of TCP, with all options
HEADER_BYTES = 52  # of IPv4, and TCP with time stamps
ETHERNET_IP = bytes([0] * 12) + b"\x08\x00\x45" + bytes([0] * 19)  # what decoding in columns expects before TCP


@dataclass(frozen=True)
class Segments:
    """One connection's segments in the order of the capture; sequence numbers count from each SYN, without wraps."""

    name: str  # of the file, for errors
    t_s: Seconds  # since the connection's SYN
    data: NDArray[np.bool_]  # whether the data's sender sent it
    seq: Numbers
    ack: Numbers  # -1 without ACK
    length: Numbers  # payload, bytes
    flags: Numbers
    window: Numbers  # scaled, bytes
    tsval: Numbers  # -1 without the option; as in the header
    tsecr: Numbers
    sack: Blocks  # of ACKs
    share: float  # of the capture's TCP payload
    opener_sends: bool  # whether the data's sender opened the connection: an upload
    has_handshake: bool
    mss_bytes: int | None  # payload of a full segment, by the handshake
    cut: float = 0.0  # share of segments of which the capture does not hold the whole TCP header
    far_copies: float = 0.0  # share of segments that another place shows too
    header_bytes: int = HEADER_BYTES  # of IP and TCP in front of data
    grain_s: float = 0.0  # step of the capture's clock, the coarsest of several interfaces
    is_subflow: bool = False  # one of several of MPTCP


def of_capture(path: Path, notes: list[str]) -> Segments:
    """Read the connection with most payload; UserError where the capture holds no TCP data."""
    connections, others = _connections(of_one_interface(untranslated(packets_of(path, notes), notes)))
    if not connections:
        raise field_error(path, "TCP connections", 0, "at least 1: capture a download over TCP, not QUIC (UDP)")
    sizes = [sum(packet.end - packet.seq for packet in each) for each in connections]
    most = max(sizes)
    largest = connections[sizes.index(most)]
    found, far = _once(largest)
    cut = sum(is_cut(packet.header) for packet in found) / len(found)
    share = most / max(sum(sizes) + others, 1)
    if len(connections) > 1 or others:
        others += sum(packet.ip_bytes for each in connections if each is not largest for packet in each)
        notes.append(_largest(found, share, len(connections), others))
    is_subflow = is_one_of_several((packet.source + packet.header[:2], packet.header) for packet in found)
    notes += [OTHERS] * is_subflow
    whole = replace(_decoded(path.name, found, share), cut=cut, is_subflow=is_subflow)
    return replace(_without_keepalives(whole), far_copies=far / len(found), grain_s=of_interfaces_s(found))


def _without_keepalives(segments: Segments) -> Segments:
    """Take one byte that was acknowledged before for no payload: it asks whether the other end is there (RFC 9293)."""
    acked = np.maximum.accumulate(np.where(segments.data, -1, segments.ack))
    asks = (segments.length == 1) & (segments.seq < acked)
    return replace(segments, length=np.where(asks, 0, segments.length))


def _largest(packets: list[Packet], share: float, count: int, others: int) -> str:
    """Return which of several connections is read, and how many bytes of IP others sent: a burst may fill one step."""
    one, port, other, its_port = packets[0].flow or (b"", 0, b"", 0)
    ends = f"{ip_address(one)} port {port} and {ip_address(other)} port {its_port}"
    what = f"{counted(count, 'TCP connection')}: the largest is read, between {ends} ({share:.1%} of the bytes)"
    return f"{what}; what others carried, {counted(others, 'byte')}, is not in the capacity."


def _connections(packets: list[Packet]) -> tuple[list[list[Packet]], int]:
    """Divide segments into connections, which may follow each other on the same ports; and count what is not TCP."""
    found: dict[tuple[Flow, int], list[Packet]] = {}
    opened: dict[Flow, tuple[int, int]] = {}  # number of the connection, and its SYN's sequence number
    begun: set[tuple[Flow, int]] = set()  # that have data
    others = 0
    for packet in packets:
        if packet.flow is None:
            others += packet.ip_bytes
            continue
        number, isn = opened.get(packet.flow, (0, -1))
        if packet.opens and (packet.seq != isn or (packet.flow, number) in begun):
            number += 1
            opened[packet.flow] = number, packet.seq
        if packet.end - packet.seq > 1:
            begun.add((packet.flow, number))
        found.setdefault((packet.flow, number), []).append(packet)
    return list(found.values()), others


def _once(packets: list[Packet]) -> tuple[list[Packet], int]:
    """Leave out copies, which have the same time stamps too; count those that are too late for one place."""
    first_s: dict[tuple[bytes, bytes, int], float] = {}
    kept, far = [], 0
    for packet in packets:
        key = packet.source, packet.header, packet.end
        if key not in first_s:
            kept.append(packet)
        else:
            far += packet.end != packet.seq and packet.t_s - first_s[key] > SAME_PLACE_S
        first_s.setdefault(key, packet.t_s)
    return kept, far


def full_bytes(segments: Segments) -> int | None:
    """Return how much a full segment holds: the MSS, or less where the path or more options let no more through.

    What is cut into such segments, or merged of them, is a multiple of one.
    """
    most, length = segments.mss_bytes, segments.length
    sizes, counts = np.unique(length[length >= LEAST_FULL], return_counts=True)
    if not most or most < LEAST_FULL or not len(sizes):
        return most
    frequent, enough = np.argsort(counts)[-MOST_SIZES:], SHARE_FULL * counts.sum()
    candidates = np.arange(LEAST_FULL, most + 1)
    multiples = (sizes[frequent, None] % candidates == 0).T @ counts[frequent]
    best = int(np.flatnonzero(multiples == multiples.max())[-1])
    return most if multiples[-1] >= enough or multiples[best] < enough else int(candidates[best])


def in_full_segments(segments: Segments) -> Segments:
    """Return merged segments as they are on the wire, each at most one MSS, all at once.

    A sender's network card cuts them so (TSO); the last of those that a receiver's host merged (GRO) came at that time.
    """
    most = full_bytes(segments)
    pieces = np.maximum(-(-segments.length // most), 1) if most else np.ones(len(segments.length), dtype=np.int64)
    if not most or (pieces == 1).all():
        return segments
    rows = np.repeat(np.arange(len(pieces)), pieces)
    number = np.arange(len(rows)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    columns = {name: getattr(segments, name)[rows] for name in COLUMNS}
    length = np.minimum(segments.length[rows] - number * most, most)
    sack = Blocks(segments.sack.left[rows], segments.sack.right[rows])
    return replace(segments, **columns | {"seq": segments.seq[rows] + number * most, "length": length, "sack": sack})


def _decoded(name: str, packets: list[Packet], share: float) -> Segments:
    fields = tcp_headers.segments(_heads(packets))
    t_s = np.array([packet.t_s for packet in packets])
    length = np.array([packet.end - packet.seq for packet in packets])
    length -= (fields["flags"] & SYN > 0).astype(np.int64) + (fields["flags"] & 1)
    first = packets[0].source, int(fields["src_port"][0])
    ours = np.array(
        [(packet.source, int(port)) == first for packet, port in zip(packets, fields["src_port"], strict=True)]
    )
    data = ours if length[ours].sum() > length[~ours].sum() else ~ours
    syn = fields["flags"] & (SYN | ACK) == SYN
    start_s = float(t_s[syn][0]) if syn.any() else float(t_s[0])
    seq, ack, window = _unwrapped(fields, data)
    seq[(fields["flags"] & SYN > 0) & (length > 0)] += 1  # data on a SYN (TCP Fast Open) comes behind its number
    blocks = blocks_of([packet.header for packet in packets], data, fields["sack_edges"], _isn(fields, data))
    opener_sends = bool(data[np.flatnonzero(syn)[0]]) if syn.any() else False
    whole = bool(syn.any()) and bool((fields["flags"] & (SYN | ACK) == SYN | ACK).any())
    numbers = seq, ack, length, fields["flags"], window, fields["tsval"], fields["tsecr"]
    mss_bytes = _mss_bytes(packets[place].header for place in np.flatnonzero(fields["flags"] & SYN))
    headers = [packet.ip_bytes - size for packet, size in zip(packets, length.tolist(), strict=True) if size > 0]
    header_bytes = int(np.median(headers)) if headers else HEADER_BYTES
    facts = share, opener_sends, whole, mss_bytes
    return Segments(name, t_s - start_s, data, *numbers, blocks, *facts, header_bytes=header_bytes)


def _mss_bytes(handshake: Iterable[bytes]) -> int | None:
    """Return the smaller announced MSS without the time stamps that each segment has."""
    announced = [mss for header in handshake if (mss := stated_mss(header))]
    return min(announced) - STAMP_BYTES if announced else None


def _heads(packets: list[Packet]) -> NDArray[np.uint8]:
    """Lay TCP headers behind a constant Ethernet and IPv4 header, whatever they lay behind in the capture."""
    rows = b"".join(ETHERNET_IP + packet.header.ljust(HEAD_BYTES, b"\0") for packet in packets)
    return np.frombuffer(rows, dtype=np.uint8).reshape(len(packets), -1)


def _unwrapped(fields: dict[str, Numbers], data: NDArray[np.bool_]) -> tuple[Numbers, Numbers, Numbers]:
    seq, ack, window = (np.full(len(data), -1, dtype=np.int64) for _ in range(3))
    syn, has_ack = fields["flags"] & SYN > 0, fields["flags"] & ACK > 0
    scaled = all((fields["window_scale"][way & syn] >= 0).any() for way in (data, ~data))  # offered by both, or by none
    for way in (data, ~data):
        acking = way & has_ack
        seq[way] = unwrap(fields["seq"][way], _isn(fields, way))
        ack[acking] = unwrap(fields["ack"][acking], _isn(fields, ~way))
        scale = int(fields["window_scale"][way].max(initial=0)) if scaled else 0
        window[way] = fields["window"][way] << np.where(syn[way], 0, scale)
    return seq, ack, window


def _isn(fields: dict[str, Numbers], side: NDArray[np.bool_]) -> int:
    """Return the initial sequence number; without a SYN the first one seen."""
    syn = side & (fields["flags"] & SYN > 0)
    chosen = syn if syn.any() else side
    return int(fields["seq"][chosen][0]) if chosen.any() else 0


def of_trial(packets: pl.DataFrame, name: str) -> Segments:
    """Return a download of a stored trial, as its client captured it."""
    own = packets.filter((pl.col("flow") == 1) & pl.col("tsval").is_not_null())
    if not own.height:
        raise UserError(f"{name}: packets: must hold segments with time stamps of flow 1")
    fields = ("seq_bytes", "ack_bytes", "len_bytes", "flags", "window_bytes", "tsval", "tsecr")
    seq, ack, length, flags, window, tsval, tsecr = (
        own[field].fill_null(-1).cast(pl.Int64).to_numpy() for field in fields
    )
    numbers = seq, ack, length, flags, window, tsval, tsecr
    begin = own["t_s"].to_numpy(), own["to_client"].to_numpy()
    sack = Blocks.none(own.height)
    return Segments(name, *begin, *numbers, sack, share=1.0, opener_sends=False, has_handshake=True, mss_bytes=None)
