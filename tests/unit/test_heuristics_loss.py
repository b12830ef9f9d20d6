# SPDX-License-Identifier: GPL-2.0-or-later
"""The first loss: which ACKs are duplicates, and whether the bottleneck agrees."""

from typing import Any

import polars as pl
import pytest

from lab.judge.loss import SLACK_S, agrees_with_drops, first_drop_s, first_loss_s, first_mark_s
from tests.slow_start_model import ACK, ECE, PACKETS, Path, download, packet

FIN, SYN, RST = 0x01, 0x02, 0x04  # RFC 9293, section 3.1


def acks(*fields: dict[str, Any]) -> pl.DataFrame:
    """One packet from the client each second, an ACK of byte 1000 unless its fields say otherwise."""
    rows = [packet(float(n), False, **({"ack_bytes": 1000} | given)) for n, given in enumerate(fields)]
    return pl.DataFrame(rows, schema=PACKETS, orient="row")


SAME: dict[str, Any] = {}


UPDATES = [{"window_bytes": 65535 + 1000 * n} for n in range(8)]


@pytest.mark.parametrize(
    ("fields", "found_s"),
    [
        ([SAME] * 5, 3.0),  # the third duplicate is the fourth ACK of a number
        ([SAME, SAME, SAME, {"ack_bytes": 2000}, {"ack_bytes": 2000}], None),  # reordering, and not loss
        (UPDATES, None),  # of the window: no duplicates
        ([SAME, SAME, SAME, UPDATES[7], UPDATES[7]], 4.0),  # one among duplicates does not start the count again
        ([SAME, *(update | {"sack_edges": 1} for update in UPDATES[:4])], 3.0),  # with SACK the window may change
        ([{"len_bytes": 37}] * 6, None),  # packets with payload
        *(([SAME, SAME, SAME, {"flags": ACK | flag}], None) for flag in (FIN, SYN, RST)),
    ],
)
def test_the_first_loss_is_the_third_duplicate_ack(fields: list[dict[str, Any]], found_s: float | None) -> None:
    assert first_loss_s(acks(*fields)) == found_s


def test_the_first_loss_is_of_acks_with_sack_and_the_first_drop_of_a_sample() -> None:
    packets = acks(*[SAME] * 6)
    assert first_loss_s(packets.with_columns(to_client=True)) is None
    assert first_loss_s(packets.with_columns(flow=pl.lit(0, pl.UInt8))) is None
    assert first_loss_s(packets.with_columns(sack_edges=pl.lit(None, pl.UInt8))) == 3.0
    assert first_drop_s(queue(0, 0, 3, 9)) == 2.0
    assert first_drop_s(queue(0, 0)) is None
    assert agrees_with_drops(None, queue(0, 0, 1), base_rtt_ms=600, drain_s=2.0, end_s=4.0)


def queue(*drops_pkts: int) -> pl.DataFrame:
    return pl.DataFrame({"t_s": [float(n) for n in range(len(drops_pkts))], "drops_pkts": drops_pkts})


@pytest.mark.parametrize(
    ("loss_s", "drops", "agrees", "why"),
    [
        (None, (0, 0, 0), True, "nothing dropped, nothing lost"),
        (1.5, (0, 0, 0), False, "a loss that the bottleneck did not cause"),
        (3.5, (0, 1, 1), True, "dropped, and seen when the queue before it had drained"),
        (0.5, (0, 1, 1), False, "lost before anything was dropped"),
        (1.0 - SLACK_S, (0, 1, 1), True, "lost just before the sample that shows the drop"),
        (1.0 + 2.0 + 0.6 + SLACK_S, (0, 1, 1), True, "seen when the queue and the path had just drained"),
        (9.0, (0, 1, 1), False, "lost long after the drop must have shown"),
        (None, (0, 1, 1), False, "a drop that the client never noticed"),
    ],
)
def test_first_loss_and_first_drop_must_explain_each_other(
    loss_s: float | None, drops: tuple[int, ...], agrees: bool, why: str
) -> None:
    found = agrees_with_drops(loss_s, queue(*drops), base_rtt_ms=600, drain_s=2.0, end_s=30.0)
    assert found is agrees, why


def test_in_a_modelled_overflow_the_client_sees_the_drop_after_the_queue_has_drained() -> None:
    path = Path()
    tables = download(path).tables()
    drain_s = path.buffer_bytes * 8 / (path.rate_mbps * 1e6)
    loss_s, drop_s = first_loss_s(tables["packets"]), first_drop_s(tables["qdisc"])
    assert loss_s is not None
    assert drop_s is not None
    assert drop_s + drain_s < loss_s
    assert agrees_with_drops(loss_s, tables["qdisc"], path.base_rtt_ms, drain_s, path.duration_s)


@pytest.mark.parametrize(
    ("fields", "found_s"),
    [
        ([SAME, {"flags": ACK | ECE}, {"flags": ACK | ECE}], 1.0),
        ([{"flags": SYN | ECE}, {"flags": ACK}], None),  # a SYN's flag asks for ECN
        ([SAME, SAME], None),
    ],
)
def test_the_first_mark_is_the_first_ack_that_echoes_one(fields: list[dict[str, Any]], found_s: float | None) -> None:
    assert first_mark_s(acks(*fields)) == found_s
    assert first_mark_s(acks(*fields).with_columns(to_client=True)) is None
