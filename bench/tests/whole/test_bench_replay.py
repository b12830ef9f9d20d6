# SPDX-License-Identifier: GPL-2.0-or-later
"""The bench of replay keeps what it measured of each kernel."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.replay.__main__ import runner
from bench.replay.subjects import subjects
from bench.replay.table import line, spread, store
from lab.base.errors import UserError

CAPACITY: dict[str, Any] = {
    "trace": "lte/one",
    "column": "opportunities",
    "kind": "rate",
    "seconds": 10.0,
    "steps": 1000,
    "packets": 500,
    "lost_pkts": 0,
    "reordered_pkts": 0,
    "kernel": "Linux version 6.12.1",
    "window_error_pct": [0.0, 0.1, 0.2],
}
DELAY = {name: value for name, value in CAPACITY.items() if name != "window_error_pct"} | {
    "trace": "leo/two",
    "kind": "delay",
    "reordered_pkts": 3,
    "delay_error_ms": [0.001] * 99 + [4.0],
    "latest_us": [2.5],
}


def test_a_spread_is_the_middle_the_99th_percentile_and_the_largest() -> None:
    assert spread([1.0] * 98 + [2.0, 3.0]) == {"p50": 1.0, "p99": pytest.approx(2.01), "max": 3.0}
    assert spread([]) == {}


def test_each_kernel_has_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    store("virtual", [CAPACITY, DELAY])
    store("host", [CAPACITY | {"window_error_pct": [7.0]}])
    assert (tmp_path / "bench/replay-host.json").is_file()
    content = json.loads((tmp_path / "bench/replay-virtual.json").read_text())
    found = {figure["name"]: figure["value"] for figure in content["figures"]}
    assert found["one-way delay, max"] == 4.0
    assert (found["packets reordered"], found["packets lost"]) == (3, 0)


def test_a_trace_is_one_line() -> None:
    assert line(DELAY).startswith("leo/two opportunities (delay), 10 s: one-way delay, error in ms 0.001/")
    assert line(DELAY).endswith("3 reordered, 0 lost")


def test_what_is_no_kernel_or_no_recording_is_refused() -> None:
    with pytest.raises(UserError, match=r"--where=moon: must be virtual, vm or host$"):
        runner("moon")
    with pytest.raises(UserError, match="must be a recording of"):
        subjects(["moon/dust"])
