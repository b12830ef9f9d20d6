# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab replay` shapes interfaces of a network that is not the lab's, and gives them back, however it ends."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lab_live.node.networks import root_qdisc
from lab_vm.node import leases
from lab_vm.node.leases import FOLDERS, LEASES
from live_paths import IN_GUEST

from lab.backends import boot
from lab.base.paths import REPO
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.links.tc_alone import constant_delay, constant_rate
from lab.node.system.tools import run
from tests.brief import folder_at
from tests.command import ENV, wait_for
from tests.guest import own_network

OnGuest = Callable[..., dict[str, Any]]
NETEM = constant_delay({"limit_pkts": 1000, "delay_us": 20_000, "loss_pct": 0.0, "seed": 1})
TBF = constant_rate(10_000_000, 100_000)
SERIES = {
    "delay-down.tsv": "0\t20000\t0\n500000\t70000\t0\n9000000\tend\n",
    "bottleneck.tsv": "0\t10000000\n400000\t5000000\n9000000\tend\n",
}


def shapes(node: str) -> list[dict[str, Any]]:
    """A delay line and a bottleneck on one interface, both changed while it runs."""
    found = (("delay-down", NETEM), ("bottleneck", TBF))
    return [
        {"part": part, "node": node, "dev": own_network.DEV, "spec": spec, "steps": f"link/{part}.tsv"}
        for part, spec in found
    ]


@pytest.fixture
def on_guest(tmp_path: Path, kernel: Kernel, world: Image) -> OnGuest:
    def called(function: Callable[..., Any], **arguments: Any) -> dict[str, Any]:
        answer: dict[str, Any] = boot.call(function, arguments, tmp_path, kernel, world.root, more=IN_GUEST).result
        return answer

    return called


@pytest.mark.parametrize("node", [own_network.NODE, own_network.HOST])
def test_an_interface_of_a_namespace_or_a_mininet_host_follows_the_series(on_guest: OnGuest, node: str) -> None:
    reported = on_guest(own_network.replayed, shapes=shapes(node), files=SERIES, duration_s=3.0, end="whole")
    assert reported["errors"] == ""
    delay, rate = reported["during"]
    assert (delay["kind"], delay["options"]["delay"]["delay"]) == ("netem", 0.07)
    assert (rate["kind"], rate["parent"], rate["options"]["rate"]) == ("tbf", "1:1", 5_000_000 / 8)
    assert 70 <= reported["round_trip_ms"] < 75
    lines = reported["printed"].splitlines()
    assert [line.split(", ")[0] for line in lines] == [f"{node}:eth1: delay-down", f"{node}:eth1: bottleneck"]
    assert all("2 changes" in line for line in lines)


@pytest.mark.parametrize("end", ["whole", "interrupted", "abandoned"])
def test_it_takes_everything_down_at_its_end(on_guest: OnGuest, end: str) -> None:
    files, node = SERIES, own_network.HOST
    reported = on_guest(own_network.replayed, shapes=shapes(node), files=files, duration_s=3.0, end=end)
    assert reported["during"] != reported["before"]
    left = {"qdiscs": reported["before"], "names": [own_network.NODE, own_network.OTHER], "leases": []}
    assert reported["after"] == left
    assert reported["cleaned"] == ""


def test_the_labs_own_qdiscs_take_an_interface_each(on_guest: OnGuest) -> None:
    capacity = {"kind": "replay", "mode": "rate", "limit_bytes": 100_000, "overhead_bytes": 0, "start_bps": 10_000_000}
    line = {"kind": "delay_line", "limit_pkts": 1000, "delay_us": 20_000, "loss_pct": 0.0, "seed": 1, "late_us": 1000}
    specs = {"bottleneck": capacity | {"child": None}, "delay-down": line | {"frame_us": 0, "frame_pkts": 0}}
    nodes = {"bottleneck": own_network.HOST, "delay-down": own_network.OTHER}
    requested = [
        {"part": part, "node": nodes[part], "dev": own_network.DEV, "spec": spec, "steps": f"link/{part}.tsv"}
        for part, spec in specs.items()
    ]
    reported = on_guest(own_network.replayed, shapes=requested, files=SERIES, duration_s=3.0, end="whole")
    assert reported["errors"] == ""
    assert reported["during"][0]["kind"] == "replay"
    assert 70 <= reported["round_trip_ms"] < 75
    assert reported["after"]["qdiscs"] == reported["before"]
    assert reported["after"]["leases"] == []


def test_what_a_killed_one_leaves_is_removed_by_the_next(on_guest: OnGuest) -> None:
    node = own_network.HOST
    reported = on_guest(own_network.replayed, shapes=shapes(node), files=SERIES, duration_s=3.0, end="killed")
    assert reported["after"]["qdiscs"] == reported["during"]
    assert len(reported["after"]["names"]) == 3
    left = {"qdiscs": reported["before"], "names": [own_network.NODE, own_network.OTHER], "leases": []}
    assert reported["at_last"] == left
    assert [line.split(" lab-replay-")[0] for line in reported["cleaned"].splitlines()] == [
        "qdiscs of",
        "network namespace's name",
    ]


