# SPDX-License-Identifier: GPL-2.0-or-later
"""In real time a machine may fall behind: then the trial is invalid."""

import copy
import os
import signal
import struct
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_vm import host, machine, real
from lab_vm.machine import Machine
from lab_vm.node import pair
from lab_vm.node.machine import watch

from lab.backends.records import TrialError
from lab.base.errors import UserError
from lab.node.system.tools import NodeError
from lab.runs.certificate import certify
from lab.tables.trace import read_events
from tests.brief import folder_at, put
from tests.certified import NODE, PLAN, TABLES

DRAFT = Path(__file__).parents[1] / "data" / "draft"
CALM = {
    "processors": 2,
    "seconds": [{"busy_pct": 40.0, "steal_pct": 0.0}] * 3,
    "wake_ups": 300,
    "late_us": {"p50": 60.0, "p99": 400.0, "max": 9000.0},
}
BUSY = {"seconds": [{"busy_pct": 99.0, "steal_pct": 0.0}]}
BEHIND: dict[str, dict[str, Any]] = {
    "processors taken in the busiest second": BUSY,
    "processors taken by other machines, worst second": {"seconds": [{"busy_pct": 40.0, "steal_pct": 30.0}]},
    "late wake-ups, 99th percentile": {"late_us": {"p50": 60.0, "p99": 90_000.0, "max": 99_000.0}},
}


def breaches(**node: Any) -> list[str]:
    """The checks that fail in real time on machines that keep up, but for what is changed."""
    certificate = certify(PLAN | {"clock": "real"}, copy.deepcopy(NODE) | {"machine": CALM} | node, TABLES)
    return [check["name"] for check in certificate["checks"] if not check["ok"]]


def test_real_time_may_be_late_by_a_share_of_the_round_trip_and_virtual_time_may_not() -> None:
    assert breaches() == []
    node = copy.deepcopy(NODE) | {"machine": CALM}
    node["probes"][0]["arrived"][5][1] += 900  # us: below 1 ms, the least of what real time is allowed
    real = certify(PLAN | {"clock": "real"}, node, TABLES)
    virtual = certify(PLAN, node, TABLES)
    assert (real["valid"], virtual["valid"]) == (True, False)


@pytest.mark.parametrize("check", BEHIND)
def test_a_machine_that_falls_behind_makes_the_trial_invalid(check: str) -> None:
    assert breaches(machine=CALM | BEHIND[check]) == [check]


@pytest.mark.parametrize(
    ("machine", "wire_us", "found"),
    [
        ({}, [300.0, 900.0], []),
        ({}, [300.0, 5000.0], ["round trip between the machines, worst"]),
        ({}, [], ["round trip between the machines, worst"]),
        (BUSY, [300.0], ["processors of the client's machine taken in the busiest second"]),
    ],
)
def test_the_clients_own_machine_and_the_wire_to_it_are_judged_too(
    machine: dict[str, Any], wire_us: list[float], found: list[str]
) -> None:
    assert breaches(far={"wire_us": wire_us, "machine": CALM | machine}) == found


