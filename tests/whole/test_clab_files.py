# SPDX-License-Identifier: GPL-2.0-or-later
"""containerlab files as users have them: read, passed over with one note, or refused with all faults at once."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from lab.base import paths
from lab.base.errors import UserError
from lab.commands.inventory import check_all
from lab.commands.known import require_link
from lab.links.draw import draw_link
from lab.links.profile import read_profile
from lab.runs.experiment import try_link
from lab.schema.topology import load_topology
from tests.brief import put

PROFILE = "title: t\ndown: {rate_mbps: -1, delay_ms: fast, buffer_bytes: 9}\nup: {delay_ms: 1}\nrecorded: []\n"
ONE, LINE = "must be a topology with exactly one label lab.", "must be left out: write it as an exec line of the node"
FIELD = paths.REPO / "tests/data/field/topologies"


def content() -> dict[str, Any]:
    """Return the content of the lab's own path."""
    found: dict[str, Any] = yaml.safe_load((paths.TOPOLOGIES / "path/path.clab.yml").read_text())
    return found


def written(folder: Path, changed: dict[str, Any]) -> str:
    file = put(folder / "mine.clab.yml", yaml.safe_dump(changed, sort_keys=False))
    return str(file)


def faults(folder: Path, changed: dict[str, Any]) -> list[str]:
    with pytest.raises(UserError) as refused:  # with a line per fault
        load_topology(written(folder, changed), "test")
    return [line.removeprefix(f"{folder}/mine.clab.yml: ") for line in str(refused.value).split("\n")]


def test_a_usual_file_is_read_and_one_note_names_what_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    found = load_topology(str(FIELD / "wan/wan.clab.yml"), "test", labelled=False)
    assert (found.topology.links[0].endpoints, found.mtu_bytes) == (["client:eth1", "router:eth1"], 1500)
    assert found.note
    assert found.note.endswith("does not need it: mgmt, topology.kinds, topology.nodes.client.ports")
    monkeypatch.setenv("LAB_TOPOLOGIES", str(FIELD))
    about = [line for line in check_all() if "wan" in line]
    assert [line.split(":")[0] for line in about] == ["note", "caution"]


def test_a_file_without_labels_runs_no_trial_and_the_line_names_each() -> None:
    with pytest.raises(
        UserError, match=r"labels=: .* lab.sender, lab.receiver, lab.bottleneck, lab.delay-down, lab.bottle"
    ):
        try_link("wired-clean", ["cubic"], {"topology": str(FIELD / "wan/wan.clab.yml")})


def test_a_path_and_a_reduced_file_are_the_same_topology_as_its_name(tmp_path: Path) -> None:
    by_path = try_link("wired-clean", ["cubic"], {"topology": written(tmp_path, content())})
    assert by_path.topology.plain() == load_topology("path", "test").plain()
    assert by_path.topology.note is None
    found = load_topology("path", "test")
    (tmp_path / "again.yml").write_text(yaml.safe_dump(found.plain()))
    assert load_topology(str(tmp_path / "again.yml"), "test").plain() == found.plain()


def test_long_links_other_fields_and_an_empty_node_are_the_same_as_the_short_form(tmp_path: Path) -> None:
    changed = content()
    graph = changed["topology"]
    for link in graph["links"]:
        ends = [dict(zip(("node", "interface"), end.split(":"), strict=True)) for end in link.pop("endpoints")]
        ends[0]["mac"] = "02:00:00:00:00:01"
        link.update(type="veth", endpoints=ends)
        del link["mtu"]
    graph["nodes"]["server"] |= {"env": {"A": "b"}, "hostname": "s", "mgmt_ipv4": "172.20.20.9"}
    graph["kinds"] = {"linux": {"memory": "1Gb"}}
    changed |= {"prefix": "x", "settings": {}, "mgmt": {"network": "y"}}
    found = load_topology(written(tmp_path, changed), "test")
    assert found.plain() == load_topology("path", "test").plain()
    assert found.note
    assert found.note.count("topology.nodes.server.") == 3


