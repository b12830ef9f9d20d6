# SPDX-License-Identifier: GPL-2.0-or-later
"""A sender, a version of SEARCH and a queue are each one file: from lab check to the page."""

import csv
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from lab.base.paths import REPO
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.tables.stored_trial import Trial

LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", "results", "mutants", "tests", ".*_cache")


class CopiedTree:
    """The copy at `path`; its results lie in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.path, self.results = folder / "tree", folder / "results"
        shutil.copytree(REPO, self.path, ignore=LEFT_OUT, symlinks=True)
        (self.path / ".venv").symlink_to((REPO / ".venv").resolve())

    def write(self, file: str, content: str) -> None:
        (self.path / file).write_text(content)

    def append(self, file: str, content: str) -> None:
        with (self.path / file).open("a") as stream:
            stream.write(content)

    def lab(self, *words: str) -> str:
        """Run `lab` of the copy, which must succeed, and return what it printed."""
        done = self._run(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def refused(self, *words: str) -> str:
        """Run `lab` of the copy, which must refuse, and return its messages."""
        done = self._run(*words)
        assert done.returncode == 2, done.stdout + done.stderr
        return done.stderr

    def _run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self.path / "scripts" / "lab", *words],
            cwd=self.path,
            env=os.environ | {"LAB_RESULTS": str(self.results), "COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=False,
        )


# Leaves slow start with a window of 64 packets, and calls that "window_of_64".
SENDER = """// SPDX-License-Identifier: GPL-2.0-or-later
/* TCP "capped": the kernel's CUBIC, which leaves slow start at a fixed window. */
#define KERNEL_CUBIC_OPS capped
#include "kernel_cubic.h"

#include "slow_start.h"

static void capped_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = tcp_sk(sk);

	cubictcp_acked(sk, sample);
	if (!tcp_in_slow_start(tp) || tcp_snd_cwnd(tp) < 64)
		return;
	tp->snd_ssthresh = tcp_snd_cwnd(tp);
	slow_start_left(sk, tcp_snd_cwnd(tp), tp->rack.rtt_us, "window_of_64");
}

static struct tcp_congestion_ops capped __read_mostly = {
	.init		= cubictcp_init,
	.ssthresh	= cubictcp_recalc_ssthresh,
	.cong_avoid	= cubictcp_cong_avoid,
	.set_state	= cubictcp_state,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cwnd_event	= cubictcp_cwnd_event,
	.pkts_acked	= capped_acked,
	.owner		= THIS_MODULE,
	.name		= "capped",
};

static int __init capped_init(void)
{
	return kernel_cubic_register();
}

module_init(capped_init);
module_exit(kernel_cubic_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP CUBIC that leaves slow start at a window of 64 packets");
"""
VERSION = """// SPDX-License-Identifier: GPL-2.0-or-later
/* TCP "search_mine": Algorithm 1 with a window of 12 bins and a threshold of 10 %. */
#define SEARCH_NAME "search_mine"
#define SEARCH_VERSION {						\\
	.expected = SEARCH_TWICE_DELIVERED,				\\
	.window_factor_tenths = 35,					\\
	.bins = 12,							\\
	.extra_bins = 15,						\\
	.threshold_pct = 10,						\\
	.interpolation = SEARCH_FRACTION,				\\
}
#include "tcp_search.h"
"""
STANZAS = """
capped:
  label: CUBIC with a window of 64
  algorithm: capped
  module: tcp_capped
  reports_exit: true
  slow_start_exit: window_of_64
  exit_label: a window of 64 packets

search_mine:
  label: SEARCH 9
  algorithm: search_mine
  module: tcp_search_mine
  reports_exit: true
  slow_start_exit: search
