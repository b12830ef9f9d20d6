# SPDX-License-Identifier: GPL-2.0-or-later
"""A delay line that follows a series: known delay and loss in, measured delay, order and loss out."""

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
    ("text", "words"),
    [
        ("0\t5\n", "line 1: must have 3 fields, split by a tab"),
        ("0\t5\t101\n", "line 1: must hold a loss of 0 to 100 %, and not '101'"),
        ("0\t5\tnan\n", "line 1: must hold a loss of 0 to 100 %, and not 'nan'"),
        ("0\t-5\t0\n", "line 1: must hold whole numbers from 0 on, and not '-5'"),
        ("0\t5\t0\n", r"must close with the line <t_us>\\tend"),
    ],
)
def test_a_file_that_holds_no_delays_is_refused_by_line(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "delays.tsv"
    file.write_text(text)
    with pytest.raises(NodeError, match=rf"^delays\.tsv: {words}$"):
        list(series.chunks(file, 10, series.delay))
