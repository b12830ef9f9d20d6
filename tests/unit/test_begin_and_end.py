# SPDX-License-Identifier: GPL-2.0-or-later
"""When a link's series, a server and a download begin and end, and what a scenario's MTU and pacing pin."""

import struct
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.base.errors import UserError
from lab.links.draw import draw_link
from lab.links.profile import Noise, load_profile, read_profile
from lab.links.tc_alone import NETEM
from lab.node.net import netlink, route
from lab.node.system.tools import NodeError
from lab.node.traffic import arrival
from lab.node.traffic.arrival import Arrival
from lab.node.traffic.download import NO_DATA, Download, result
from lab.node.traffic.late_start import SYN, arrived
from lab.runs.experiment import Experiment, digest
from lab.runs.plan import FQ_RATIOS, draw, make_plan, mss_bytes, pinned
from lab.tables import downloads
from tests.brief import put
from tests.conftest import SMALL, experiment_on

GEO = load_profile("geo-viasat", "a test")


def beginning(begin: str) -> Experiment:
    experiment = experiment_on(SMALL, "cubic")
    return replace(experiment, profile=experiment.profile.model_copy(update={"series_begin": begin}))


def plan_of(experiment: Experiment) -> object:
    return make_plan(experiment, experiment.ccas["cubic"], draw(experiment, 1)).get("series_begin")


def test_a_plan_states_the_event_which_has_the_old_digest_by_default_and_netem_refuses() -> None:
    assert [plan_of(beginning(begin)) for begin in ("trial", "syn", "data")] == [None, "syn", "data"]
    old = GEO.model_dump()
    del old["series_begin"]
    assert digest(GEO.model_dump()) == digest(old) != digest(old | {"series_begin": "syn"})
    with pytest.raises(UserError, match="series_begin=syn: must be trial with --shaper netem"):
        plan_of(replace(beginning("syn"), shaper=NETEM))


def links(server_start_ms: float, count: int = 200) -> list[tuple[float, object]]:
    """Draw links of GEO: how late the server begins, and what else was drawn."""
    noise = GEO.noise.model_copy(update={"server_start_ms": server_start_ms})
    profile = GEO.model_copy(update={"noise": noise})
    drawn = [draw_link(profile, 10, np.random.default_rng(seed)) for seed in range(count)]
    return [(link.server_start_s, (link.start_phase_s, repr(link.down.on_demand), link.buffer_bytes)) for link in drawn]


def test_a_server_begins_within_four_ms_or_at_once_and_what_knew_no_draw_keeps_its_digest() -> None:
    late_s = [late for late, _ in links(Noise().server_start_ms)]
    assert 0 <= min(late_s) < 0.0004
    assert 0.0036 < max(late_s) <= 0.004
    assert sum(late_s) / len(late_s) == pytest.approx(0.002, rel=0.15)
    assert links(Noise().server_start_ms) == links(4.0)
    off, on = links(0.0, 20), links(50.0, 20)
    assert {late for late, _ in off} == {0.0}
    assert [rest for _, rest in off] == [rest for _, rest in on]
    old = GEO.model_dump()
    del old["noise"]["server_start_ms"]
    zero = GEO.model_dump() | {"noise": GEO.noise.model_dump() | {"server_start_ms": 0.0}}
    assert digest(zero) == digest(old) != digest(GEO.model_dump())


@pytest.mark.parametrize("value", ["-1", "1001", "soon"])
def test_a_time_that_cannot_be_is_refused(tmp_path: Path, value: str) -> None:
    file = put(
        tmp_path / "mine.yml",
        f"title: mine\nextends: wired-clean\nnoise: {{server_start_ms: {value}}}\nrecorded: []\nassumed: []\n",
    )
    with pytest.raises(UserError, match=r"noise\.server_start_ms"):
        read_profile(file)


def packet(target: int, flags: int = 0, protocol: int = 6, options_bytes: int = 0) -> bytes:
    words = 5 + options_bytes // 4
    ip = bytes([0x40 | words, 0, 0, 0, 0, 0, 0, 0, 64, protocol]) + bytes(10 + options_bytes)
    return ip + struct.pack("!HHIIBB", 40_000, target, 0, 0, 0x50, flags) + bytes(6)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (packet(5201, SYN), (40_000, True)),
        (packet(5201, 0x10, options_bytes=8), (40_000, False)),
        (packet(5201, SYN, protocol=17), (40_000, False)),  # a datagram has no flags
        (packet(5202, SYN), None),
        (b"", None),
        (packet(5201)[:30], None),
    ],
)
def test_a_packet_to_the_server_names_its_client_and_whether_it_opens_a_connection(
    content: bytes, found: tuple[int, bool] | None
) -> None:
    assert arrived(content, 5201) == found


