# SPDX-License-Identifier: GPL-2.0-or-later
"""The bottleneck's samples are those that the kernel took, at the requested times."""

import json
from pathlib import Path

import pytest

from lab.tables.qdisc import COLUMNS, qdisc_table
from lab.tables.trace import read_events

DRAFT = Path(__file__).parents[1] / "data/draft"
INTERVAL_S = json.loads((DRAFT / "plan.json").read_text())["sampler"]["interval_us"] / 1e6
SAMPLES = qdisc_table(read_events(DRAFT / "trace.raw", DRAFT / "formats"), 0)
BUFFER_BYTES = 20_000


def test_every_sample_is_there_with_every_counter_which_only_grow_and_the_queue_within_the_buffer() -> None:
    assert SAMPLES.columns == [*COLUMNS]
    assert SAMPLES.null_count().sum_horizontal().item() == 0
    assert SAMPLES["t_s"].diff().drop_nulls().to_numpy() == pytest.approx(INTERVAL_S, abs=5e-6)
    assert 0 < SAMPLES["backlog_bytes"].max() <= BUFFER_BYTES  # type: ignore[operator]
    assert ((SAMPLES["backlog_bytes"] == 0) == (SAMPLES["backlog_pkts"] == 0)).all()
    assert (SAMPLES["backlog_bytes"] <= SAMPLES["backlog_pkts"] * 1514).all()
    for name in ("sent_bytes", "sent_pkts", "drops_pkts"):
        assert (SAMPLES[name].diff().drop_nulls() >= 0).all()
    assert SAMPLES["drops_pkts"][-1] == 32
