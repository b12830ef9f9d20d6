# SPDX-License-Identifier: GPL-2.0-or-later
"""A buffer's bounds hold it, and what it drops is not stated as lost at random."""

from dataclasses import replace
from pathlib import Path

import pytest
from lab_whatif.evidence import items
from lab_whatif.infer import Inferred
from lab_whatif.judged import judged
from lab_whatif.shown import link_lines
from whatif_captures import MSS, Download, Known, written

ENDS = pytest.mark.parametrize("side", ["client", "server"])


def inferred(folder: Path, known: Known, side: str) -> Inferred:
    return judged(written(folder / "x.pcap", getattr(Download(known), side), known), None, [])[1]


FEW = Known(rate_mbps=2, one_way_ms=10, buffer_bytes=8 * (MSS + 66), size_bytes=300_000)


@ENDS
@pytest.mark.parametrize(
    "known",
    [
        FEW,
        replace(FEW, rate_mbps=0.5, one_way_ms=60, buffer_bytes=15_000, stamp_ms=10),
        replace(FEW, rate_mbps=1, one_way_ms=25, buffer_bytes=10_000, stamp_ms=4, ack_every=4),
        replace(FEW, rate_mbps=5, buffer_bytes=25_000, drop_above=0.5, ack_every=4, size_bytes=1_250_000, seed=84),
        Known(buffer_bytes=135_408, most_window=170, stamp_ms=4, size_bytes=8_000_000),
    ],
    ids=["8 packets", "9", "6, ACKs of 4", "a threshold", "no loss, stamps of 4 ms"],
)
def test_the_bounds_of_a_buffer_of_few_packets_hold_it(tmp_path: Path, side: str, known: Known) -> None:
    found = inferred(tmp_path, known, side)
    bounds = next(each for each in items(found) if each.name in ("buffer", "drop_threshold"))
    true_bytes = known.buffer_bytes * (known.drop_above or 1)
    assert (bounds.low or 0) <= true_bytes <= (bounds.high or true_bytes)
    if known == FEW and side == "client":
        assert bounds.value == known.buffer_bytes


@ENDS
def test_what_a_full_queue_drops_is_no_random_loss_where_the_way_down_sways(tmp_path: Path, side: str) -> None:
    """By 5 ms: at the sender most of what the full queue dropped seems to have met a smaller one."""
    found = inferred(tmp_path, Known(sway_ms=5, size_bytes=8_000_000), side)
    assert found.buffer.losses > 900
    assert found.buffer.random_loss_pct == 0
    assert found.buffer.kind == {"client": "tail", "server": "at least"}[side]


@pytest.mark.parametrize("lost_pct", [0.0, 1.0])
def test_a_way_down_that_varies_says_that_random_losses_may_be_none(tmp_path: Path, lost_pct: float) -> None:
    found = inferred(tmp_path, Known(size_bytes=4_000_000), "client")
    varying = replace(found, jitter_ms=20.0, buffer=replace(found.buffer, random_loss_pct=lost_pct))
    lines = link_lines(varying, "receiver")
    assert any("without a full queue may have met one" in line for line in lines) is (lost_pct > 0)
