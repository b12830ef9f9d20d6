# SPDX-License-Identifier: GPL-2.0-or-later
"""Each cause of an exit, brought about in the real stack: told alike by a sender's module and by the watch."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from lab import virtual
from lab.plan import draw, make_plan
from lab.tests.conftest import SMALL, Bench, experiment_on
from lab.trial import decode

TELLER, WATCHED = "cubic_plain", "reno"
Change = Callable[[dict[str, Any]], None]


def download(bench: Bench, folder: Path, cca: str, change: Change) -> dict[str, pl.DataFrame]:
    """Run the small plan with a change of the test's own, and decode it."""
    experiment = experiment_on(SMALL, cca)
    plan = make_plan(experiment, experiment.ccas[cca], draw(experiment, 1))
    change(plan)
    folder /= "trial"
    folder.mkdir()
    virtual.run_plan(plan, folder, bench.kernel, bench.world.root)
    return decode(folder, json.loads((folder / "node.json").read_text()), experiment.ccas[cca].slow_start_exit)


def silence(plan: dict[str, Any]) -> None:
    """From 0.4 s to 1.4 s nothing reaches the client."""
    (down,) = (shape for shape in plan["shapes"] if shape["part"] == "delay-down")
    steps = [{"at_s": at_s, "spec": down["spec"] | {"loss_pct": loss}} for at_s, loss in ((0.4, 100.0), (1.4, 0.0))]
    plan["changes"] = [{key: down[key] for key in ("part", "node", "dev")} | {"steps": steps}]


def full_local_queue(plan: dict[str, Any]) -> None:
    """The sender's own interface refuses the second packet that waits in it."""
    spec = {"kind": "tbf", "rate_bps": 5e6, "burst_bytes": 1600, "limit_bytes": 2000}
    plan["egress"] = [{"part": "egress", "node": "server", "dev": "eth1", "spec": spec}]


@pytest.mark.parametrize("cca", [TELLER, WATCHED])
def test_a_link_that_goes_silent_ends_slow_start_by_timeout(bench: Bench, tmp_path: Path, cca: str) -> None:
    tables = download(bench, tmp_path, cca, silence)
    (row,) = tables["exits"].to_dicts()
    (expired,) = tables["ca_states"].filter((pl.col("flow") == 1) & (pl.col("state") == "loss"))["t_s"][:1]
    assert row["cause"] == "timeout"
    assert row["t_s"] == pytest.approx(expired, abs=1e-5)
    assert row["ssthresh_pkts"] < row["cwnd_pkts"]


@pytest.mark.parametrize("cca", [TELLER, WATCHED])
def test_a_full_local_queue_ends_slow_start_by_neither_loss_nor_rule(bench: Bench, tmp_path: Path, cca: str) -> None:
    tables = download(bench, tmp_path, cca, full_local_queue)
    (row,) = tables["exits"].to_dicts()
    first = tables["ca_states"].filter((pl.col("flow") == 1) & pl.col("state").is_in(["cwr", "recovery", "loss"]))
    assert first["state"][0] == "cwr"
    assert row["cause"] == "other"
    assert row["t_s"] == pytest.approx(first["t_s"][0], abs=1e-5)
