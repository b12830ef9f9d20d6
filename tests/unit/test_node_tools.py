# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tools of the world image print, the kernel's log and its times of arrival are read, or refused in a line."""

import json
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from lab.base.errors import UserError
from lab.node.measure.capture import read_counts
from lab.node.measure.counters import protocol_counters, read_links
from lab.node.measure.stamped import SO_TIMESTAMPNS, stamped
from lab.node.net.netlink import TCA_OPTIONS
from lab.node.qdiscs import qdisc
from lab.node.system.tools import NodeError, run, run_json
from lab.node.traffic.flow import read_result
from lab.tables.kernel_log import INIT, RAW, STORED, forget_failed_log, keep_failed_log, keep_log, read_log
from tests.brief import folder_at
from tests.ktap import Case, read_ktap

DATA = Path(__file__).parents[1] / "data"
TBF = {"kind": "tbf", "rate_bps": 144e6, "burst_bytes": 1600, "limit_bytes": 36_000_000}
NETEM = {"kind": "netem", "limit_pkts": 1_000_000, "delay_us": 300_000, "loss_pct": 0.5, "rate_bps": 10e9, "seed": 7}
PLAIN = NETEM | {"delay_us": 0, "loss_pct": 0.0}
SHOWN = DATA / "qdiscs-shown"  # TCA_OPTIONS of Linux 6.12, in hexadecimal


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


class Shown:
    """A kernel that shows one qdisc."""

    def __init__(self, options: str) -> None:
        self.options = bytes.fromhex(options)

    def __call__(self, *_: str) -> "Shown":
        return self

    def __enter__(self) -> "Shown":
        return self

    def __exit__(self, *_: object) -> None:
        """Close nothing."""

    def shown(self, *_: object) -> dict[int, bytes]:
        return {TCA_OPTIONS: self.options}


@pytest.mark.parametrize(
    ("spec", "name", "requested"),
    [
        (TBF, "rate_bps", 144.1e6),
        (TBF, "limit_bytes", 36_010_000),
        (TBF, "burst_bytes", 3200),
        (NETEM, "limit_pkts", 1000),
        (NETEM, "delay_us", 300_100),
        (NETEM, "loss_pct", 0.6),
        (NETEM, "rate_bps", 0),
        (NETEM, "seed", 8),
        (PLAIN, "delay_us", 10),
    ],
)
def test_a_value_that_did_not_take_is_named(
    monkeypatch: pytest.MonkeyPatch, spec: dict[str, Any], name: str, requested: float
) -> None:
    file = SHOWN / ("netem-plain.hex" if spec == PLAIN else f"{spec['kind']}.hex")
    monkeypatch.setattr(qdisc, "Qdiscs", Shown(file.read_text()))
    qdisc.require_stated("gateway", "eth2", spec)
    with pytest.raises(
        NodeError, match=f"^gateway:eth2: {name}=.*: must be {requested}, as requested of {spec['kind']}$"
    ):
        qdisc.require_stated("gateway", "eth2", spec | {name: requested})


def test_a_qdisc_that_was_never_made_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = json.loads((DATA / "tc-none.json").read_text())
    monkeypatch.setattr(qdisc, "run_json", lambda *_, **__: shown)
    codel = {"kind": "codel", "limit_pkts": 1000, "target_us": 5000, "interval_us": 100_000, "ecn": False}
    with pytest.raises(NodeError, match=r"^gateway:eth2: qdisc=noqueue: must be codel, as requested$"):
        qdisc.made("gateway", "eth2", codel)


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


AFTER = INIT.encode() + b"\nsearch: leaves at 12 of 34\n"


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    return folder_at(tmp_path / "trials" / "cubic-001")


def kept(trial: Path, raw: bytes) -> str:
    (trial / RAW).write_bytes(raw)
    keep_log(trial)
    return read_log(trial.parent.parent, trial.name)


def test_a_log_begins_with_init_or_is_kept_whole_and_a_damaged_one_is_one_line(trial: Path) -> None:
    keep_log(trial)  # of a backend without a log
    assert not list(trial.iterdir())
    assert kept(trial, b"mem at 0x6000\n" + AFTER) == AFTER.decode()
    assert kept(trial, b"a machine's own log\nits end") == "a machine's own log\nits end"
    (trial / STORED).write_bytes(b"no zstd")
    with pytest.raises(UserError, match=f"{STORED}: must be a whole zstd file"):
        read_log(trial.parent.parent, trial.name)


