# SPDX-License-Identifier: GPL-2.0-or-later
"""What was sent again excuses no pause near it, and is no loss where both copies came."""

from dataclasses import replace
from pathlib import Path

import pytest
from changed_frames import both
from lab_whatif.judged import judged
from test_whatif_refusals import REQUESTS
from whatif_captures import Download, Frame, Known, written

from lab.base.errors import UserError

BEFORE_S = 0.5  # a pause's end; that a timeout is near is no reason for it


@pytest.fixture(scope="module")
def requests() -> Download:
    return Download(REQUESTS)


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_pause_counts_also_where_something_was_sent_again_shortly_before(
    tmp_path: Path, requests: Download, side: str
) -> None:
    frames: list[Frame] = getattr(requests, side)
    old = next(frame for frame in frames if frame.seq == 100 * frame.length > 0)
    ends_s = [REQUESTS.call_s * call - BEFORE_S for call in range(1, 6)]
    again = [replace(old, t_s=t_s, tsval=old.tsval + round((t_s - old.t_s) * 1e3)) for t_s in ends_s]
    with pytest.raises(UserError, match="segments sent with nothing in flight=5"):
        judged(written(tmp_path / "x.pcap", both(frames, again), REQUESTS), None, [])


@pytest.mark.parametrize("late_ms", [70.0, 200.0])
def test_a_packet_of_which_both_copies_came_was_late_and_not_lost(tmp_path: Path, late_ms: float) -> None:
    """The receiver reports the second one (D-SACK): at the sender as few are lost as at the receiver."""
    known = Known(late_share=0.002, late_ms=late_ms, most_window=120, size_bytes=5_000_000)
    sent = [frame.seq for frame in Download(known).server if frame.length]
    assert len(sent) > len(set(sent))
    found = judged(written(tmp_path / "x.pcap", Download(known).server, known), None, [])[1].buffer
    assert (found.losses, found.random_loss_pct) == (0, 0)