def test_a_second_machine_that_cannot_be_reached_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(NodeError, match=r"^search-lab-client: not known here: run 'LAB_VMS=2 vagrant up'$"):
        pair.require()
    ssh = put(tmp_path / "ssh", "#!/bin/sh\nexit 255\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(NodeError, match=r"^search-lab-client: cannot be reached, or went away$"):
        pair.Far("client", "10.0.3.3").request("losses")


def test_the_watch_sees_how_busy_a_machine_is_and_how_late_it_wakes() -> None:
    seen = _watched_for(2.2)
    assert 1 <= len(seen["seconds"]) <= 3
    assert all(0 <= second["busy_pct"] <= 100 for second in seen["seconds"])
    assert 0 <= seen["late_us"]["p50"] <= seen["late_us"]["p99"] <= seen["late_us"]["max"]


def _watched_for(seconds: float) -> Any:
    def ended(*_: object) -> None:
        raise SystemExit

    before = signal.signal(signal.SIGALRM, ended)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        return watch()
    finally:
        signal.signal(signal.SIGALRM, before)


def test_the_pages_of_several_processors_give_events_in_order_of_time(tmp_path: Path) -> None:
    page = (DRAFT / "trace.raw").read_bytes()
    alone = read_events(DRAFT / "trace.raw", DRAFT / "formats")
    times_ns = np.concatenate([events["t_ns"] for events in alone.values()])
    later_ns = int(np.ptp(times_ns)) // 2  # the second processor begins while the first still writes
    other = struct.pack("<Q", struct.unpack_from("<Q", page)[0] + later_ns) + page[8:]
    file = tmp_path / "trace.raw"
    page_bytes = int((DRAFT / "formats/page_bytes").read_text())
    file.write_bytes(other.ljust(page_bytes, b"\0") + page)
    for name, events in read_events(file, DRAFT / "formats").items():
        both_ns = np.concatenate([alone[name]["t_ns"], alone[name]["t_ns"] + later_ns])
        assert np.array_equal(events["t_ns"], np.sort(both_ns))


def test_a_machine_that_cannot_be_reached_costs_a_trial_and_one_line(tmp_path: Path) -> None:
    config = put(tmp_path / "config", "Host away\n  HostName 127.0.0.1\n  Port 9\n")
    plan: Any = {"flows": [{"duration_s": 1}]}
    with pytest.raises(TrialError, match=r"^away: cannot be reached, or connection lost: .*refused"):
        Machine("netns", "away", config).run_plan(plan, tmp_path)
    with pytest.raises(UserError, match=r"^away: cannot be reached"):
        Machine("netns", "away", config).call("lab_vm.node.facts", "netns")


@pytest.mark.parametrize(
    ("sends", "runs", "fetches", "line"),
    [
        ("exec sleep 600", "", "", "away: exit status -9: ssh: no end after 1 s"),
        ("", "exec sleep 600", "", "away: no end after 0.5 s"),
        ("", "", "exec sleep 600", "away: no end of its records after 1 s, or ssh was killed"),
        ("", "", "yes | head -c 300000 >&2; exit 3", "away: exit status 3: y"),
    ],
)
def test_an_ssh_that_does_not_end_costs_a_trial_and_one_line(
    sends: str, runs: str, fetches: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, limit_s in (("TRANSFER_S", 1.0), ("FETCH_S", 1.0)):
        monkeypatch.setattr(machine, name, limit_s)
    monkeypatch.setattr(host, "CLEANUP_S", 0.1)
    does = f'case "$*" in *"tar -x"*) {sends or "cat"};; *"tar -c"*) {fetches or "true"};; *) {runs or "true"};; esac'
    put(tmp_path / "ssh", f"#!/bin/sh\n{does}\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(TrialError) as refused:
        Machine("netns", "away").execute("lab_vm.node.host", folder_at(tmp_path / "trial"), 0.5)
    assert str(refused.value) == line


def test_a_node_may_print_more_than_a_pipe_holds_in_any_bytes() -> None:
    printed = host.attended(["sh", "-c", "yes | head -c 300000; printf '\\377'"], 60.0, "host")
    assert (len(printed), printed[-1]) == (300_001, "\ufffd")


class TakingDown:
    """A machine that refuses to clean up for a while, since the interrupted trial holds its lock."""

    def __init__(self, refusals: int) -> None:
        self.refusals, self.calls = refusals, 0

    def call(self, *_: str) -> str:
        self.calls += 1
        if self.calls <= self.refusals:
            raise UserError("held by a run")
        return ""


def test_an_interrupted_command_waits_until_its_trial_is_down_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    machine = TakingDown(refusals=3)
    real.settle(machine)  # type: ignore[arg-type]
    assert machine.calls == 4
    monkeypatch.setattr(real, "SETTLE_S", -1)
    with pytest.raises(UserError, match="held by a run"):
        real.settle(TakingDown(refusals=99))  # type: ignore[arg-type]