def test_labels_may_be_numbers_and_policies_in_small_letters(tmp_path: Path) -> None:
    changed = content()
    node = changed["topology"]["nodes"]["server"]
    node |= {"image-pull-policy": "always", "labels": node.get("labels", {}) | {"site": 3, "prod": True}}
    found = load_topology(written(tmp_path, changed), "test", labelled=False).topology.nodes["server"]
    assert (found.labels["site"], found.labels["prod"], found.image_pull_policy) == ("3", "true", "always")


def test_an_empty_list_and_an_empty_file_are_said_in_words_and_two_faults_both_named(tmp_path: Path) -> None:
    changed = content()
    changed["topology"]["links"] = []
    assert "topology.links=[]: must be of at least 1 entries" in faults(tmp_path, changed)
    (tmp_path / "none.clab.yml").write_text("")
    with pytest.raises(UserError, match="content=None: must be a mapping of fields"):
        load_topology(str(tmp_path / "none.clab.yml"), "test", labelled=False)
    (tmp_path / "mine.yml").write_text(PROFILE)
    with pytest.raises(UserError) as refused:
        read_profile(tmp_path / "mine.yml")
    fields = [line.split(": ")[1].split("=")[0] for line in str(refused.value).split("\n")]
    assert fields == ["down.rate_mbps", "down.delay_ms", "down.buffer_bytes", "assumed"]


def test_fields_that_a_node_takes_in_from_another_are_its_own(tmp_path: Path) -> None:
    changed = content()
    first, second = list(changed["topology"]["nodes"])[:2]
    text = yaml.safe_dump(changed, sort_keys=False)
    text = text.replace(f"    {first}:\n", f"    {first}: &other\n      image: one:1\n", 1)
    text = text.replace(f"    {second}:\n", f"    {second}:\n      <<: *other\n      image-pull-policy: Never\n", 1)
    (tmp_path / "merged.clab.yml").write_text(text)
    nodes = load_topology(str(tmp_path / "merged.clab.yml"), "test", labelled=False).topology.nodes
    assert (nodes[second].image, nodes[second].image_pull_policy) == ("one:1", "Never")
    assert nodes[second].exec == changed["topology"]["nodes"][second].get("exec", nodes[first].exec)


def test_a_group_gives_its_nodes_their_kind(tmp_path: Path) -> None:
    changed = content()
    del changed["topology"]["defaults"]["kind"]
    changed["topology"]["groups"] = {"hosts": {"kind": "linux"}}
    for node in changed["topology"]["nodes"].values():
        node["group"] = "hosts"
    nodes = load_topology(written(tmp_path, changed), "test").topology.nodes
    assert {node.kind for node in nodes.values()} == {"linux"}


def test_all_faults_of_a_file_are_named_in_one_call(tmp_path: Path) -> None:
    changed = content()
    graph = changed["topology"]
    changed["colour"] = "red"
    graph["links"][0] |= {"mtu": 100, "ipv4": ["10.0.1.1/24", "10.0.1.2/24"]}
    graph["links"][1]["endpoints"][0] = "nobody:eth1"
    graph["links"].append({"type": "host", "endpoint": {"node": "server", "interface": "eth3"}})
    graph["nodes"]["server"] |= {"sysctls": {"a": 1}, "labels": {}, "exex": []}
    graph["nodes"]["gateway"]["labels"]["lab.bottleneck"] = "eth9"
    found = [line.split("=")[0] for line in faults(tmp_path, changed)]
    assert found == [
        "topology.nodes.server.sysctls",
        "topology.links.0.ipv4",
        "topology.links.3.type",
        "topology.nodes.server.exex",
        "topology.links.0.mtu",
        "colour",
        "topology.links.endpoints",
        "labels",
        "lab.bottleneck",
    ]


@pytest.mark.parametrize(
    ("place", "value", "line"),
    [
        (("nodes", "gateway", "labels"), {"lab.delay-up": "eth1"}, f"labels=: {ONE}bottleneck ("),
        (("nodes", "client", "labels"), {"lab.sender": "10.0.3.2"}, f"lab.sender=server, client: {ONE}sender"),
        (("kinds",), {"linux": {"exec": ["true"]}}, f"topology.kinds.linux.exec=['true']: {LINE}"),
        (("defaults", "sysctls"), {"a": 1}, f"topology.defaults.sysctls={{'a': 1}}: {LINE}"),
        (("nodes", "server", "group"), ["a"], "topology.nodes.server.group=['a']: must be the name of a group"),
        (("defaults", "network-mode"), "host", "topology.defaults.network-mode=host: must be 'none' or 'bridge'"),
    ],
)
def test_a_fault_is_named_with_its_rule(tmp_path: Path, place: tuple[str, ...], value: Any, line: str) -> None:
    changed = content()
    here = changed["topology"]
    for part in place[:-1]:
        here = here[part]
    here[place[-1]] = value
    assert any(each.startswith(line) for each in faults(tmp_path, changed)), faults(tmp_path, changed)


