# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH exits between one and three round trips after the plateau.

The plateau is where the bottleneck's queue begins to stay (lab/judge/rules/truth.py), as of the first ACK that can tell
the sender: one round trip of the empty path later. Round trips are counted as the sender lives them, queue and all:
what was in flight as one began is acknowledged as it ends.
"""

import polars as pl
import pytest

from lab.judge.rules.truth import capacity_s
from lab.tables.stored_trial import Trial
from tests.conftest import Bench, experiment_on
from tests.exact_links import deep
from tests.search_acks import VERSIONS

LINKS = [(20.0, 100.0), (100.0, 30.0)]  # Mb/s, ms
DURATION_S = 3


def round_trips(trial: Trial, begin_s: float, end_s: float) -> float:
    """Whole round trips between two times, and of the last one the share of its bytes that was acknowledged."""
    acks = trial.acks.filter((pl.col("flow") == 1) & pl.col("t_s").is_between(begin_s, end_s))
    rows: list[tuple[int, int]] = acks.select("snd_una_bytes", "snd_nxt_bytes").rows()
    whole, (first, mark) = 0, rows[0]
    for una, nxt in rows:
        if una >= mark:
            whole, first, mark = whole + 1, una, nxt
    return whole + (rows[-1][0] - first) / (mark - first)


@pytest.mark.parametrize(("rate_mbps", "rtt_ms"), LINKS)
@pytest.mark.parametrize("version", VERSIONS)
def test_it_exits_between_one_and_three_round_trips_after_the_plateau(
    bench: Bench, version: str, rate_mbps: float, rtt_ms: float
) -> None:
    experiment = experiment_on(deep(rate_mbps, rtt_ms), version, duration_s=DURATION_S)
    trial = bench.run(experiment, version, f"plateau-{rate_mbps:.0f}")
    plateau_s = capacity_s(trial.qdisc, trial.link)
    exit_ = trial.exits.row(0, named=True)
    assert trial.valid
    assert plateau_s is not None
    assert exit_["cause"] == "search"
    assert 1 < round_trips(trial, plateau_s + rtt_ms / 1e3, exit_["t_s"]) < 3
