# SPDX-License-Identifier: GPL-2.0-or-later
"""A segment that only came late is no loss."""

import polars as pl
import pytest

from lab.judge.loss import first_hole_s, first_loss_s
from tests.slow_start_model import PACKETS, packet


@pytest.mark.parametrize(
    ("sent_ms", "rtt_ms", "lost"),
    [
        (1, 10, False),  # in front of those behind it, and held back on its way
        (2, 10, False),  # in the same tick as the first of them
        (12, 10, True),  # again, a round trip later
        (2, 1, True),  # in a round trip as short ticks of a millisecond tell nothing
        (None, 10, True),
    ],
)
def test_what_only_came_late_was_not_lost(sent_ms: int | None, rtt_ms: int, lost: bool) -> None:
    """Segment 2 comes behind segments 3 to 6, each of which the client answers 0.4 ms later."""
    rows = [packet(-1.0, False, tsval=900), packet(-1.0 + rtt_ms / 1e3, True, tsecr=900, tsval=None)]
    for place, seq in enumerate((1, 3, 4, 5, 6, 2)):
        stamp = sent_ms if seq == 2 else seq - (seq > 1)
        rows.append(packet(0.001 * place, True, seq_bytes=1000 * seq - 999, len_bytes=1000, tsval=stamp))
        answer = {"ack_bytes": 6001 if seq == 2 else 1001, "sack_edges": int(seq > 2)}
        rows.append(packet(0.001 * place + 0.0004, False, **answer))
    packets = pl.DataFrame(rows, schema=PACKETS, orient="row")
    assert first_loss_s(packets) == (pytest.approx(0.0034) if lost else None)
    assert first_hole_s(packets) == (pytest.approx((0.0, 0.003)) if lost else None)
