# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel under test reports is of its plan's trial, or is refused in a line that names the field."""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from lab.base.errors import UserError
from lab.tables.node_json import on_trace_clock, read_node
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
    with pytest.raises(UserError) as refused:
        read(tmp_path, change)
    assert str(refused.value).startswith(f"{tmp_path / 'node.json'}: {line}")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("realtime_ns", [5, 2**62])
def test_a_capture_that_was_not_made_during_the_trial_is_one_line(realtime_ns: int) -> None:
    node = deepcopy(LEFT["node.json"])
    captured_ns = node["clocks"]["realtime_ns"] + 10**8
    assert on_trace_clock(node, captured_ns, Path("client.pcapng")) == BEGUN_NS + 10**8
    node["clocks"]["realtime_ns"] = realtime_ns
    with pytest.raises(UserError, match=rf"^client\.pcapng: begin_ns={captured_ns}: must be a time of the trial, "):
        on_trace_clock(node, captured_ns, Path("client.pcapng"))
