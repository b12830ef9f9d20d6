# SPDX-License-Identifier: GPL-2.0-or-later
"""Each cause of an exit, caused in the real stack: a sender's module and the watch report the same."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from lab.backends import boot
from lab.links.profile import Profile
from lab.node.plan import Plan
from lab.runs.trial import Job, prepare
from lab.senders.traced import decode
from tests.conftest import SMALL, Bench, experiment_on
from tests.exact_links import silent

REPORTER, WATCHED = "cubic_plain", "reno"
Change = Callable[[Plan], None]


def download(
    bench: Bench, folder: Path, cca: str, profile: Profile = SMALL, change: Change | None = None
) -> dict[str, pl.DataFrame]:
    """Run the plan of a profile with a change of the test's own, and decode it."""
    folder /= "trial"
    folder.mkdir()
    experiment = experiment_on(profile, cca)
    plan = prepare(Job(experiment, cca, 1, folder, bench.backend), folder)
    if change:
        change(plan)
    boot.run_plan(plan, folder, bench.kernel, bench.world.root)
    return decode(folder, json.loads((folder / "node.json").read_text()), experiment.ccas[cca].exit_causes)


def full_local_queue(plan: Plan) -> None:
    """The sender's own interface refuses the second packet that waits in it."""
    spec = {"kind": "tbf", "rate_bps": 5e6, "burst_bytes": 1600, "limit_bytes": 2000}
    plan["egress"] = [{"part": "egress", "node": "server", "dev": "eth1", "spec": spec, "steps": None}]


@pytest.mark.parametrize("cca", [REPORTER, WATCHED])
def test_a_link_that_goes_silent_ends_slow_start_by_timeout(bench: Bench, tmp_path: Path, cca: str) -> None:
    tables = download(bench, tmp_path, cca, silent(0.4, 1.4))
    (row,) = tables["exits"].to_dicts()
    (expired,) = tables["ca_states"].filter((pl.col("flow") == 1) & (pl.col("state") == "loss"))["t_s"][:1]
    assert row["cause"] == "timeout"
    assert row["t_s"] == pytest.approx(expired, abs=1e-5)
    assert row["ssthresh_pkts"] < row["cwnd_pkts"]


@pytest.mark.parametrize("cca", [REPORTER, WATCHED])
def test_a_full_local_queue_ends_slow_start_by_neither_loss_nor_rule(bench: Bench, tmp_path: Path, cca: str) -> None:
    tables = download(bench, tmp_path, cca, change=full_local_queue)
    (row,) = tables["exits"].to_dicts()
    first = tables["ca_states"].filter((pl.col("flow") == 1) & pl.col("state").is_in(["cwr", "recovery", "loss"]))
    assert first["state"][0] == "cwr"
    assert row["cause"] == "other"
    assert row["t_s"] == pytest.approx(first["t_s"][0], abs=1e-5)
