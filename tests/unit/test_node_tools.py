# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tools of the world image print is understood, and what they refuse is reported in one line."""

import json
from pathlib import Path
from typing import Any

import pytest

from lab.node.measure.capture import read_counts
from lab.node.measure.counters import protocol_counters, read_links
from lab.node.qdiscs import qdisc
from lab.node.system.tools import NodeError, run, run_json
from lab.node.traffic.flow import read_result

DATA = Path(__file__).parents[1] / "data"
TBF = {"kind": "tbf", "rate_bps": 144e6, "burst_bytes": 1600, "limit_bytes": 36_000_000}
NETEM = {"kind": "netem", "limit_pkts": 1_000_000, "delay_us": 300_000, "loss_pct": 0.5, "rate_bps": 10e9, "seed": 7}
PLAIN = NETEM | {"delay_us": 0, "loss_pct": 0.0}


def test_dumpcaps_closing_line_is_counted_and_its_lack_reported_in_its_own_words() -> None:
    assert read_counts((DATA / "dumpcap.log").read_text()) == {"received_pkts": 6, "dropped_pkts": 0}
    log = (DATA / "dumpcap.log").read_text().replace("6/0", "6/17")
    assert read_counts(log) == {"received_pkts": 6, "dropped_pkts": 17}
    with pytest.raises(NodeError, match=r"no closing count: .*There is no device named"):
        read_counts((DATA / "dumpcap-failed.log").read_text())


def test_iperf3s_result_is_taken_as_it_is_and_its_failure_reported_in_its_own_words() -> None:
    result = read_result((DATA / "iperf3.json").read_text())
    assert result["end"]["sum_sent"]["retransmits"] == 37
    assert result["end"]["sum_received"]["seconds"] == pytest.approx(2, abs=0.1)
    with pytest.raises(NodeError, match=r"^iperf3: unable to connect to server .*Connection refused$"):
        read_result((DATA / "iperf3-failed.json").read_text())


@pytest.mark.parametrize("text", ["", "iperf3: parameter error\n", '{"start": {'])
def test_what_is_no_result_of_iperf3_is_refused(text: str) -> None:
    with pytest.raises(NodeError, match=r"^iperf3: no JSON result: ") as refused:
        read_result(text)
    assert "\n" not in str(refused.value)


def show(monkeypatch: pytest.MonkeyPatch, shown: Any) -> None:
    """Have the kernel answer what tc once printed."""
    monkeypatch.setattr(qdisc, "run_json", lambda *_, **__: shown)


@pytest.mark.parametrize(("file", "spec"), [("tc-tbf", TBF), ("tc-netem", NETEM), ("tc-netem-plain", PLAIN)])
def test_what_tc_shows_is_what_was_requested(monkeypatch: pytest.MonkeyPatch, file: str, spec: dict[str, Any]) -> None:
    show(monkeypatch, json.loads((DATA / f"{file}.json").read_text()))
    got = qdisc.made("gateway", "eth2", spec)
    assert got == {name: pytest.approx(spec[name], rel=2e-3) for name in got}


@pytest.mark.parametrize(
    ("file", "spec", "name", "requested"),
    [
        ("tc-tbf", TBF, "rate_bps", 144.1e6),
        ("tc-tbf", TBF, "limit_bytes", 36_010_000),
        ("tc-tbf", TBF, "burst_bytes", 3200),
        ("tc-netem", NETEM, "limit_pkts", 1000),
        ("tc-netem", NETEM, "delay_us", 300_100),
        ("tc-netem", NETEM, "loss_pct", 0.6),
        ("tc-netem", NETEM, "rate_bps", 0),
        ("tc-netem", NETEM, "seed", 8),
        ("tc-netem-plain", PLAIN, "delay_us", 10),
    ],
)
def test_a_value_that_did_not_take_is_named(
    monkeypatch: pytest.MonkeyPatch, file: str, spec: dict[str, Any], name: str, requested: float
) -> None:
    show(monkeypatch, json.loads((DATA / f"{file}.json").read_text()))
    with pytest.raises(
        NodeError, match=f"^gateway:eth2: {name}=.*: must be {requested}, as requested of {spec['kind']}$"
    ):
        qdisc.made("gateway", "eth2", spec | {name: requested})


def test_a_qdisc_that_was_never_made_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    show(monkeypatch, json.loads((DATA / "tc-none.json").read_text()))
    with pytest.raises(NodeError, match=r"^gateway:eth2: qdisc=noqueue: must be tbf, as requested$"):
        qdisc.made("gateway", "eth2", TBF)


@pytest.mark.parametrize("spec", [TBF, NETEM, PLAIN])
def test_every_value_is_stated_in_full(spec: dict[str, Any]) -> None:
    words = qdisc.command("eth2", spec).split()
    stated = {"tbf": {"rate", "burst", "limit"}, "netem": {"limit", "delay", "loss", "rate", "seed"}}[spec["kind"]]
    assert stated <= set(words)
    assert words[:7] == ["qdisc", "replace", "dev", "eth2", "root", "handle", "1:"]


def test_a_tool_that_fails_is_reported_in_one_line_and_one_that_prints_nothing_is_no_json() -> None:
    with pytest.raises(NodeError) as failed:
        run("sh", "-c", "echo first >&2\necho second >&2\nexit 3")
    assert "\n" not in str(failed.value)
    assert str(failed.value).endswith("exit status 3: first; second")
    assert run_json("true") is None


def test_the_kernels_tables_of_interfaces_and_protocols_are_read() -> None:
    links = read_links((DATA / "proc-net-dev.txt").read_text())
    assert links["eth1"] == {"rx_dropped_pkts": 3 + 1, "tx_dropped_pkts": 7, "tx_pkts": 1234}
    assert links["lo"]["tx_pkts"] == 2
    text = "TcpExt: SyncookiesSent TCPRcvQDrop\nTcpExt: 0 5\nIpExt: InNoRoutes\nIpExt: 2\n"
    assert protocol_counters(text) == {"TcpExtSyncookiesSent": 0, "TcpExtTCPRcvQDrop": 5, "IpExtInNoRoutes": 2}
