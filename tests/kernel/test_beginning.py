# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel does before the traffic changes no packet: neither the time it takes, nor the numbers it draws."""

import dataclasses

import pytest

from lab.runs.experiment import Experiment
from tests.conftest import SMALL, Bench, experiment_on

LOSSY = SMALL.model_copy(update={"down": SMALL.down.model_copy(update={"loss_pct": 0.5})})
LINKS = {"bbr": SMALL, "cubic": LOSSY}  # BBR draws its phase; both draw sequence numbers, offsets and ports
MORE = [
    "head -c 1000 /dev/urandom >/dev/null",
    "sleep 0.371234567",
    "for line in 1 2 3; do ip link show >/dev/null; done",
    "ip link add dev more type veth peer name most",  # whose hardware addresses are drawn
]


def with_more_before(experiment: Experiment) -> Experiment:
    """Return the experiment with lines of its client that leave nothing that packets meet."""
    whole = experiment.topology.topology
    client = whole.nodes["client"]
    nodes = whole.nodes | {"client": client.model_copy(update={"exec": [*client.exec, *MORE]})}
    topology = experiment.topology.model_copy(update={"topology": whole.model_copy(update={"nodes": nodes})})
    return dataclasses.replace(experiment, topology=topology)


@pytest.mark.parametrize("cca", LINKS)
def test_packets_do_not_depend_on_what_came_before_them(bench: Bench, cca: str) -> None:
    experiment = experiment_on(LINKS[cca], cca, duration_s=2)
    usual = bench.run(experiment, cca, "usual-beginning")
    other = bench.run(with_more_before(experiment), cca, "later-beginning")
    assert usual.packets.height > 100
    assert usual.packets.equals(other.packets)
    assert usual.table("qdisc").equals(other.table("qdisc"))