def test_a_log_that_is_longer_than_what_is_shown_says_it_is_cut(trial: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.tables.kernel_log.MOST_BYTES", 1000)
    assert kept(trial, b"a" * 1000) == "a" * 1000
    shown = kept(trial, b"a" * 1001)
    assert shown.startswith("a" * 1000 + "\n(cut after 1000 bytes: 'zstd -dc ")
    assert shown.endswith(f"{STORED}' shows all)\n")


def test_the_log_of_a_failure_is_read_first_and_whole_until_it_is_forgotten(trial: Path) -> None:
    run = trial.parent.parent
    kept(trial, AFTER)
    draft = folder_at(run / "draft")
    keep_failed_log(draft, run, trial.name)
    assert read_log(run, trial.name) == AFTER.decode()
    (draft / RAW).write_bytes(b"before\n" + AFTER)
    keep_failed_log(draft, run, trial.name)
    assert read_log(run, trial.name) == f"before\n{AFTER.decode()}"
    forget_failed_log(run, trial.name)
    assert read_log(run, trial.name) == AFTER.decode()


@pytest.mark.parametrize("name", ["", ".hidden", "../trials/cubic-001"])
def test_what_is_no_trials_name_is_refused(trial: Path, name: str) -> None:
    kept(trial, AFTER)
    with pytest.raises(UserError, match="must be a trial's name"):
        read_log(trial.parent.parent, name)


def test_a_trial_without_a_log_is_refused_with_the_names_of_those_that_have_one(trial: Path) -> None:
    kept(trial, AFTER)
    with pytest.raises(UserError, match=r"must be one with a stored log: did you mean cubic-001[?]$"):
        read_log(trial.parent.parent, "cubic-002")
    (trial / STORED).unlink()
    with pytest.raises(UserError, match=r"must be one with a stored log: none is stored$"):
        read_log(trial.parent.parent, "cubic-002")


def test_a_failed_case_of_a_real_log_and_one_that_never_ended_are_found() -> None:
    log = (DATA / "kunit-failed.log").read_text()
    assert read_ktap(log) == [
        Case("draft", "draft_passes", True, False),
        Case("draft", "draft_fails", False, False),
        Case("draft", "draft_is_skipped", True, True),
        Case("second", "second_passes", True, False),
    ]
    cut = log[: log.index("    ok 3 draft_is_skipped")]
    assert read_ktap(cut)[-1] == Case("draft", "(no result)", False, False)
    assert read_ktap("ok 1 of something else\nnot ok\n") == []  # without suites


def test_each_parameter_of_a_real_log_s_case_is_a_case_and_so_is_what_they_are_of() -> None:
    cases = read_ktap((DATA / "kunit-parameters.log").read_text())
    inner = [case.name for case in cases if case.suite == "search.search_decides_as_in_user_space"]
    assert (inner[0], len(inner)) == ("search1: flat delivery", 9)
    assert [case.name for case in cases if case.suite == "search"] == [
        "search_decides_as_in_user_space",
        "search_state_fits_where_it_is_kept",
    ]
    assert all(case.ok for case in cases)


def test_a_parameter_that_failed_is_a_failed_case_and_a_crash_loses_what_was_planned_after_it() -> None:
    log = (DATA / "kunit-parameters.log").read_text()
    failed = [case.name for case in read_ktap(log.replace("ok 9 too", "not ok 9 too")) if not case.ok]
    assert failed == ["too few bins"]
    cut = log[: log.index("        ok 5 a clock")]
    assert [case for case in read_ktap(cut) if not case.ok] == [Case("search", "(no result)", False, False)] * 2


def test_a_datagram_without_the_kernels_time_is_refused_and_one_with_it_came_between_two_readings_of_the_clock() -> (
    None
):
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sink,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source,
    ):
        sink.bind(("127.0.0.1", 0))
        sink.settimeout(10)
        source.connect(sink.getsockname())
        source.send(b"one")
        with pytest.raises(NodeError, match=r"^SO_TIMESTAMPNS: no time of arrival: must be stamped by this kernel$"):
            stamped(sink, 64)
        sink.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        before_ns = time.time_ns()
        source.send(b"another")
        data, arrived_ns, dropped = stamped(sink, 5)
    assert (data, dropped) == (b"anoth", 0)
    assert before_ns <= arrived_ns <= time.time_ns()
