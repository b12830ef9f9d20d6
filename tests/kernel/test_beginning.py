# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel does before the traffic changes no packet: neither the time it takes, nor the numbers it draws."""

import pytest

from tests.conftest import LOSSY, SMALL, Bench, experiment_on, with_lines

LINKS = {"bbr": SMALL, "cubic": LOSSY}  # BBR draws its phase; both draw sequence numbers, offsets and ports
MORE = [  # leave nothing that packets meet
    "head -c 1000 /dev/urandom >/dev/null",
    "sleep 0.371234567",
    "for line in 1 2 3; do ip link show >/dev/null; done",
    "ip link add dev more type veth peer name most",  # whose hardware addresses are drawn
]


@pytest.mark.parametrize("cca", LINKS)
def test_packets_do_not_depend_on_what_came_before_them(bench: Bench, cca: str) -> None:
    experiment = experiment_on(LINKS[cca], cca, duration_s=2)
    usual = bench.run(experiment, cca, "usual-beginning")
    other = bench.run(with_lines(experiment, *MORE), cca, "later-beginning")
    assert usual.packets.height > 100
    assert usual.packets.equals(other.packets)
    assert usual.table("qdisc").equals(other.table("qdisc"))
