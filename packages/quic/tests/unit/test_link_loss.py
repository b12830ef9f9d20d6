# SPDX-License-Identifier: GPL-2.0-or-later
"""What a link lost itself is known from what left its queue and what came: never more, and all when the line idles."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from lab_quic.stack.link_loss import lost_bytes
from lab_quic.stack.tables import lossy_from_s

FRAME_BYTES, RATE_MBPS, DELAY_MS = 1514, 50, 30.0
SAMPLE_S, FRAME_S = 0.001, FRAME_BYTES * 8 / (RATE_MBPS * 1e6)


def line(lost: list[int], steps: dict[float, float], period_s: float, most_pkts: int) -> tuple[Any, ...]:
    """Send trains of frames at a link's rate through a delay line, each three times as long as the one before it.

    Returns what the trial has of it, and when each of the lost frames left the queue.
    """
    pkts = np.array([*3 ** np.arange(6), 1])
    begins_s = 0.1 * np.arange(len(pkts))
    leaves_s = np.concatenate(
        [begin_s + np.arange(1, 1 + n) * FRAME_S for begin_s, n in zip(begins_s, pkts, strict=True)]
    )
    due_s, next_s, inside, arrives_s = -np.inf, -np.inf, 0, []
    for number, left_s in enumerate(leaves_s):
        if number in lost:
            continue
        delay_ms = [value for from_s, value in steps.items() if from_s <= left_s][-1]
        own_s = left_s + delay_ms / 1e3
        if not period_s:
            due_s = max(due_s, own_s)
        elif own_s > due_s or inside == most_pkts:
            due_s, inside = max(own_s, next_s), 0
            next_s = due_s + period_s
        inside += 1
        arrives_s.append(due_s)
    t_s = np.arange(-0.01, 1.2, SAMPLE_S)
    sent = np.searchsorted(leaves_s, t_s, side="right")
    queued = np.append(0, np.cumsum(pkts))[np.searchsorted(begins_s, t_s)]
    samples = {"t_s": t_s, "sent_bytes": sent * FRAME_BYTES + 648, "drops_pkts": 0}
    qdisc = pl.DataFrame(samples | {"backlog_bytes": np.maximum(queued - sent, 0) * FRAME_BYTES})
    packets = pl.DataFrame({"t_s": arrives_s, "to_client": True, "frame_bytes": FRAME_BYTES})
    values = [("down.loss_pct", -1.0, 1.0), ("down.rate_mbps", -1.0, float(RATE_MBPS))]
    values += [("down.delay_ms", from_s, value) for from_s, value in steps.items()]
    link = pl.DataFrame(values, schema=["quantity", "t_s", "value"], orient="row")
    spec = {"frame_us": period_s * 1e6, "frame_pkts": most_pkts}
    return [{"part": "delay-down", "spec": spec}], link, qdisc, packets, leaves_s[lost]


LINES = {
    "constant": ({-1.0: DELAY_MS}, 0.0, 0),
    "rises and falls": ({-1.0: DELAY_MS, 0.12: 90.0, 0.17: 10.0, 0.4123: 35.5, 0.4321: 20.0}, 0.0, 0),
    "frames": ({-1.0: DELAY_MS}, 0.0026, 0),
    "frames in step with the samples": ({-1.0: DELAY_MS}, SAMPLE_S, 0),
    "full frames": ({-1.0: DELAY_MS}, 0.0026, 7),
    "frames, falls": ({-1.0: DELAY_MS, 0.42: 20.0}, 0.0026, 0),
}


@pytest.mark.parametrize("lost", [[], [0], [2], [20, 60, 61, 200]], ids=["none", "first", "early", "some"])
@pytest.mark.parametrize("kind", LINES)
def test_what_the_link_lost_is_known_in_time_and_never_too_much(kind: str, lost: list[int]) -> None:
    shapes, link, qdisc, packets, lost_s = line(lost, *LINES[kind])
    found = lost_bytes(shapes, link, qdisc, packets, FRAME_BYTES) / FRAME_BYTES
    t_s = qdisc["t_s"].to_numpy()
    assert (found <= np.searchsorted(lost_s, t_s + SAMPLE_S, side="right")).all()
    assert found[-1] == len(lost)
    assert all(after >= before for before, after in pairwise(found))
    late_s = t_s[[int(np.argmax(found > n)) for n in range(len(lost))]] - lost_s
    assert (late_s <= (0.1 if kind == "full frames" else 2 * SAMPLE_S + 2 * LINES[kind][1])).all()


def test_a_link_without_loss_has_lost_nothing_whatever_is_missing() -> None:
    shapes, link, qdisc, packets, _ = line([20], *LINES["constant"])
    harmless = link.with_columns(value=pl.when(quantity="down.loss_pct").then(0.0).otherwise("value"))
    assert not lost_bytes(shapes, harmless, qdisc, packets, FRAME_BYTES).any()


@pytest.mark.parametrize(
    ("loss_pct", "drops_pkts", "from_s"), [(0, [0, 3, 9], 1.0), (0, [0, 0, 0], math.inf), (1, [0], -math.inf)]
)
def test_a_link_may_lose_from_its_first_drop_on_or_always(
    loss_pct: float, drops_pkts: list[int], from_s: float
) -> None:
    link = pl.DataFrame({"quantity": ["down.loss_pct"], "value": [loss_pct]})
    qdisc = pl.DataFrame({"t_s": [float(n) for n in range(len(drops_pkts))], "drops_pkts": drops_pkts})
    assert lossy_from_s({"link": link, "qdisc": qdisc}) == from_s
