# SPDX-License-Identifier: GPL-2.0-or-later
"""A kind of queue is one file: its table gives the profile's fields, tc's command and the read-back of a real trial."""

import csv
import json

import pytest

from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.tables.stored_trial import Trial
from tests.copied_tree import CopiedTree

KIND = '''# SPDX-License-Identifier: GPL-2.0-or-later
"""First in, first out, counted in packets; drops the oldest when it is full."""

from lab.node.qdiscs.qdisc_kind import TcKind, limit_pkts

KIND = TcKind((limit_pkts(),), queue="First in, first out; drops at the head.", built_in=True)
'''
PROFILE = """# SPDX-License-Identifier: GPL-2.0-or-later
title: a small path with the added queue
down:
  rate_mbps: 20
  delay_ms: 50
  buffer_bytes: 500000
  queue: {kind: pfifo_head_drop, limit_pkts: LIMIT}
up:
  delay_ms: 50
recorded: []
assumed: [everything]
"""
SCENARIO = """# SPDX-License-Identifier: GPL-2.0-or-later
question: Does an added queue work?
topology: path
profile: head-drop
ccas: [cubic_plain]
trials: 1
duration_s: 3
seed: 1
"""
LIMIT_PKTS = 123


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> CopiedTree:
    """A checkout with the kind, a profile that has it, and a scenario over that."""
    assert kernel
    assert world
    copied = CopiedTree(tmp_path_factory.mktemp("added"))
    copied.write("lab/node/qdiscs/kinds/pfifo_head_drop.py", KIND)
    copied.write("trace-profiles/head-drop.yml", PROFILE.replace("LIMIT", str(LIMIT_PKTS)))
    copied.write("lab/scenarios/mine.yml", SCENARIO)
    return copied


@pytest.fixture(scope="module")
def trial(tree: CopiedTree) -> Trial:
    tree.lab("check")
    tree.lab("run", "mine")
    (folder,) = (tree.results / "mine").glob("[0-9]*/trials/cubic_plain-001")
    return Trial(folder)


def test_a_trial_behind_an_added_queue_is_valid_and_it_is_planned_read_back_and_holds_its_limit(trial: Trial) -> None:
    assert trial.valid
    (bottleneck,) = (shape for shape in trial.meta["applied"] if shape["part"] == "bottleneck")
    assert bottleneck["got"]["child"] == {"limit_pkts": LIMIT_PKTS}
    assert trial.qdisc["backlog_pkts"].max() == LIMIT_PKTS
    assert trial.qdisc["drops_pkts"].max() > 0  # type: ignore[operator]
    plan = json.loads((trial.path / "plan.json").read_text())
    specs = [shape["spec"] for shape in plan["shapes"]]
    assert {"kind": "pfifo_head_drop", "limit_pkts": LIMIT_PKTS} in [spec.get("child") for spec in specs]


def test_the_summary_and_the_page_have_the_sender_behind_the_added_queue(trial: Trial) -> None:
    run = trial.path.parents[1]
    assert {row["cca"] for row in csv.DictReader((run / "summary.csv").open())} == {"cubic_plain"}
    assert "1 of 1 trials are valid" in (run / "report.html").read_text()


@pytest.mark.parametrize(("limit", "rule"), [("0", "greater than or equal to 1"), (str(2**31), "less than 2147483648")])
def test_the_bounds_of_an_added_queue_hold(tree: CopiedTree, limit: str, rule: str) -> None:
    tree.write("trace-profiles/wrong.yml", PROFILE.replace("LIMIT", limit))
    refused = tree.refused("check")
    (tree.path / "trace-profiles/wrong.yml").unlink()
    assert f"trace-profiles/wrong.yml: down.queue.pfifo_head_drop.limit_pkts={limit}: must be {rule}" in refused
