# SPDX-License-Identifier: GPL-2.0-or-later
"""A delay line and a link follow a series, whose file is read in chunks and refused by line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lab.node.qdiscs import qdisc, series
from lab.node.system.tools import NodeError
from tests.link_bench import Spec

DELAY_LINE: Spec = {
    "kind": "delay_line",
    "limit_pkts": 1_000_000,
    "delay_us": 30_000,
    "loss_pct": 0.0,
    "frame_us": 0,
    "frame_pkts": 0,
    "late_us": 100,
    "seed": 7,
}
NETEM: Spec = {
    "kind": "netem",
    "limit_pkts": 1_000_000,
    "delay_us": 30_000,
    "loss_pct": 0.0,
    "rate_bps": 10e9,
    "seed": 7,
}


def test_the_seed_is_given_when_netem_is_made_and_not_again() -> None:
    assert "seed 7" in qdisc.command("eth2", NETEM)
    assert "seed" not in qdisc.command("eth2", NETEM, "change")


@pytest.mark.parametrize(
    ("read", "text", "words"),
    [
        (series.delay, "0\t5\n", "line 1: must have 3 fields, split by a tab"),
        (series.delay, "0\t5\t101\n", "line 1: must hold a loss of 0 to 100 %, and not '101'"),
        (series.delay, "0\t5\tnan\n", "line 1: must hold a loss of 0 to 100 %, and not 'nan'"),
        (series.delay, "0\t-5\t0\n", "line 1: must hold whole numbers from 0 on, and not '-5'"),
        (series.delay, "0\t5\t0\n", r"must close with the line <t_us>\\tend"),
        (series.capacity, "0\t5\n", r"must close with the line <t_us>\\tend"),
        (series.capacity, "0 5\n1\tend\n", "line 1: must have 2 fields, split by a tab"),
        (series.capacity, "0\t5\n1.5\t6\n2\tend\n", r"line 2: must hold whole numbers from 0 on, and not '1.5'"),
        (series.capacity, "0\t-1\n2\tend\n", "line 1: must hold whole numbers from 0 on, and not '-1'"),
        (series.capacity, "0\tnan\n2\tend\n", "line 1: must hold whole numbers from 0 on, and not 'nan'"),
        (series.capacity, "5\tend\n", "line 1: must begin with a step"),
    ],
)
def test_a_file_that_is_no_series_is_refused_by_line(
    tmp_path: Path, read: Callable[[series.Line], tuple[int, ...]], text: str, words: str
) -> None:
    file = tmp_path / "series.tsv"
    file.write_text(text)
    with pytest.raises(NodeError, match=rf"^series\.tsv: {words}$"):
        list(series.chunks(file, 2, read))


def test_chunks_hold_every_step_once(tmp_path: Path) -> None:
    file = tmp_path / "series.tsv"
    file.write_text("".join(f"{t}\t{t * 2}\n" for t in range(7)) + "9\tend\n")
    chunks = list(series.chunks(file, 3, series.capacity))
    assert [len(chunk.steps) for chunk in chunks] == [3, 3, 1]
    assert [step for chunk in chunks for step in chunk.steps] == [(1000 * t, t * 2) for t in range(7)]
    assert [chunk.end_ns for chunk in chunks] == [None, None, 9000]
