# SPDX-License-Identifier: GPL-2.0-or-later
"""Each flow's first exit from slow start: when, with what window, and why."""

import json
from pathlib import Path

import numpy as np
import pytest

from lab.schema.cca import load_ccas
from lab.senders.traced import decode
from lab.tables.acks import Clock
from lab.tables.columns import schema
from lab.tables.exits import BINS, EXIT_EVENT, EXITS, exit_table

DRAFT = Path(__file__).parents[1] / "data" / "draft"
TABLES = decode(DRAFT, json.loads((DRAFT / "node.json").read_text()), {})
CLOCK = Clock(0, {40000: 0, 40001: 1})


def reported(*exits: tuple[float, str], dport: int = 40001, late_ms: int = 0) -> dict[str, np.ndarray]:
    """What a sender's module, or the one that watches it, reports: (time, cause) of each exit."""
    kind = [("t_ns", "<i8"), ("dport", "<u2"), ("cwnd_pkts", "<u4"), ("ssthresh_pkts", "<u4"), ("rtt_us", "<u4")]
    rows = [(round(t_s * 1e9), dport, 77, 66, 123_000, cause.encode(), late_ms * 10**6) for t_s, cause in exits]
    return {EXIT_EVENT: np.array(rows, dtype=[*kind, ("cause", "S16"), ("late_ns", "<u8")])}


def causes(events: dict[str, np.ndarray], sender: str) -> list[str]:
    return exit_table(events, CLOCK, load_ccas()[sender].exit_causes)["cause"].to_list()


def test_an_exit_has_all_its_columns_and_its_own_time_also_where_it_was_seen_late() -> None:
    found = exit_table(reported((0.15, "search")), CLOCK, {})
    assert found.to_dicts() == [
        {"t_s": 0.15, "flow": 1, "cwnd_pkts": 77, "ssthresh_pkts": 66, "rtt_ms": 123.0, "cause": "search"}
    ]
    assert exit_table(reported((0.15, "own"), late_ms=50), CLOCK, {})["t_s"].to_list() == [pytest.approx(0.1)]
    exits = reported((0.15, "timeout"))
    exits[EXIT_EVENT]["rtt_us"] = 0
    assert exit_table(exits, CLOCK, {})["rtt_ms"].to_list() == [None]


@pytest.mark.parametrize(
    ("sender", "reports", "found"),
    [
        *(("cubic", cause, cause) for cause in ("search", "hystartpp", "loss", "timeout", "other", "a_rule_of_mine")),
        ("cubic", "own", "hystart"),  # what a watched sender did of its own accord is its rule
        ("bbr", "own", "bbr"),
        ("vegas", "own", "vegas"),
        ("cdg", "other", "cdg"),  # a rule that works through CWR is the cause of CWR
        ("dctcp", "other", "ecn"),
    ],
)
def test_a_cause_is_what_the_module_reported_or_the_senders_rule(sender: str, reports: str, found: str) -> None:
    assert causes(reported((0.15, reports)), sender) == [found]
    assert causes(reported((0.15, reports), (0.9, "search")), sender) == [found]  # the first exit is the exit


def test_a_flow_that_never_leaves_slow_start_has_no_row_and_the_control_connection_neither() -> None:
    found = exit_table(reported(), CLOCK, {})
    assert found.is_empty()
    assert found.schema == schema(EXITS)
    assert exit_table(reported((0.15, "loss"), dport=40000), CLOCK, {}).is_empty()


def test_bins_of_a_real_search_download_follow_each_other_and_its_early_loss_is_its_exit() -> None:
    bins = TABLES["bins"]
    assert bins.schema == schema(BINS)
    assert bins.height == 11
    assert (bins["bin"].diff().drop_nulls() > 0).all()
    assert bins["bin_ms"].unique().len() == 1
    assert bins["bin_ms"][0] == pytest.approx(0.35 * 100, rel=0.02)  # 3.5 initial round trips in 10 bins
    assert bins["norm_pct"].null_count() == bins["curr_delv_bytes"].null_count()
    assert not bins["exit"].any()
    assert TABLES["exits"]["cause"].to_list() == ["loss"]
