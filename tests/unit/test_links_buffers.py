# SPDX-License-Identifier: GPL-2.0-or-later
"""What a bottleneck's queue may hold, in bytes and in whole frames; and the most that a link can send in a span."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from lab.links.draw import Link, draw_link
from lab.links.shapes import qdiscs, shapes, write_steps
from lab.schema.topology import load_topology
from lab.tables.link_capacity import LinkCapacity
from tests.brief import error_of
from tests.unit.test_links_draw import SIMPLE, drawn, profile, refusal

BUFFER_BYTES: int = SIMPLE["buffer_bytes"]
USUAL, JUMBO, SMALL = 1514, 9014, 590  # bytes of a frame


def bottleneck(folder: Path, down: dict[str, Any], frame_bytes: int) -> tuple[Link, dict[str, Any]]:
    requested = profile(folder, SIMPLE | down)
    link = draw_link(requested, 10.0, np.random.default_rng(1), frame_bytes)
    return link, qdiscs(requested, link, 1)[0][1]


@pytest.mark.parametrize("kind", ["pfifo", "codel", "pie"])
@pytest.mark.parametrize(
    ("frame_bytes", "limit", "held_pkts"),
    [(USUAL, {}, 33), (JUMBO, {}, 5), (SMALL, {}, 84), (USUAL, {"limit_pkts": 33}, 33), (USUAL, {"limit_pkts": 7}, 7)],
)
def test_a_queue_that_counts_packets_holds_full_frames_and_the_link_states_their_bytes(
    tmp_path: Path, kind: str, frame_bytes: int, limit: dict[str, int], held_pkts: int
) -> None:
    link, spec = bottleneck(tmp_path, {"queue": {"kind": kind} | limit}, frame_bytes)
    assert spec["child"]["limit_pkts"] == held_pkts
    assert link.buffer_bytes == spec["limit_bytes"] == held_pkts * frame_bytes <= BUFFER_BYTES


@pytest.mark.parametrize("kind", ["bfifo", "fq_codel", "cake"])
def test_a_queue_that_counts_bytes_has_those_of_its_profile(tmp_path: Path, kind: str) -> None:
    assert bottleneck(tmp_path, {"queue": {"kind": kind}}, JUMBO)[0].buffer_bytes == BUFFER_BYTES


@pytest.mark.parametrize(
    ("down", "frame_bytes", "words"),
    [
        (
            {"queue": {"kind": "pie", "limit_pkts": 34}},
            USUAL,
            "queue.limit_pkts=34: must be at most 33: a buffer of 50000 bytes holds no more frames of 1514",
        ),
        ({"queue": {"kind": "pfifo", "limit_pkts": 6}}, JUMBO, "queue.limit_pkts=6: must be at most 5: "),
        (
            {"buffer_bytes": 2303, "queue": {"kind": "cake"}},
            USUAL,
            "queue=cake: must be one with a buffer of at least 2304 bytes: it counts memory",
        ),
        (
            {"buffer_bytes": 2303, "queue": {"kind": "fq_codel"}},
            USUAL,
            "queue=fq_codel: must be one with a buffer of at least 2304 bytes",
        ),
        (
            {"buffer_bytes": 3027, "queue": {"kind": "disturb", "hold_every_pkts": 9}},
            USUAL,
            "queue=disturb: must be one with a buffer of two frames where it holds packets",
        ),
        ({"buffer_bytes": 9013}, JUMBO, "buffer_bytes=9013: must be at least one frame of 9014 bytes"),
    ],
)
def test_a_buffer_that_holds_less_than_is_requested_is_refused(
    tmp_path: Path, down: dict[str, Any], frame_bytes: int, words: str
) -> None:
    assert f"mine.yml: down.{words}" in error_of(bottleneck, tmp_path, down, frame_bytes)


@pytest.mark.parametrize(("frame_bytes", "burst_bytes"), [(SMALL, 1600), (USUAL, 1600), (JUMBO, JUMBO)])
def test_a_constant_rate_passes_the_largest_frame(tmp_path: Path, frame_bytes: int, burst_bytes: int) -> None:
    _, spec = bottleneck(tmp_path, {}, frame_bytes)
    assert (spec["kind"], spec["burst_bytes"]) == ("tbf", burst_bytes)


@pytest.mark.parametrize("frame_bytes", [SMALL, USUAL, JUMBO])
@pytest.mark.parametrize(
    ("queue", "name"),
    [({"kind": "fq_codel"}, "quantum_bytes"), ({"kind": "red", "min_share": 0.3, "max_share": 0.8}, "avpkt_bytes")],
)
def test_a_queue_counts_with_the_frames_of_its_wires(
    tmp_path: Path, frame_bytes: int, queue: dict[str, Any], name: str
) -> None:
    _, spec = bottleneck(tmp_path, {"queue": queue}, frame_bytes)
    assert spec["child"][name] == max(frame_bytes, USUAL)  # an end may send smaller ones over the same wires


@pytest.mark.parametrize(
    ("buffer_bytes", "rule"),
    [
        (15_140, "one whose min_share of the buffer is more than the largest frame"),
        (15_200, None),
        (2_330_000, None),
        (2_331_000, "one whose max_share the kernel's average can follow: take a smaller share or buffer"),
    ],
)
def test_a_buffer_in_which_tc_or_the_kernel_refuse_the_thresholds_of_red_is_refused_when_it_is_drawn(
    tmp_path: Path, buffer_bytes: int, rule: str | None
) -> None:
    queue = {"kind": "red", "min_share": 0.1, "max_share": 0.9}
    requested = profile(tmp_path, SIMPLE | {"buffer_bytes": buffer_bytes, "queue": queue})
    if rule is None:
        assert drawn(requested).buffer_bytes == buffer_bytes
    else:
        assert f"down.queue=red: must be {rule} (buffer: {buffer_bytes} bytes, frame: 1514)" in refusal(requested)


@pytest.mark.parametrize(
    ("down", "kind"),
    [
        ({"buffer_bytes": 1514}, "replay"),  # below its burst
        ({"buffer_bytes": 1599}, "replay"),
        ({"buffer_bytes": 1600}, "tbf"),
        ({"rate_mbps": 0.030005}, "replay"),  # no whole bytes a second
        ({"rate_mbps": 0.03}, "tbf"),
        ({"rate_mbps": 0.300005}, "tbf"),  # off by less than what is read back may be
    ],
)
def test_a_bottleneck_that_tbf_does_not_hold_as_it_is_stated_has_a_clock_of_its_own(
    tmp_path: Path, down: dict[str, Any], kind: str
) -> None:
    found = profile(tmp_path, SIMPLE | down, {"delay_ms": 10})
    link = draw_link(found, 10, np.random.default_rng(1))
    (bottleneck,) = (
        each["spec"] for each in shapes(found, link, load_topology("path", "test"), 1) if each["part"] == "bottleneck"
    )
    assert (bottleneck["kind"], bottleneck["limit_bytes"]) == (kind, (SIMPLE | down)["buffer_bytes"])


@pytest.mark.parametrize(("lines", "packets_a_second"), [("1", 1000), ("0 3 10 10", 400), ("7 500 1000", 3)])
def test_a_loop_of_few_opportunities_counts_its_last_one_in_its_mean_rate(
    tmp_path: Path, lines: str, packets_a_second: float
) -> None:
    (tmp_path / "mine.trace").write_text("\n".join(lines.split()) + "\n")
    trace = {"file": "mine.trace", "format": "mahimahi", "loop": True}
    link = drawn(profile(tmp_path, {"opportunities": trace, "delay_ms": 90, "buffer_bdps": 10}))
    assert link.down.buffer_bytes == round(10 * packets_a_second * 1514 * 0.1)
    assert link.mean_rate_mbps == pytest.approx(packets_a_second * 1514 * 8e-6, rel=0.05)


def test_opportunities_of_a_few_bytes_carry_as_much_as_their_scale_states(tmp_path: Path) -> None:
    (tmp_path / "mine.trace").write_text("1\n")
    trace = {"file": "mine.trace", "format": "mahimahi", "loop": True, "scale": 0.001}  # 1.514 bytes each time
    found = profile(tmp_path, {"opportunities": trace, "delay_ms": 90, "buffer_bytes": 50_000})
    write_steps(found, drawn(found), tmp_path / "link")
    lines = (tmp_path / "link/bottleneck.tsv").read_text().splitlines()[1:-1]
    assert sum(int(line.split("\t")[1]) for line in lines) == pytest.approx(1.514 * len(lines), abs=1)


RATE, OPPORTUNITIES = "down.rate_mbps", "down.opportunity_bytes"


def link(quantity: str, rows: list[tuple[float, float]]) -> LinkCapacity:
    table = pl.DataFrame(rows, schema=["t_s", "value"], orient="row").cast(pl.Float64)
    return LinkCapacity(table.select(pl.lit(quantity).alias("quantity"), "t_s", "value"))


@pytest.mark.parametrize(
    ("quantity", "rows", "span_s", "most_bytes"),
    [
        (RATE, [(0, 8)], 0.5, 500_000),
        (RATE, [(0, 1), (10, 8), (11, 1)], 2, 1_125_000),
        (RATE, [(0, 4), (10, 8), (11, 1)], 2, 1_500_000),  # the span that ends with the fastest second
        (RATE, [(0, 8), (1, 0), (2, 8)], 1.5, 1_500_000),  # at the end the last rate holds
        (OPPORTUNITIES, [(0, 1514), (0.02, 75_700), (0.04, 75_700)], 0.001, 75_700),
        (OPPORTUNITIES, [(0, 1514), (0.02, 75_700), (0.04, 75_700)], 0.03, 151_400),
        (OPPORTUNITIES, [(0, 1514)], 0.01, 1514),
    ],
)
def test_the_most_of_a_span_is_found_wherever_the_span_begins(
    quantity: str, rows: list[tuple[float, float]], span_s: float, most_bytes: float
) -> None:
    found = link(quantity, rows)
    assert found.most_bytes_in(span_s) == pytest.approx(most_bytes, rel=1e-6)
    begins_s = np.arange(-1, 13, 0.0005) + 0.00025
    tried = found.sent_bytes(begins_s + span_s) - found.sent_bytes(begins_s)
    assert tried.max() <= found.most_bytes_in(span_s) * (1 + 1e-6)
