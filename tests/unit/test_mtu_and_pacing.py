# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario's MTU gives segments of exactly that size, `pacing: fq` a host that paces, `ecn_at_ends` ECN."""

from contextlib import nullcontext

import pytest

from lab.node.net import netlink, route
from lab.node.system.tools import NodeError
from lab.runs.plan import draw, make_plan, mss_bytes
from lab.runs.settings import FQ_RATIOS, pinned
from tests.conftest import SMALL, experiment_on

MTU_BYTES, MSS_BYTES = 1360, 1308  # the servers of the papers


@pytest.mark.parametrize("ecn", [False, True])
def test_a_scenario_pins_its_own_settings_and_no_others(ecn: bool) -> None:
    assert mss_bytes(experiment_on(SMALL, "search", mtu_bytes=MTU_BYTES)) == MSS_BYTES
    assert mss_bytes(experiment_on(SMALL, "search")) == 1448
    experiment = experiment_on(SMALL, "cubic", ecn_at_ends=ecn)
    plan = make_plan(experiment, experiment.ccas["cubic"], draw(experiment, 1))
    assert plan["sysctls"]["ends"]["net.ipv4.tcp_ecn"] == str(int(ecn))
    assert "mtu" not in plan["sysctls"]["route"]
    assert plan["egress"] == []
    assert not FQ_RATIOS.keys() & plan["sysctls"]["ends"].keys()


def test_a_sender_that_the_usual_first_window_would_hold_back_gets_a_larger_one() -> None:
    experiment = experiment_on(SMALL, "cubic", "bbr")
    usual, hasty = experiment.ccas["cubic"], experiment.ccas["bbr"].model_copy(update={"first_window_pkts": 8192})
    route = [make_plan(experiment, each, draw(experiment, 1))["sysctls"]["route"] for each in (usual, hasty)]
    assert [each["initrwnd"] for each in route] == ["44", "8192"]
    assert pinned(experiment.scenario, [usual, hasty])["route"]["initrwnd"] == "8192"  # of both, where they compete
    larger = hasty.model_copy(update={"first_window_pkts": 9000})
    assert pinned(experiment.scenario, [hasty, larger])["route"]["initrwnd"] == "9000"


def test_a_route_whose_mtu_did_not_take_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route, "entered", lambda _node: nullcontext())
    monkeypatch.setattr(route, "_default", lambda _link, _node: (bytes(4), bytes(4), {"initcwnd": 10}))
    monkeypatch.setattr(netlink.Netlink, "request", lambda *_: [])
    with pytest.raises(NodeError, match=r"^server: default route=.*: must be \{'initcwnd': '10', 'mtu': '1360'\}$"):
        route.pin("server", {"initcwnd": "10", "mtu": "1360"})
