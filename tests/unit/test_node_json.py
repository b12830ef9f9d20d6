# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel under test reports and its small files hold is read, or refused in a line that names the field."""

import io
import json
from collections.abc import Callable
from contextlib import nullcontext
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import ValidationError
from rich.table import Table

from lab.base.console import PlainConsole
from lab.base.contract import _validator
from lab.base.errors import UserError
from lab.commands.lines import say, show_path
from lab.node.net import netns, sysctl
from lab.node.record import NodeRecord
from lab.node.system import small_file, tools
from lab.node.system.tools import NodeError
from lab.tables.node_json import on_trace_clock, read_node
from tests.brief import error_of, few_bytes_per_file
from tests.hostile.draft import LEFT, PLANNED

BEGUN_NS = LEFT["node.json"]["clocks"]["monotonic_ns"]
SPAN = f"must be from {BEGUN_NS} to {BEGUN_NS + 302 * 10**9 - 1}, a time of the trial"


def at(*place: Any, to: Any) -> Callable[[Any], None]:
    """Return what sets a value; `to` of None removes it."""

    def change(node: Any) -> None:
        *path, last = place
        for each in path:
            node = node[each]
        if to is None:
            del node[last]
        else:
            node[last] = to

    return change


def read(folder: Path, *changes: Callable[[Any], None]) -> Any:
    node = deepcopy(LEFT["node.json"])
    for change in changes:
        change(node)
    (folder / "node.json").write_text(json.dumps(node))
    return read_node(folder / "node.json", PLANNED)


def test_what_the_node_leaves_of_its_plan_is_read_as_it_is(tmp_path: Path) -> None:
    assert read(tmp_path) == LEFT["node.json"]


ROWS = [
    (at("probes", 0, "arrived", 0, to=[1]), "probes[0].arrived[0]=[1]: must be a list of 2"),
    (at("probes", 0, "arrived", 0, to=[-1, 5]), "probes[0].arrived[0][0]=-1: must be 0 or more"),
    (at("probes", 1, "delay_ms", to=7), "probes[1].delay_ms=7: must be 50.0, as planned"),
    (at("capture", "dropped_pkts", to=-3), "capture.dropped_pkts=-3: must be 0 or more"),
    (at("counters", "tcp", "server", to={"x": -1}), "counters.tcp.server.x=-1: must be 0 or more"),
    (at("counters", "interfaces", "client:eth1", to=None), "counters.interfaces.client:eth1=: must be given"),
    (at("changes", 0, "played", "loss_sum", to=-5), "changes[0].played.loss_sum=-5: must be 0 or more"),
    (at("changes", 0, "played", "lost_pkts", to=None), "changes[0].played.lost_pkts=: must be given"),
    (at("changes", 0, "part", to="delay-up"), "changes[0].part=delay-up: must be delay-down, as planned"),
    (at("changes", to=[]), "changes=0: must be 1, as many as planned"),
    (at("modules", to=None), "modules=: must be given"),
    (at("modules", to={}), "modules=: must be qdisc_sampler, tcp_search, as planned"),
    (at("modules", "tcp_other", to={}), "modules=qdisc_sampler, tcp_other, tcp_search: must be qdisc_sampler, tcp_s"),
    (at("modules", "tcp_search", "threshold_pct", to="20"), "modules.tcp_search.threshold_pct=20: must be 26, as"),
    (at("modules", "tcp_search", "threshold_pct", to=None), "modules.tcp_search.threshold_pct=: must be 26, as pl"),
    (at("modules", "tcp_search", "late", to="N"), "modules.tcp_search.late=N: must be 1, as planned"),
    (at("downloads", 1, to=None), "downloads=1: must be 2, as many as planned"),
    (at("downloads", 0, "until_ns", to=5), "downloads[0].until_ns=5: must be from 872484864 to"),
    (at("downloads", 1, "data_ns", to=2**62), f"downloads[1].data_ns={2**62}: {SPAN}"),
    (at("downloads", 0, "iperf3_error", to="none"), "downloads[0].iperf3_error=none: must be a text where iperf3"),
    (at("start_ns", to=1), f"start_ns=1: {SPAN}"),
    (at("applied", 0, "spec", "rate_bps", to=9), "applied[0].spec={'kind': 'tbf', 'rate_bps': 9"),
    (at("applied", 2, to=None), "applied=2: must be 3, as many as planned"),
    (at("applied", 0, "got", to={"x": {"y": {"z": 1}}}), "applied[0].got.x"),
]


@pytest.mark.parametrize(("change", "line"), ROWS, ids=[line for _, line in ROWS])
def test_what_does_not_fit_the_plan_is_one_line(tmp_path: Path, change: Callable[[Any], None], line: str) -> None:
    assert error_of(read, tmp_path, change).startswith(f"{tmp_path / 'node.json'}: {line}")


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (("probes", 0, "arrived"), [""] * 1000),
        (("probes", 0, "arrived", 0), ["", ""]),
        (("counters", "tcp", "server"), {str(number): "" for number in range(1000)}),
    ],
)
def test_of_many_breaches_of_a_contract_the_first_alone_is_held(place: tuple[Any, ...], wrong: object) -> None:
    node = deepcopy(LEFT["node.json"])
    at(*place, to=wrong)(node)
    with pytest.raises(ValidationError) as breaches:
        _validator(NodeRecord).validate_python(node)
    assert breaches.value.error_count() == 1