AT_END = "left out at an end: every trial states"
IN_TRIAL = "left out in a trial: it goes over IPv4"


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("gateway.kind", "nokia_srlinux", "linux in a trial"),
        ("gateway.kind", "bridge", "linux in a trial"),
        ("server.image", "${IMAGE:=alpine:3}", "without IMAGE"),
        ("server.exec.0", "ip addr add $IP/24 dev eth1", "without IP"),
        ("server.exec.0", "hostname __clabNodeName__", "without"),
        ("server.exec.0", "ip -6 addr add fd00::1/64 dev eth1", IN_TRIAL),
        ("server.exec.0", "ip addr add 2001:db8::1/64 dev eth1", IN_TRIAL),
        ("gateway.exec.0", "tc qdisc add dev eth2 root tbf rate 1mbit", "left out: the lab's own"),
        ("gateway.exec.0", "tc q add dev eth2 root netem loss 1%", "left out: the lab's own"),
        ("gateway.exec.0", "tc -s qdisc add root fq dev eth2; true", "left out: the lab's own"),
        ("gateway.exec.0", "tc qdisc add dev 'eth2' root fq", "left out: the lab's own"),
        ("gateway.exec.0", "tc class add dev eth2 parent 1: classid 1:1 htb rate 1mbit", "left out: the lab's own"),
        ("gateway.exec.0", "for d in eth1 eth2; do tc qdisc add dev $d root fq; done", "left out: the lab's own"),
        ("gateway.exec.0", "tc -force -batch /mine.tc", "left out: the lab's own"),
        ("gateway.exec.0", "echo qdisc add dev eth2 root fq | tc -b -", "left out: the lab's own"),
        ("gateway.exec.0", "wondershaper eth2 7000 3000", "left out: the lab's own"),
        ("gateway.exec.0", "tcset eth2 --rate 7Mbps", "left out: the lab's own"),
        ("server.exec.0", "ip route change default via 10.0.1.2 initcwnd 40", f"{AT_END} initcwnd itself"),
        ("server.exec.0", "ip r add default via 10.0.1.2 window 9000", f"{AT_END} window itself"),
        ("client.exec.0", "sysctl -w net.ipv4.tcp_rmem=1", f"{AT_END} net.ipv4.tcp_rmem itself"),
        ("client.exec.0", "echo 0 > /proc/sys/net/ipv4/tcp_sack", f"{AT_END} net.ipv4.tcp_sack itself"),
        ("server.exec.0", "ethtool -K eth1 tso on", "left out: the lab switches offloads off"),
        ("server.labels.lab.sender", "10.0.1.99", "an IPv4"),
        ("server.labels.lab.sender", "10.0.1.1/24", "an IPv4"),
        ("server.labels.lab.sender", "server", "an IPv4"),
    ],
)
def test_what_no_trial_can_have_is_named_before_any_runs(tmp_path: Path, field: str, value: str, rule: str) -> None:
    node, part, *inner = field.split(".", 2)
    stated = value if not inner else [value] if inner == ["0"] else {inner[0]: value}
    line = f"topology.nodes.{field}={value}: must be {rule}"
    test_a_fault_is_named_with_its_rule(tmp_path, ("nodes", node, part), stated, line)


@pytest.mark.parametrize(
    ("end", "other", "rule"),
    [
        ("host:srv", "server:eth1", " of a known node: the lab has no links to a host"),
        ("server:e1/1", "client:eth1", ", the interface as Linux names it"),
    ],
)
def test_an_end_of_a_link_is_an_interface_of_a_node(tmp_path: Path, end: str, other: str, rule: str) -> None:
    line = f"topology.links.endpoints={end}: must be node:interface{rule}"
    test_a_fault_is_named_with_its_rule(tmp_path, ("links",), [{"endpoints": [other, end]}], line)


