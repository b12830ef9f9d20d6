# SPDX-License-Identifier: GPL-2.0-or-later
"""Per-ACK logs in the public forms, of a download that a small model makes: slow start into a gateway that drops.

The gateway serves a constant rate behind half the round trip. Above a threshold it drops one arrival in four. The
sender leaves slow start at the first loss that it notices, and sends nothing again: its log ends in recovery.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

WRAP = 2**32
MSS = 1308
IP_BYTES = 1360
WINDOW = 10
REORDERED = 3  # duplicate ACKs after which a segment counts as lost


@dataclass(frozen=True)
class Gateway:
    """A link, and where its gateway begins to drop."""

    rate_mbps: float = 8.0
    rtt_ms: float = 600.0
    threshold_bytes: float = 1_000_000.0
    duration_s: float = 9.0
    one_in: int = 4


@dataclass
class Ack:
    """What the socket knows as it takes an ACK in; in segments."""

    t_s: float  # since the first data segment
    rtt_s: float
    acked: int
    nxt: int
    delivered: int
    lost: int
    retrans: int


@dataclass
class Download:
    """The ACKs, and the truth about the gateway."""

    acks: list[Ack] = field(default_factory=list)
    first_drop_bytes: float | None = None  # IP bytes in the queue as the first segment was dropped
    dropped: int = 0


def download(link: Gateway) -> Download:
    log, arrivals = Download(), []  # type: Download, list[tuple[float, float, int]]
    free_s, nxt, cwnd, over = 0.0, 0, WINDOW, 0
    got: set[int] = set()
    lost: set[int] = set()
    una, highest = 0, -1

    def send(now_s: float) -> None:
        nonlocal free_s, nxt, over
        backlog = max(free_s - now_s, 0.0) * link.rate_mbps * 1e6 / 8
        over += backlog > link.threshold_bytes
        if backlog > link.threshold_bytes and over % link.one_in == 1:
            log.dropped += 1
            log.first_drop_bytes = log.first_drop_bytes or backlog
        else:
            free_s = max(free_s, now_s) + IP_BYTES * 8 / (link.rate_mbps * 1e6)
            heapq.heappush(arrivals, (free_s + link.rtt_ms / 1e3, now_s, nxt))
        nxt += 1

    for _ in range(WINDOW):
        send(0.0)
    while arrivals and arrivals[0][0] < link.duration_s:
        t_s, sent_s, number = heapq.heappop(arrivals)
        got.add(number)
        lost |= {hole for hole in range(highest + 1, number) if hole not in got}
        highest = number
        while una in got:
            una += 1
        noticed = len([hole for hole in lost if hole + REORDERED <= highest]) if lost else 0
        log.acks.append(Ack(t_s, t_s - sent_s, una, nxt, len(got), noticed, noticed))
        cwnd += not noticed
        while nxt - len(got) - noticed < cwnd:
            send(t_s)
    return log


def _row(ack: Ack, start_us: int, isn: int, step: int) -> dict[str, int]:
    """What a log may have of an ACK; `step` segments were acknowledged by it."""
    return {
        "now_us": (start_us + round(ack.t_s * 1e6)) % WRAP,
        "bytes_acked": ack.acked * MSS,
        "mss": MSS,
        "rtt_us": round(ack.rtt_s * 1e6),
        "tp_delivered": ack.delivered + 1,
        "lost_pkt": ack.lost,
        "total_retrans_pkt": ack.retrans,
        "lost": ack.lost,
        "retrans": ack.retrans,
        "app_limited": 0,
        "snd_nxt": (isn + ack.nxt * MSS) % WRAP,
        "snd_una": (isn + ack.acked * MSS) % WRAP,
        "snd_cwnd": ack.nxt - ack.delivered,
        "ss_status": 1,
        "each_delv_MB": step * MSS,
        "total_delv_B": ack.acked * MSS,
        "total_sent_B": ack.nxt * MSS,
    }


COMMON = ("now_us", "bytes_acked", "mss", "rtt_us", "tp_delivered")
FORMS: dict[str, tuple[str, ...]] = {
    "with snd_una": (*COMMON, "lost_pkt", "total_retrans_pkt", "app_limited", "snd_nxt", "snd_una", "snd_cwnd"),
    "without snd_una": (*COMMON, "lost_pkt", "total_retrans_pkt", "app_limited", "snd_nxt"),
    "without snd_nxt": (*COMMON, "lost", "retrans", "app_limited"),
    "each_delv": ("now_us", "each_delv_MB", "ss_status", "lost_pkt", "rtt_us", "total_retrans_pkt", "total_sent_B"),
    "total_delv": ("now_us", "ss_status", "rtt_us", "total_delv_B", "total_retrans_pkt", "total_sent_B"),
}


def text(
    acks: Sequence[Ack],
    form: str = "with snd_una",
    start_us: int = 0,
    isn: int = 1000,
    order: int | None = None,
    comma: str = ",",
    end: str = "\n",
) -> str:
    """Format a log; `order` shuffles its columns."""
    names = list(FORMS[form])
    if order is not None:
        names = [names[place] for place in np.random.default_rng(order).permutation(len(names))]
    before = 0
    lines = [comma.join(names)]
    for ack in acks:
        row, before = _row(ack, start_us, isn, ack.acked - before), ack.acked
        lines.append(comma.join(str(row[name]) for name in names))
    return end.join(lines) + end


def written(folder: Path, content: str, name: str = "log.csv") -> Path:
    """Write a log as it is, line ends included."""
    (folder / name).write_bytes(content.encode())
    return folder / name


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A recorded download: a log of ACKs, from a model."""
    folder = tmp_path_factory.mktemp("log")
    return str(written(folder, text(download(Gateway()).acks, "with snd_una")))
