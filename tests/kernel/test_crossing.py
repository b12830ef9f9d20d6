# SPDX-License-Identifier: GPL-2.0-or-later
"""A link is measured by the same code in the virtual kernel and in the running one."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bench import crossing
from bench.crossing import at_pace
from lab.backends.records import TrialError
from lab.base.errors import UserError
from tests.conftest import Bench

FIFO = {"kind": "bfifo", "limit_bytes": 1_000_000}  # in every kernel, without a module
PACKETS = at_pace(5, 0, 0.5)


def may_make_namespaces() -> bool:
    done = subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True, check=False)
    return os.geteuid() == 0 and done.returncode == 0


def tools_are_there() -> bool:
    return may_make_namespaces() and all(shutil.which(tool) for tool in ("ip", "tc", "sysctl"))


# tests/skips.toml lists only the first: where root lacks a tool, that is a failure.
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="not root: the running kernel is not touched")
with_tools = pytest.mark.skipif(os.geteuid() == 0 and not tools_are_there(), reason="needs namespaces, ip, tc, sysctl")


def test_a_wire_carries_all_packets_in_order(bench: Bench, tmp_path: Path) -> None:
    got = crossing.cross(crossing.in_virtual(bench.kernel, bench.world.root), tmp_path, FIFO, PACKETS, 1.0)
    assert got.received.height == got.packets.height == len(PACKETS)
    assert got.reordered_pkts == 0
    taken_s = got.received["received_s"] - got.received["sent_s"]
    assert float(taken_s.min() or 0) >= 0  # type: ignore[arg-type]
    assert float(taken_s.max() or 0) < 50e-6  # type: ignore[arg-type]


@as_root
@with_tools
def test_the_running_kernel_is_measured_alike(tmp_path: Path) -> None:
    got = crossing.cross(crossing.here, tmp_path, FIFO, PACKETS, 1.5)
    assert got.received.height == got.packets.height
    assert got.reordered_pkts == 0
    assert Path("/proc/version").read_text().strip() == got.record["kernel"]


@as_root
@with_tools
def test_what_the_running_kernel_refuses_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(TrialError) as refused:
        crossing.cross(crossing.here, tmp_path, FIFO | {"limit_bytes": -1}, PACKETS, 1.5)
    assert "\n" not in str(refused.value)


def test_without_root_the_running_kernel_is_not_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UserError, match=r"^--where host: must be run as root"):
        crossing.here({}, tmp_path)