def test_lines_may_set_variables_of_their_own_and_shape_other_interfaces(tmp_path: Path) -> None:
    changed = content()
    own = "for dev in eth1; do ip link set $dev txqueuelen 500; done"
    lines = [own, "A=1", "echo ${A}", "tc qdisc add dev eth1 root pfifo limit 9"]
    changed["topology"]["nodes"]["server"]["exec"] += lines
    changed["topology"]["nodes"]["server"]["exec"] += ["ip link set eth1 mtu 1500", "ethtool -K eth1 tso off"]
    changed["topology"]["nodes"]["gateway"]["exec"] += ["sysctl -w net.ipv4.tcp_sack=0"]
    changed["topology"]["nodes"]["satellite"]["exec"] += ["tc qdisc add dev lo root fq; ip link set dev eth2 up"]
    changed["topology"]["nodes"]["client"] |= {"env": None}
    assert own in load_topology(written(tmp_path, changed), "test").topology.nodes["server"].exec


@pytest.mark.parametrize("name", ["mine.clab.gotmpl", "mine.py", "mine.json"])
def test_a_file_that_is_no_yaml_is_named_as_a_file_and_not_as_a_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=r"must be a containerlab file in YAML .*docs/mininet.md"):
        require_link(None, str(tmp_path / name))


def test_a_path_may_end_in_yaml(tmp_path: Path) -> None:
    file = Path(written(tmp_path, content())).rename(tmp_path / "mine.clab.yaml")
    require_link(None, str(file))
    assert load_topology(str(file), "test").plain() == load_topology("path", "test").plain()


def test_the_example_of_a_mininet_link_follows_the_rule_of_its_page(tmp_path: Path) -> None:
    page = (paths.REPO / "docs/mininet.md").read_text()
    (tmp_path / "mine.yml").write_text(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1])  # type: ignore[index]
    given = re.search(r"bw=(\d+), delay='(\d+)ms', loss=([\d.]+), max_queue_size=(\d+)", page)
    assert given
    rate_mbps, delay_ms, loss_pct, packets = map(float, given.groups())
    link = draw_link(read_profile(tmp_path / "mine.yml"), 10.0, np.random.default_rng(1))
    for way in (link.down, link.up):
        assert (way.rate_mbps, way.delay_ms, way.loss_pct) == (rate_mbps, delay_ms, loss_pct)
        assert way.buffer_bytes == 1514 * packets - 125 * rate_mbps * delay_ms


def test_units_of_tc_are_on_the_page_as_tc_reads_them() -> None:
    """iproute2's tc/tc_util.c and lib/utils.c: bit/s or, with `bps`, bytes per second; `ki` is 1024; sizes by 1024."""
    page = (paths.REPO / "docs/mininet.md").read_text()
    for text, rate_mbps in (("10mbit", 10), ("10mbps", 10 * 8), ("10mibit", 10 * 2**20 / 1e6)):
        assert re.search(rf"`rate {text}`.*`rate_mbps: {rate_mbps:.5g}`", page), text
    assert re.search(rf"`limit 30k` of tbf .*`buffer_bytes: {30 * 1024}`", page)


def test_every_example_of_the_page_about_mininet_is_a_profile_with_its_formula(tmp_path: Path) -> None:
    page = (paths.REPO / "docs/mininet.md").read_text()
    red = re.search(r"`(buffer_bytes: \d+, queue: [^`]*)`", page)
    assert red
    (tmp_path / "red.yml").write_text(
        f"title: t\ndown: {{rate_mbps: 10, delay_ms: 0, {red[1]}}}\nup: {{delay_ms: 0}}\nrecorded: []\nassumed: [all]\n"
    )
    assert (queue := read_profile(tmp_path / "red.yml").down.queue)
    assert (queue.min_share * 1e6, queue.max_share * 1e6) == (30_000, 35_000)  # type: ignore[attr-defined]
    (tmp_path / "row.yml").write_text(re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[1])
    link = draw_link(read_profile(tmp_path / "row.yml"), 10.0, np.random.default_rng(1))
    assert link.down.buffer_bytes == 1514 * 1000 - 125 * 2 * 0.1
    assert link.up.buffer_bytes == 1514 * 20
