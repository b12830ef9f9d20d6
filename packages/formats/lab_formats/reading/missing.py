# SPDX-License-Identifier: GPL-2.0-or-later
"""What a capture lost: bytes that were acknowledged, so that they passed, and that no captured segment holds."""

from collections import Counter

import numpy as np

from lab.tables.packets import unwrap
from lab_formats.reading.packets import Flow, Packet


def missing_share(packets: list[Packet]) -> float:
    """Return the share of the acknowledged bytes of the largest way of TCP that the capture lost.

    It is 0 where that cannot be seen: of ports that were used again, and of IP fragments.
    """
    sizes: Counter[tuple[Flow, bytes]] = Counter()
    for packet in packets:
        if packet.flow:
            sizes[packet.flow, packet.source] += packet.end - packet.seq
    if not sizes:
        return 0.0
    (flow, source), _ = sizes.most_common(1)[0]
    own = [packet for packet in packets if packet.flow == flow]
    data = [packet for packet in own if packet.source == source and packet.end != packet.seq]
    acks = [packet.ack for packet in own if packet.source != source and packet.ack is not None]
    fragments = any(packet.flow is None and packet.source == source for packet in packets)
    if not data or not acks or fragments or len({packet.seq for packet in own if packet.opens}) > 1:
        return 0.0
    begin = unwrap(np.array([packet.seq for packet in data]), data[0].seq)
    end = begin + np.array([packet.end - packet.seq for packet in data])
    acked = int(unwrap(np.array(acks), data[0].seq).max())
    order = np.argsort(begin, kind="stable")
    begin, end = np.append(begin[order], acked), np.append(np.maximum.accumulate(end[order]), acked)
    gaps = np.minimum(begin[1:], acked) - np.minimum(end[:-1], acked)
    return float(np.maximum(gaps, 0).sum()) / max(acked - int(begin[0]), 1)
