# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of stored runs: SEARCH replayed over the ACKs of another sender, and two runs of a link over each other."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from lab_papers.figures import two_runs
from lab_papers.figures.replayed import replayed_bins

from lab.base.errors import UserError
from lab.judge.rules import truth
from lab.tables.link_capacity import LinkCapacity
from tests import slow_start_model as model
from tests.first_screen import TWO, of_link
from tests.slow_start_model import download


def test_replayed_over_a_slow_start_into_a_full_link_search_leaves_after_the_capacity(library: Path) -> None:
    path = model.Path(rate_mbps=80, base_rtt_ms=200, buffer_bytes=8_000_000, duration_s=4)
    tables = download(path).tables()
    capacity_s = truth.capacity_s(tables["qdisc"], LinkCapacity.constant(path.rate_mbps, path.base_rtt_ms))
    bins = replayed_bins(tables["acks"], library)
    assert capacity_s is not None
    # 2 to 3 RTTs, each of them longer than the base RTT by then.
    assert capacity_s < bins.filter("exit")["t_s"][0] < capacity_s + 6 * path.base_rtt_ms / 1000
    assert bins.filter(pl.col("t_s") < capacity_s)["norm_pct"].drop_nulls().len() > 0


def test_two_runs_of_a_link_lie_over_each_other_sender_by_sender(tmp_path: Path) -> None:
    geo = of_link(tmp_path, "geo-viasat")
    drawing = two_runs.draw([geo, geo])
    assert drawing
    assert [len(axis.lines) for axis in drawing.figure.axes] == [2] * 2 * len(TWO)
    solid, dashed = drawing.figure.axes[0].lines
    assert np.array_equal(np.asarray(solid.get_xydata()), np.asarray(dashed.get_xydata()))
    assert solid.get_linestyle() != dashed.get_linestyle()


def test_only_two_runs_of_one_link_are_laid_over_each_other(tmp_path: Path) -> None:
    geo, leo = (of_link(tmp_path, name) for name in ("geo-viasat", "leo-starlink"))
    for runs in ([], [geo], [geo, leo], [geo] * 3):
        with pytest.raises(UserError, match="must be two runs of one link"):
            two_runs.draw(runs)
