# SPDX-License-Identifier: GPL-2.0-or-later
"""The bottleneck's samples are those that the kernel took, at the times that were asked."""

import json
from pathlib import Path

import numpy as np
import pytest

from lab.backends import boot
from lab.tables.qdisc import COLUMNS, qdisc_table
from lab.tables.stored_trial import Trial
from lab.tables.trace import read_events
from tests.conftest import Bench
from tests.guest import qdiscs as guest_qdiscs

DRAFT = Path(__file__).parents[1] / "data/draft"
INTERVAL_S = json.loads((DRAFT / "plan.json").read_text())["sampler"]["interval_us"] / 1e6
SAMPLES = qdisc_table(read_events(DRAFT / "trace.raw", DRAFT / "formats"), 0)
BUFFER_BYTES = 20_000


def test_every_sample_is_there_with_every_counter() -> None:
    assert SAMPLES.columns == [*COLUMNS]
    assert SAMPLES.null_count().sum_horizontal().item() == 0
    assert SAMPLES["t_s"].diff().drop_nulls().to_numpy() == pytest.approx(INTERVAL_S, abs=5e-6)


def test_what_is_queued_stays_within_the_buffer_and_is_made_of_packets() -> None:
    assert 0 < SAMPLES["backlog_bytes"].max() <= BUFFER_BYTES  # type: ignore[operator]
    assert ((SAMPLES["backlog_bytes"] == 0) == (SAMPLES["backlog_pkts"] == 0)).all()
    assert (SAMPLES["backlog_bytes"] <= SAMPLES["backlog_pkts"] * 1514).all()


def test_counters_only_grow() -> None:
    for name in ("sent_bytes", "sent_pkts", "drops_pkts"):
        assert (SAMPLES[name].diff().drop_nulls() >= 0).all()
    assert SAMPLES["drops_pkts"][-1] == 32


def test_a_trial_is_sampled_from_before_its_first_packet_until_it_is_over(small_trial: Trial) -> None:
    t_s = small_trial.qdisc["t_s"].to_numpy()
    assert t_s[0] < 0
    steps_s = np.diff(t_s)
    assert t_s[-1] > small_trial.acks["t_s"].max() - 2 * steps_s[0]
    assert steps_s == pytest.approx(np.median(steps_s), abs=20e-6)


def test_a_sampler_ends_with_its_interface_and_needs_one(bench: Bench, tmp_path: Path) -> None:
    told = boot.call(guest_qdiscs.sampled, {}, tmp_path, bench.kernel, bench.world.root).result
    assert told["refused"] == "tbf:eth9: No such device: must be an interface, to be sampled"
    assert told["while_up"] == "eth1"
    assert told["after_its_end"] == ""
    assert not told["loaded"]
