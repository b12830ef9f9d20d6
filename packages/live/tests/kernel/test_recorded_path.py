# SPDX-License-Identifier: GPL-2.0-or-later
"""A path is measured as it is: over loopback, over shaped links, in virtual time; and raw records are read honestly."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lab_live import record
from lab_live.node import recorder
from lab_live.node.recorder import PathRequest
from lab_live.record import Phase
from live_paths import FRAME_BITS, IDLE, IN_GUEST

from lab.backends import boot
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.node.net.forked import Forked
from lab.node.system.tools import NodeError, run
from lab.runs.plan import draw, make_plan
from tests.conftest import experiment_on
from tests.guest.record_path import record_path
from tests.kernel.test_calibration import Known
from tests.kernel.test_crossing import may_make_namespaces

DOWN = {"name": "down", "seconds": 1.5, "down": True, "up": False}
UP = {"name": "up", "seconds": 1.5, "down": False, "up": True}
RATE_MBPS, BUFFER_BYTES = 20.0, 60_000
ENDS = {"rec-server": "10.77.0.1", "rec-client": "10.77.0.2"}


@contextmanager
def two_namespaces() -> Iterator[None]:
    """A server and a client with a wire between them: no tools but ip and tc."""
    server, client = ENDS
    try:
        for name in ENDS:
            run("ip", "netns", "add", name)
        run(*f"ip link add eth1 netns {server} type veth peer name eth1 netns {client}".split())
        for name, address in ENDS.items():
            run(*f"ip -n {name} addr add {address}/24 dev eth1".split())
            run(*f"ip -n {name} link set eth1 up".split())
        yield
    finally:
        for name in ENDS:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


@pytest.fixture(scope="module")
def shaped(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Phase]:
    """A link whose server sends at a rate, through a buffer."""
    if os.geteuid() != 0:
        pytest.skip("not root: a user may not shape a link between two namespaces")
    if not may_make_namespaces():
        pytest.skip("needs network namespaces")
    folder = tmp_path_factory.mktemp("shaped")
    try:
        with two_namespaces():
            shape = f"tbf rate {RATE_MBPS}mbit burst 1600 limit {BUFFER_BYTES}"
            run(*f"tc -n rec-server qdisc replace dev eth1 root {shape}".split())
            served = Forked("rec-server", recorder.serve, recorder.PORT, None, 1)
            threading.Event().wait(0.5)
            Forked("rec-client", _measure_from_client, str(folder)).answer()
            served.answer()
    except NodeError as error:
        pytest.skip(f"namespaces or tc do not work here: {error}")
    return {phase.name: phase for phase in record.phases(folder)}


def _measure_from_client(folder: str) -> None:
    recorder.measure("10.77.0.1", recorder.PORT, PathRequest([IDLE, DOWN], 60.0, quiet_s=0.3), Path(folder))


def test_a_saturated_link_gives_its_rate_and_its_queue(shaped: dict[str, Phase]) -> None:
    down = record.recording(shaped["down"])
    assert down.meaning == "capacity"
    mean_mbps = float(down.frame["rate_down_mbps"].mean() or 0)  # type: ignore[arg-type]
    assert 0.8 * RATE_MBPS < mean_mbps < 1.02 * RATE_MBPS  # a busy machine starves the shaper; exact in virtual time
    full_ms = BUFFER_BYTES * 8 / RATE_MBPS / 1e3
    assert down.frame["rtt_ms"].median() == pytest.approx(full_ms, rel=0.25)
    assert record.recording(shaped["idle"]).frame["rtt_ms"].median() < full_ms / 4  # type: ignore[operator]


@pytest.fixture(scope="module")
def in_virtual_time(kernel: Kernel, world: Image, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Phase]:
    """The same through the whole lab: 20 Mb/s, 100 ms down, 5 ms up."""
    folder = tmp_path_factory.mktemp("recorded")
    known = Known(20, 100, 5)
    experiment = experiment_on(known.profile, "cubic_plain", duration_s=3)
    plan = make_plan(experiment, experiment.ccas["cubic_plain"], draw(experiment, 1))
    request = PathRequest([IDLE, DOWN, UP], rate_mbps=40.0)._asdict()
    (server, client) = plan["ends"]
    asked = {"plan": plan, "server": server, "client": client, "asked": request}
    boot.call(record_path, asked, folder, kernel, world.root, more=IN_GUEST)
    return {phase.name: phase for phase in record.phases(folder / "raw")}


def test_in_virtual_time_the_round_trip_is_exact(in_virtual_time: dict[str, Phase]) -> None:
    rtts_ms = record.recording(in_virtual_time["idle"]).frame["rtt_ms"]
    assert rtts_ms.null_count() == 0
    assert float(rtts_ms.max() or 0) - 105.0 < 0.2  # type: ignore[arg-type]
    assert float(rtts_ms.min() or 0) == pytest.approx(105.0, abs=0.1)  # type: ignore[arg-type]


def test_in_virtual_time_the_rate_is_exact_to_a_packet_an_interval(in_virtual_time: dict[str, Phase]) -> None:
    down = record.recording(in_virtual_time["down"])
    assert down.meaning == "capacity"
    a_packet_mbps = FRAME_BITS / 0.01 / 1e6
    assert float((down.frame["rate_down_mbps"] - 20.0).abs().max() or 0) <= a_packet_mbps  # type: ignore[arg-type]
    assert down.frame["rate_down_mbps"].mean() == pytest.approx(20.0, rel=0.002)


def test_a_way_that_is_not_limited_is_called_no_capacity(in_virtual_time: dict[str, Phase]) -> None:
    assert record.recording(in_virtual_time["up"]).meaning == "usage"
