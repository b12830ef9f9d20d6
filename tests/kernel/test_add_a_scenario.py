# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario and a topology are each added as one file: the lab checks it, runs it, and reports it."""

import re
from pathlib import Path

import pytest
from lab_papers.index.write import write_index

from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.tables.stored_run import Run
from tests.brief import put
from tests.command import lab, lab_ok, refused, scenario_file


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the user's with the scenario `mine`."""
    folder = tmp_path_factory.mktemp("scenarios")
    scenario_file(folder, profile="wired-clean", trials=1)
    return folder


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, added: Path, kernel: Kernel) -> Path:
    assert kernel
    folder = tmp_path_factory.mktemp("results")
    lab_ok(folder, "run", "mine", LAB_SCENARIOS=str(added))
    return folder


def test_an_added_scenario_is_checked_and_listed(added: Path, tmp_path: Path) -> None:
    assert "all good" in lab(tmp_path, "check", LAB_SCENARIOS=str(added)).stdout
    listed = lab(tmp_path, "list", "scenarios", LAB_SCENARIOS=str(added)).stdout
    assert re.search(r"^mine +What does a test see\?", listed, re.MULTILINE)


def test_an_added_scenario_runs_to_its_page(results: Path) -> None:
    (trial,) = Run(results / "mine/latest").trials
    assert trial.valid, trial.meta["certificate"]
    assert "What does a test see?" in (results / "mine/latest/report.html").read_text()


def test_the_page_of_all_shows_it(results: Path, added: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_SCENARIOS", str(added))
    page = write_index(results, None, notebooks=tmp_path)
    assert "What does a test see?" in page.read_text()


def test_what_is_wrong_with_an_added_scenario_is_refused(tmp_path: Path) -> None:
    file = scenario_file(tmp_path, profile="nowhere")
    message = refused(lab(tmp_path / "results", "check", LAB_SCENARIOS=str(tmp_path)))
    assert message.startswith(f"{file}: profile=nowhere: must be a known profile of trace-profiles/: ")
    file = scenario_file(tmp_path).rename(tmp_path / "geo.yml")
    message = refused(lab(tmp_path / "results", "check", LAB_SCENARIOS=str(tmp_path)))
    assert message == f"{file}: name=geo: must be another name: lab/scenarios/geo.yml has it"
    missing = tmp_path / "nowhere"
    message = refused(lab(tmp_path / "results", "list", LAB_SCENARIOS=str(missing)))
    assert message == f"environment: LAB_SCENARIOS={missing}: must be a folder"


THREE_HOPS = """
name: three-hops
topology:
  defaults: {kind: linux}
  nodes:
    host-a:
      labels: {lab.sender: 172.16.1.1}
      exec: [ip address add 172.16.1.1/24 dev eth1, ip route add default via 172.16.1.2]
    west:
      labels: {lab.bottleneck: eth2, lab.delay-up: eth1}
      exec:
        - sysctl -q -w net.ipv4.ip_forward=1
        - ip address add 172.16.1.2/24 dev eth1
        - ip address add 172.16.2.1/24 dev eth2
        - ip route add 172.16.4.0/24 via 172.16.2.2
    middle:
      exec:
        - sysctl -q -w net.ipv4.ip_forward=1
        - ip address add 172.16.2.2/24 dev eth1
        - ip address add 172.16.3.1/24 dev eth2
        - ip route add 172.16.1.0/24 via 172.16.2.1
        - ip route add 172.16.4.0/24 via 172.16.3.2
    east:
      labels: {lab.delay-down: eth2, lab.bottleneck-up: eth1}
      exec:
        - sysctl -q -w net.ipv4.ip_forward=1
        - ip address add 172.16.3.2/24 dev eth1
        - ip address add 172.16.4.1/24 dev eth2
        - ip route add default via 172.16.3.1
    host-b:
      labels: {lab.receiver: 172.16.4.2}
      exec: [ip address add 172.16.4.2/24 dev eth1, ip route add default via 172.16.4.1]
  links:
    - {endpoints: ["host-a:eth1", "west:eth1"], mtu: 1500}
    - {endpoints: ["west:eth2", "middle:eth1"], mtu: 1500}
    - {endpoints: ["middle:eth2", "east:eth1"], mtu: 1500}
    - {endpoints: ["east:eth2", "host-b:eth1"], mtu: 1500}
"""


def test_one_file_adds_a_topology_from_check_to_page(tmp_path: Path, kernel: Kernel, world: Image) -> None:
    assert kernel.linux.exists()
    assert world.root.exists()
    put(tmp_path / "topologies/three-hops/three-hops.clab.yml", THREE_HOPS)
    results, mine = tmp_path / "results", {"LAB_TOPOLOGIES": str(tmp_path / "topologies")}
    lab_ok(results, "check", **mine)
    assert "three-hops" in lab(results, "list", **mine).stdout
    scenario = scenario_file(tmp_path, topology="three-hops", profile="wired-clean", trials=1)
    lab_ok(results, "run", str(scenario), **mine)
    (trial,) = Run(results / "mine/latest").trials
    assert trial.valid, trial.meta["certificate"]
    assert "three-hops" in (results / "mine/latest/report.html").read_text()


SPARE = '    - {endpoints: ["host-a:eth2", "host-b:eth2"], mtu: 1500}\n'
A, B = "172.16.1.1/24 dev eth1, ", "172.16.4.2/24 dev eth1, "
FAULTS = {
    "a download that goes round the bottleneck": (
        {
            A: f"{A}ip address add 172.16.9.1/24 dev eth2, ip route add 172.16.4.0/24 via 172.16.9.2, ",
            B: f"{B}ip address add 172.16.9.2/24 dev eth2, ",
        },
        "west:eth2, the bottleneck: 0 of 12 probes: must be crossed by all, on the only path",
    ),
    "a link without addresses": ({}, "host-a:eth2: must have an IPv4 address, which an exec line of host-a adds"),
    "an end without a default route": (
        {A: f"{A}ip address add 172.16.9.1/24 dev eth2, ", B: f"{B}ip address add 172.16.9.2/24 dev eth2, "}
        | {"route add default via 172.16.1.2": "route add 172.16.4.0/24 via 172.16.1.2"},
        "host-a: default route: must be one, via a router",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_only_the_kernel_shows_is_refused_in_a_line(
    tmp_path: Path, kernel: Kernel, world: Image, fault: str
) -> None:
    assert kernel.linux.exists()
    assert world.root.exists()
    text, (changes, line) = THREE_HOPS + SPARE, FAULTS[fault]
    for old, new in changes.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    (tmp_path / "mine.clab.yml").write_text(text)
    words = "--profile wired-clean --cca cubic --trials 1 --duration 4 --topology".split()
    done = lab(tmp_path / "results", "run", *words, str(tmp_path / "mine.clab.yml"))
    assert done.returncode == 1
    assert line in done.stdout + done.stderr