@pytest.mark.parametrize("realtime_ns", [5, 2**62])
def test_a_capture_that_was_not_made_during_the_trial_is_one_line(realtime_ns: int) -> None:
    node = deepcopy(LEFT["node.json"])
    captured_ns = node["clocks"]["realtime_ns"] + 10**8
    assert on_trace_clock(node, captured_ns, Path("client.pcapng")) == BEGUN_NS + 10**8
    node["clocks"]["realtime_ns"] = realtime_ns
    with pytest.raises(UserError, match=rf"^client\.pcapng: begin_ns={captured_ns}: must be a time of the trial, "):
        on_trace_clock(node, captured_ns, Path("client.pcapng"))


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel's settings: one that is there."""
    (tmp_path / "net/ipv4").mkdir(parents=True)
    (tmp_path / "net/ipv4/tcp_rmem").write_text("4096\t131072\t6291456\n")
    monkeypatch.setattr(sysctl, "PROC", tmp_path)
    return tmp_path


def test_a_file_is_read_whole_and_replaced_whole_but_not_made(tmp_path: Path) -> None:
    for text in ("", "1\n", "a line\n" * 50_000):
        (tmp_path / "file").write_text(text)
        assert small_file.read(tmp_path / "file") == text
    (tmp_path / "file").write_text("a longer text")
    small_file.write(tmp_path / "file", "1")
    assert (tmp_path / "file").read_text() == "1"
    with pytest.raises(FileNotFoundError):
        small_file.write(tmp_path / "other", "1")
    assert not (tmp_path / "other").exists()


def test_a_file_is_made_whole_once(tmp_path: Path) -> None:
    small_file.make(tmp_path / "file", "a text")
    assert (tmp_path / "file").read_text() == "a text"
    with pytest.raises(FileExistsError):
        small_file.make(tmp_path / "file", "another")


def test_a_file_that_takes_a_part_is_refused(tmp_path: Path) -> None:
    with few_bytes_per_file(4), pytest.raises(OSError, match="No space left on device"):
        small_file.make(tmp_path / "file", "a text")


def test_a_tool_is_found_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "second" / "iperf3"
    (tmp_path / "first").mkdir()
    tool.parent.mkdir()
    tool.touch(mode=0o755)
    (tmp_path / "first" / "iperf3").touch(mode=0o644)  # not executable
    monkeypatch.setenv("PATH", f"{tmp_path / 'first'}:{tool.parent}")
    assert [tools.file_of("iperf3"), tools.file_of("nosuch")] == [str(tool), "nosuch"]


def test_a_setting_is_written_and_read_back_whatever_stands_between_its_values(proc: Path) -> None:
    assert sysctl.read(None, ["net.ipv4.tcp_rmem"]) == {"net.ipv4.tcp_rmem": "4096 131072 6291456"}
    sysctl.pin(None, {"net.ipv4.tcp_rmem": "1 2  3"})
    assert (proc / "net/ipv4/tcp_rmem").read_text() == "1 2  3"


def test_a_setting_that_does_not_take_is_refused_and_one_that_is_absent_named(proc: Path) -> None:
    message = r"^kernel: net\.ipv4\.nosuch: must be one of this kernel's settings$"
    with pytest.raises(NodeError, match=message):
        sysctl.write("net.ipv4.nosuch", "1")
    with pytest.raises(NodeError, match=message):
        sysctl.read(None, ["net.ipv4.nosuch"])
    (proc / "net/ipv4/deaf").symlink_to("/dev/null")
    with pytest.raises(NodeError, match=r"^kernel: net\.ipv4\.deaf=: must be 1 2 3$"):
        sysctl.pin(None, {"net.ipv4.tcp_rmem": "1 2 3", "net.ipv4.deaf": "1 2 3"})


def test_a_setting_that_a_later_one_changes_is_refused(proc: Path) -> None:
    (proc / "net/ipv4/same").symlink_to("tcp_rmem")
    with pytest.raises(NodeError, match=r"^kernel: net\.ipv4\.tcp_rmem=4 5 6: must be 1 2 3$"):
        sysctl.pin(None, {"net.ipv4.tcp_rmem": "1 2 3", "net.ipv4.same": "4 5 6"})


def test_the_settings_a_node_begins_with_are_written_first(proc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(netns, "entered", lambda _node: nullcontext())
    later = ["ip address add 10.0.0.1/24 dev eth1", "sysctl -q -w net.ipv4.nosuch=1"]
    assert netns._set_first("gateway", ["sysctl -q -w net.ipv4.tcp_rmem=7", *later]) == later
    assert (proc / "net/ipv4/tcp_rmem").read_text() == "7"


NAME = "a\nFITS: all\x1b[2J\u202e.log"
SHOWN = r"a\nFITS: all\x1b[2J\u202e.log"


def test_a_name_stays_on_its_line() -> None:
    printed = io.StringIO()
    console = PlainConsole(file=printed)
    say(console, f"{NAME}: ping", "next")
    show_path(console, "page", NAME)
    assert printed.getvalue().splitlines() == [f"{SHOWN}: ping", "next", f"page      {SHOWN}"]


def test_a_name_in_brackets_is_no_markup() -> None:
    printed = io.StringIO()
    table = Table.grid()
    table.add_row("a[/b][red].log")
    PlainConsole(file=printed).print(table, "[/b]")
    assert printed.getvalue().split() == ["a[/b][red].log", "[/b]"]
