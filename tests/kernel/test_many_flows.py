# SPDX-License-Identifier: GPL-2.0-or-later
"""Many downloads on one link: each is begun, traced and measured by itself, and they share what there is."""

from typing import Any

import polars as pl
import pytest

from lab.evaluation.shares import jain, shares_of
from lab.judge.outcome import outcome
from lab.runs.experiment import load_experiment
from lab.tables.stored_trial import Trial
from tests.conftest import Bench

COUNT = 32
SEGMENT_SHARE = 1448 / 1514  # payload of a frame


@pytest.fixture(scope="module")
def shared(bench: Bench) -> Trial:
    """32 downloads by CUBIC over 100 Mb/s, eight of which begin 2 s later."""
    entries = [{"cca": "cubic", "count": COUNT - 9}, {"cca": "cubic", "count": 8, "start_s": 2}]
    fields: dict[str, Any] = {"rivals": entries, "ccas": ["cubic"], "duration_s": 8}
    return bench.run(load_experiment("share-32", fields), "cubic", "many-flows")


def test_each_of_32_downloads_is_measured_and_the_trial_is_valid(shared: Trial) -> None:
    assert shared.valid, shared.meta["certificate"]
    flows = shared.meta["flows"]
    assert [flow["flow"] for flow in flows] == list(range(1, COUNT + 1))
    assert [flow["seconds"] for flow in flows] == pytest.approx([8] * (COUNT - 8) + [6] * 8)
    for flow in flows[-8:]:
        assert flow["data_s"] - flows[0]["data_s"] == pytest.approx(2, abs=0.5)  # its handshake waits in the queue
    assert all(flow["bytes"] > 100_000 for flow in flows)


def test_equal_senders_fill_and_share_the_link_and_agree_with_iperf3(shared: Trial) -> None:
    found = shares_of(shared)
    index = jain(found.rates_mbps)
    assert index is not None
    assert 0.7 < index <= 1
    assert sum(found.rates_mbps) == pytest.approx(100 * SEGMENT_SHARE, rel=0.05)
    # iperf3 reads whole blocks, and counts until its own end; the trace has a row per buffer, and ends earlier.
    for flow in shared.meta["flows"][1:]:
        if "error" not in flow["iperf3"]:
            assert flow["bytes"] == pytest.approx(flow["iperf3"]["bytes"], abs=2_000_000)
            assert flow["retransmits_pkts"] <= flow["iperf3"]["retransmits_pkts"]


def test_the_tables_know_each_download_and_the_capture_holds_the_one_under_test_alone(shared: Trial) -> None:
    assert shared.acks["flow"].unique().sort().to_list() == list(range(1, COUNT + 1))
    assert shared.exits["flow"].n_unique() == COUNT
    assert set(shared.packets["flow"].drop_nulls().unique()) <= {0, 1}
    (own,) = {row["exit_s"] for row in outcome(shared)}
    assert own == shared.exits.filter(pl.col("flow") == 1)["t_s"][0]
