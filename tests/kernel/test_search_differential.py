# SPDX-License-Identifier: GPL-2.0-or-later
"""The core in user space, fed the ACKs of a real trial, decides in every bin what the kernel module decided there."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lab_papers.search_replay import AFTER_SILENCE, EXIT, STAY, replay_bins, version
from numpy.typing import NDArray

from bench.same_exit.stream import FIELDS
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.links.profile import Profile
from lab.tables.trace import Events
from tests.conftest import SMALL
from tests.exact_links import silent
from tests.published_search import MODELS, checks
from tests.search_trials import ACK, BIN, VERSIONS, plan_of, run, sender

DEEP = SMALL.model_copy(
    update={"down": SMALL.down.model_copy(update={"buffer_bytes": 2_000_000})}
)  # no loss before an exit
FIXES = {"long_rtt": 5, "missed_bins_max": 10, "restart_rtt_pct": 50, "app_limited": 3}
SILENT = silent(0.8, 1.8)  # a timeout, and slow start again


def data_flow(events: Events, name: str) -> NDArray[np.void]:
    """The download's own events: iperf3's control connection acknowledges a few hundred bytes only."""
    acks = events[ACK]
    ports, counts = np.unique(acks["dport"], return_counts=True)
    flow: NDArray[np.void] = events[name][events[name]["dport"] == ports[counts.argmax()]]
    return flow


@pytest.fixture(scope="module", params=VERSIONS)
def trial(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image
) -> tuple[str, Events]:
    plan = plan_of(DEEP, sender(request.param))
    return request.param, run(plan, tmp_path_factory.mktemp(request.param), kernel, world)


def assert_same_decisions(name: str, events: Events, library: Path, **params: int) -> None:
    acks, bins = data_flow(events, ACK), data_flow(events, BIN)
    published = version(library, name)
    replayed = replay_bins(
        library,
        acks["now_us"],
        acks["rtt_us"],
        acks["delivered"],
        replace(published.params, **params),
        sent_bytes=acks["sent"],
        limited=acks["limited"],
        reset=acks["starts"],
        compact=published.compact,
        stop_at_exit=False,
    )
    for theirs, ours in FIELDS.items():
        assert np.array_equal(bins[theirs].astype(np.int64), replayed[ours].astype(np.int64)), theirs


def test_every_bin_is_decided_alike_in_both_kinds(trial: tuple[str, Events], search_library: Path) -> None:
    name, events = trial
    assert_same_decisions(name, events, search_library)
    verdicts = data_flow(trial[1], BIN)["verdict"]
    assert STAY in verdicts
    assert list(verdicts).count(EXIT) == 1


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("profile", [DEEP, SMALL], ids=["deep", "losing"])
def test_the_module_decides_as_the_published_integers(
    name: str, profile: Profile, tmp_path: Path, kernel: Kernel, world: Image
) -> None:
    """From the first ACK to the exit, by a loss too: the model's decisions on the ACKs that the module had."""
    events = run(plan_of(profile, sender(name)), tmp_path, kernel, world)
    acks, bins = data_flow(events, ACK), data_flow(events, BIN)
    reported = zip(acks["now_us"].tolist(), acks["rtt_us"].tolist(), acks["delivered"].tolist(), strict=True)
    theirs = [(check.curr_bytes, check.prev_bytes, check.leaves) for check in checks(MODELS[name](), reported)]
    ours = [(int(row["curr_delv"]), int(row["prev_delv"]), row["verdict"] == EXIT) for row in bins]
    assert len(ours) > 15
    assert theirs == ours


@pytest.mark.parametrize("params", [{}, FIXES], ids=["own", "fixes"])
@pytest.mark.parametrize("name", VERSIONS)
def test_every_bin_is_decided_alike_where_slow_start_comes_again(
    name: str, params: dict[str, int], tmp_path: Path, kernel: Kernel, world: Image, search_library: Path
) -> None:
    events = run(plan_of(SILENT, sender(name, **params)), tmp_path, kernel, world, SILENT)
    assert bool(data_flow(events, ACK)["starts"].sum() > 1) is (name != "search2")  # which measures once
    assert_same_decisions(name, events, search_library, **params)


def test_a_parameter_of_the_module_reaches_the_core(tmp_path: Path, kernel: Kernel, world: Image) -> None:
    events = run(plan_of(SMALL, sender("search2", missed_bins_max=1)), tmp_path, kernel, world)
    assert AFTER_SILENCE in data_flow(events, BIN)["verdict"]