class Silent:
    """A client that has ended, and its link, which brought nothing."""

    def ended(self, within_s: float) -> bool:  # noqa: ARG002
        return True

    def stop(self) -> str:
        return "{}"

    def within(self, seconds: float) -> None:
        """No data segment arrives."""


class Starved(Download):
    """A download whose client ended without data."""

    def sent_again_pkts(self) -> int:
        return 3


def test_a_rival_without_data_has_none_and_the_trial_goes_on_but_not_without_those_under_test() -> None:
    request: Any = {"duration_s": 4}
    silent: Any = Silent()
    found = Starved(request, silent, silent, beside=True).measure()
    assert (found["retransmits_pkts"], found["iperf3"], found["iperf3_error"]) == (3, None, NO_DATA)
    assert found["until_ns"] - found["data_ns"] < 1e9
    with pytest.raises(NodeError, match="iperf3: ended without any data of the download under test"):
        Starved(request, silent, silent).measure()


SIZE_BYTES = 1_000_000
FAILED = '{"error": "unable to receive results: "}'


def test_a_download_that_is_whole_survives_that_iperf3_cannot_exchange_results() -> None:
    assert result(FAILED, whole=True, finished=True) == {
        "iperf3": None,
        "iperf3_error": "iperf3: unable to receive results: ",
    }
    with pytest.raises(NodeError, match="unable to receive results"):
        result(FAILED, whole=False, finished=True)


@pytest.mark.parametrize(
    ("flow", "seconds", "lasted_s", "failed"),
    [
        (1, 4.0, 9.0, False),
        (1, 10.0, 9.99, False),  # a client over QUIC ends with its last byte
        (1, 30.0, 30.0, False),
        (1, 30.0, 9.0, True),
        (2, 28.5, 9.0, True),
    ],
)
def test_a_client_that_ended_with_neither_its_bytes_nor_its_time_fails_the_trial(
    flow: int, seconds: float, lasted_s: float, failed: bool
) -> None:
    """`seconds` is the download's length: its time, that of a late rival, or until its bytes were there."""
    plan: Any = {"flows": [{"duration_s": 30, "size_bytes": SIZE_BYTES}]}
    node: Any = {"downloads": [{"data_ns": 0, "until_ns": round(lasted_s * 1e9), "iperf3_error": "iperf3: gone"}]}
    measured: Any = [{"flow": flow, "seconds": seconds}]
    assert downloads.failure(plan, node, measured) == ("iperf3: gone" if failed else None)


SERVER, CONTROL, DATA = 5201, 40000, 40001


def segment(source: int, target: int, payload_bytes: int, protocol: int = arrival.TCP) -> bytes:
    """Build an IPv4 packet with a TCP segment of 12 bytes of options."""
    ip = struct.pack("!BBHHHBBHII", 0x45, 0, 20 + 32 + payload_bytes, 0, 0, 64, protocol, 0, 1, 2)
    return (ip + struct.pack("!HHIIBBHHH", source, target, 1, 1, 8 << 4, 0x10, 100, 0, 0)).ljust(128, b"\0")


def test_data_are_what_comes_over_any_connection_but_the_servers_first() -> None:
    watching = Arrival.__new__(Arrival)
    watching.port, watching.control = SERVER, None
    came = [
        segment(80, 1234, 500),  # of another server
        segment(SERVER, CONTROL, 0),
        segment(SERVER, CONTROL, 1),  # a state of iperf3's
        segment(SERVER, DATA, 0),
        segment(SERVER, DATA, 500, protocol=17),
        segment(SERVER, CONTROL, 1),
    ]
    assert not any(watching.is_data(packet) for packet in came)
    assert watching.is_data(segment(SERVER, DATA, 1448))


@pytest.mark.parametrize("length", range(0, 60, 7))
def test_a_packet_that_is_cut_short_is_no_segment(length: int) -> None:
    assert length >= 40 or arrival.tcp(segment(SERVER, DATA, 1448)[:length]) is None


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
    taken = {route.RTA_METRICS: netlink.attribute(route.METRICS["initcwnd"], struct.pack("I", 10))}
    monkeypatch.setattr(route, "_routes", lambda _link, _node: [(0, taken)])
    monkeypatch.setattr(netlink.Netlink, "request", lambda *_: [])
    with pytest.raises(
        NodeError, match=r"^server: metrics of a route=\{'initcwnd': 10\}: must be \{.*'mtu': '1360'\}$"
    ):
        route.pin("server", {"initcwnd": "10", "mtu": "1360"})