"""
SCENARIO = """# SPDX-License-Identifier: GPL-2.0-or-later
question: Do added senders run?
topology: path
profile: wired-clean
ccas: [capped, search_mine]
trials: 1
duration_s: 3
seed: 1
replayed: [search_mine]
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, world: Image) -> CopiedTree:
    """A checkout with both senders added, and a finished run of them."""
    assert world
    copied = CopiedTree(tmp_path_factory.mktemp("added"))
    copied.write("lab/kernel/search/tcp_capped.c", SENDER)
    copied.write("lab/kernel/search/tcp_search_mine.c", VERSION)
    copied.append("lab/cca.yml", STANZAS)
    copied.write("lab/scenarios/mine.yml", SCENARIO)
    copied.lab("check")
    copied.lab("run", "mine")
    return copied


def exit_of(tree: CopiedTree, sender: str) -> dict[str, object]:
    (folder,) = (tree.results / "mine").glob(f"[0-9]*/trials/{sender}-001")
    trial = Trial(folder)
    assert trial.valid
    (row,) = trial.exits.filter(pl.col("flow") == 1).to_dicts()
    return row


def test_added_senders_are_listed_and_shown_with_what_is_their_files(tree: CopiedTree) -> None:
    listed = tree.lab("senders", "list")
    assert re.search(r"^capped .*\n +exit: a window of 64 packets *$", listed, re.MULTILINE)
    assert re.search(r"^search_mine .*\n +exit: SEARCH: delivered bytes stop doubling *$", listed, re.MULTILINE)
    shown = tree.lab("senders", "show", "search_mine")
    assert "parameter   bins = 12   " in shown
    assert "flow_bytes" in shown


def test_what_only_the_added_modules_know_reaches_the_tables(tree: CopiedTree) -> None:
    row = exit_of(tree, "capped")
    assert row["cause"] == "window_of_64"
    assert row["cwnd_pkts"] == row["ssthresh_pkts"] == 64
    assert exit_of(tree, "search_mine")["cause"] == "search"


def test_added_senders_appear_in_the_summary_and_on_the_page(tree: CopiedTree) -> None:
    (file,) = (tree.results / "mine").glob("[0-9]*/summary.csv")
    rows = list(csv.DictReader(file.open()))
    assert {row["cca"] for row in rows} >= {"capped", "search_mine"}
    page = file.with_name("report.html").read_text()
    assert "CUBIC with a window of 64" in page
    assert "SEARCH 9" in page


KIND = '''# SPDX-License-Identifier: GPL-2.0-or-later
"""First in, first out, counted in packets; drops the oldest when it is full."""

from lab.node.qdiscs.qdisc_kind import TcKind, WHOLE_FRAMES

KIND = TcKind((WHOLE_FRAMES,), queue="First in, first out; drops at the head.", built_in=True)
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
OVER_THE_QUEUE = """# SPDX-License-Identifier: GPL-2.0-or-later
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
def with_queue(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> CopiedTree:
    """A checkout with the kind, a profile that has it, and a scenario over that."""
    assert kernel
    assert world
    copied = CopiedTree(tmp_path_factory.mktemp("added"))
    copied.write("lab/node/qdiscs/kinds/pfifo_head_drop.py", KIND)
    copied.write("trace-profiles/head-drop.yml", PROFILE.replace("LIMIT", str(LIMIT_PKTS)))
    copied.write("lab/scenarios/mine.yml", OVER_THE_QUEUE)
    return copied


@pytest.fixture(scope="module")
def trial(with_queue: CopiedTree) -> Trial:
    with_queue.lab("check")
    with_queue.lab("run", "mine")
    (folder,) = (with_queue.results / "mine").glob("[0-9]*/trials/cubic_plain-001")
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
    assert "1 of 1 trial is valid" in (run / "report.html").read_text()


@pytest.mark.parametrize(("limit", "rule"), [("0", "greater than or equal to 1"), (str(2**31), "less than 2147483648")])
def test_the_bounds_of_an_added_queue_hold(with_queue: CopiedTree, limit: str, rule: str) -> None:
    with_queue.write("trace-profiles/wrong.yml", PROFILE.replace("LIMIT", limit))
    refused = with_queue.refused("check")
    (with_queue.path / "trace-profiles/wrong.yml").unlink()
    assert f"trace-profiles/wrong.yml: down.queue.pfifo_head_drop.limit_pkts={limit}: must be {rule}" in refused
