# SPDX-License-Identifier: GPL-2.0-or-later
"""How versions leave slow start in the kernel: with the window, the threshold and the record that they promise."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.backends.records import TrialError
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.links.profile import Profile
from lab.runs.plan import MSS_BYTES
from lab.tables.exits import EXIT_EVENT
from lab.tables.trace import Events
from tests.conftest import SMALL
from tests.search_trials import ACK, plan_of, run, sender

DEEP = SMALL.model_copy(update={"down": SMALL.down.model_copy(update={"buffer_bytes": 2_000_000})})
BDP_PKTS = 20e6 / 8 * 0.1 / MSS_BYTES
BASE_RTT_NS = 100_000_000
PROBE = "tcp:tcp_probe"


class Left:
    """The exits of a trial's download, and its window after the first of them."""

    def __init__(self, events: Events) -> None:
        ports, counts = np.unique(events[ACK]["dport"], return_counts=True)
        self.port = ports[counts.argmax()]
        self.exits = self._own(events[EXIT_EVENT])
        probe = self._own(events[PROBE])
        self.after = probe[probe["t_ns"] > self.exits[0]["t_ns"]]

    def _own(self, events: NDArray[np.void]) -> NDArray[np.void]:
        own: NDArray[np.void] = events[events["dport"] == self.port]
        return own

    @property
    def cause(self) -> str:
        return str(self.exits[0]["cause"].decode())


def left(folder: Path, kernel: Kernel, world: Image, profile: Profile, name: str, **params: int) -> Left:
    return Left(run(plan_of(profile, sender(name, **params)), folder, kernel, world))


@pytest.mark.parametrize("name", ["search2", "search31"])
def test_an_exit_keeps_the_window_unless_requested(tmp_path: Path, kernel: Kernel, world: Image, name: str) -> None:
    trial = left(tmp_path, kernel, world, DEEP, name)
    assert trial.cause == "search"
    assert trial.exits[0]["cwnd_pkts"] == trial.exits[0]["ssthresh_pkts"]
    assert trial.after[0]["snd_cwnd"] == trial.exits[0]["cwnd_pkts"]


@pytest.mark.parametrize("name", ["search2", "search31"])
def test_a_roll_back_takes_two_initial_rtts_at_once(tmp_path: Path, kernel: Kernel, world: Image, name: str) -> None:
    """The link is full: in five bins of 0.35 RTT it delivered 1.75 bandwidth-delay products."""
    trial = left(tmp_path, kernel, world, DEEP, name, on_exit=1)
    exit_ = trial.exits[0]
    assert int(exit_["cwnd_pkts"]) - int(exit_["ssthresh_pkts"]) == pytest.approx(1.75 * BDP_PKTS, rel=0.1)
    assert trial.after[0]["snd_cwnd"] == exit_["ssthresh_pkts"]


def test_search4_drains_to_a_bandwidth_delay_product_and_goes_on_from_there(
    tmp_path: Path, kernel: Kernel, world: Image
) -> None:
    trial = left(tmp_path, kernel, world, DEEP, "search4")
    target = int(trial.exits[0]["ssthresh_pkts"])
    cwnd = trial.after["snd_cwnd"].astype(int)
    reached = int(np.argmax(cwnd == target))
    assert target == pytest.approx(1.05 * BDP_PKTS, rel=0.1)  # three bins of 0.35 RTT
    assert cwnd[reached] == target
    assert (np.diff(cwnd[:reached]) <= 1).all()  # no growth but the grants'
    assert cwnd.min() == target
    assert trial.after["t_ns"][reached] - trial.exits[0]["t_ns"] < 10 * BASE_RTT_NS


@pytest.mark.parametrize("name", ["search1", "search2", "search31", "search4"])
def test_an_exit_by_loss_is_reported_with_its_cause(tmp_path: Path, kernel: Kernel, world: Image, name: str) -> None:
    shallow = SMALL.model_copy(update={"down": SMALL.down.model_copy(update={"buffer_bytes": 100_000})})
    trial = left(tmp_path, kernel, world, shallow, name)
    assert trial.cause == "loss"
    assert trial.exits[0]["cwnd_pkts"] > trial.exits[0]["ssthresh_pkts"]


@pytest.mark.parametrize(
    ("name", "wrong", "reported"),
    [
        ("search2", {"bins": 4}, "tcp_search2: bins=4: must be a whole number from 5 to 100"),
        ("search2", {"on_exit": 2}, "tcp_search2: on_exit=2: must be a whole number from 0 to 1"),
        ("search31", {"bins": 12, "extra_bins": 13}, "bins=12 extra_bins=13: must be at most 24 in all"),
    ],
)
def test_a_module_refuses_what_it_cannot_do(
    tmp_path: Path, kernel: Kernel, world: Image, name: str, wrong: dict[str, int], reported: str
) -> None:
    with pytest.raises(TrialError, match=reported):
        left(tmp_path, kernel, world, SMALL, name, **wrong)