def test_a_qdisc_of_the_users_own_is_left_alone(on_guest: OnGuest) -> None:
    command = f"tc -n {own_network.NODE} qdisc add dev {own_network.DEV} root handle 7: netem delay 5ms"
    reported = on_guest(own_network.refused, shapes=shapes(own_network.NODE), command=command)
    assert reported["errors"] == (
        "left:eth1: qdisc=netem: must be the kernel's own: 'tc qdisc del dev eth1 root' there\n"
    )
    assert reported["after"] == reported["before"]


@pytest.fixture
def node() -> Iterator[str]:
    """A namespace of this machine with one interface."""
    if os.geteuid():
        pytest.skip("not root: a namespace of this machine is made by root")
    name = f"lab-test-{os.getpid()}"
    run("ip", "netns", "add", name)
    try:
        run("ip", "-n", name, "link", "add", "own0", "type", "veth", "peer", "name", "own1")
        run("ip", "-n", name, "link", "set", "dev", "own0", "up")
        yield name
    finally:
        run("ip", "netns", "delete", name)


def lab_replay(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [str(REPO / "scripts" / "lab"), "replay", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def has_netem(node: str) -> bool:
    tried = subprocess.run(["tc", "-n", node, "qdisc", "add", "dev", "own1", "root", "netem"], capture_output=True)
    return tried.returncode == 0


def test_the_command_leaves_this_machine_as_it_was(node: str) -> None:
    before = root_qdisc(node, "own0")
    done = lab_replay("geo-small", "--link", f"{node}:own0", "--duration", "2")
    if has_netem(node):
        assert done.returncode == 0
        assert re.search(rf"{node}:own0: bottleneck, tbf: \d+ packets passed", done.stdout)
    else:
        assert done.returncode == 2
        refusal = f"replay: {node}:own0: qdisc=netem: must be part of this kernel ({os.uname().release})\n"
        assert done.stderr == refusal
    assert root_qdisc(node, "own0") == before
    assert not list(LEASES.glob("*.json"))
    assert not list(FOLDERS[0].glob(f"{FOLDERS[1]}*"))


def test_an_interface_that_is_not_there_is_named_with_those_that_are(node: str) -> None:
    done = lab_replay("geo-small", "--link", f"{node}:eth7")
    assert (done.returncode, done.stderr) == (
        2,
        f"replay: {node}:eth7: must be an interface of {node}, which has lo, own0, own1\n",
    )


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (["geo-small", "--link", "gateway"], "link=gateway: must be NODE:IFACE"),
        (["geo-small", "--link", "a:b", "--delay", "../a:b"], "delay=../a:b: must be NODE:IFACE"),
        (["geo-small", "--link", "a:b", "--way", "left"], "way=left: must be one of down, up"),
        (["geo-small", "--link", "a:b", "--duration", "0"], "duration=0: must be 1 to 3600"),
        (["geo-small", "--link", "a:b", "--seed", "-1"], "seed=-1: must be 0 to"),
        (["geo-small", "--link", "a:b", "--shaper", "replay"], "shaper=replay: must be netem, or used with --delay"),
        (["geo-small", "--link", "a:b", "--shaper", "htb"], "shaper=htb: must be one of replay, netem"),
        (["lte-att", "--link", "a:b"], "lte-att.yml: down.opportunities="),
        (["nowhere", "--link", "a:b"], "profile=nowhere: must be"),
        (["geo-small", "--link", "no-such-node:eth0"], "no-such-node: must be a network namespace, a Mininet host"),
    ],
)
def test_each_mistake_is_one_line(arguments: list[str], refusal: str) -> None:
    if "no-such-node:eth0" in arguments and os.geteuid():
        refusal = "replay: "
    done = lab_replay(*arguments)
    assert done.returncode == 2
    assert refusal in done.stderr
    assert len(done.stderr.splitlines()) == 1


WAITS = "import sys, pathlib; sys.stdin.read(); pathlib.Path({file!r}).write_text('down')"
CALLS = "from lab_live.replay import attended; attended({command!r})"


LATER = """
import os, signal, threading, time
started = f"/proc/self/task/{os.getpid()}/children"
def press():
    while not open(started).read():
        time.sleep(0.1)
    time.sleep(1)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)  # it ends no wait of the main thread
threading.Thread(target=press).start()
"""


@pytest.mark.parametrize("before", ["", LATER], ids=["by the command", "by another thread of it"])
def test_ctrl_c_waits_until_the_node_has_taken_everything_down(tmp_path: Path, before: str) -> None:
    file = tmp_path / "taken"
    waits = [sys.executable, "-c", WAITS.format(file=str(file))]
    called = [ENV, "--default-signal=INT", sys.executable, "-c", before + CALLS.format(command=waits)]  # `&` ignores it
    environment = os.environ | {"PYTHONPATH": f"{REPO}:{REPO / 'packages/vm'}"}
    process = subprocess.Popen(
        called, cwd=REPO / "packages/live", env=environment, stderr=subprocess.DEVNULL, start_new_session=True
    )
    started = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    wait_for(started.read_text, "start of the node's command")
    time.sleep(1)
    assert not file.exists()
    if not before:
        process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    assert file.read_text() == "down"


def test_a_lease_never_removes_another_folder_than_a_request(tmp_path: Path) -> None:
    """A lease is a file of root's own; even so what it names is held to what the lab makes."""
    kept = folder_at(tmp_path / "kept")
    content = json.dumps({"folder": str(kept), "names": [], "interfaces": [], "modules": []})
    assert list(leases._undo(content)) == []
    assert kept.exists()
