# SPDX-License-Identifier: GPL-2.0-or-later
"""The bottleneck's samples are those that the kernel took, at the requested times."""

from pathlib import Path

import numpy as np
import pytest

from lab.backends import boot
from lab.tables.stored_trial import Trial
from tests.conftest import Bench
from tests.guest import qdiscs as guest_qdiscs


def test_a_trial_is_sampled_from_before_its_first_packet_until_it_is_over(small_trial: Trial) -> None:
    t_s = small_trial.qdisc["t_s"].to_numpy()
    assert t_s[0] < 0
    steps_s = np.diff(t_s)
    assert t_s[-1] > small_trial.acks["t_s"].max() - 2 * steps_s[0]
    assert steps_s == pytest.approx(np.median(steps_s), abs=20e-6)


def test_a_sampler_ends_with_its_interface_and_needs_one(bench: Bench, tmp_path: Path) -> None:
    reported = boot.call(guest_qdiscs.sampled, {}, tmp_path, bench.kernel, bench.world.root).result
    assert reported["refused"] == "tbf:eth9: No such device: must be an interface, to be sampled"
    assert reported["while_up"] == "eth1"
    assert reported["after_its_end"] == ""
    assert not reported["loaded"]
