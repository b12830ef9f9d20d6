# SPDX-License-Identifier: GPL-2.0-or-later
"""Each kind of qdisc is made as requested, below a replayed link and on its own, read back, and refused in one line."""

import struct

import pytest

from lab.node.net import netlink
from lab.node.qdiscs import kinds, qdisc
from lab.node.qdiscs.qdisc_kind import TcKind
from lab.node.system.tools import NodeError
from tests.kernel.test_qdisc_on_demand import GEO
from tests.kernel.test_qdisc_replay import LINK, MBPS
from tests.kernel.test_qdisc_step_drop import GATEWAY
from tests.kernel.test_qdisc_tbf import TBF
from tests.link_bench import Spec
from tests.unit.test_qdisc_delay import DELAY_LINE, NETEM

CODEL: Spec = {"kind": "codel", "limit_pkts": 1000, "target_us": 5000, "interval_us": 100_000, "ecn": False}
QUEUES: list[Spec] = [
    {"kind": "bfifo", "limit_bytes": 150_000},
    {"kind": "pfifo", "limit_pkts": 100},
    CODEL,
    CODEL
    | {"kind": "fq_codel", "flows": 1024, "quantum_bytes": 1514, "memory_limit_bytes": 4 << 20, "drop_batch_pkts": 64},
    {
        "kind": "pie",
        "limit_pkts": 1000,
        "target_us": 15_000,
        "tupdate_us": 15_000,
        "alpha": 2,
        "beta": 20,
        "ecn": False,
        "bytemode": False,
    },
    {
        "kind": "red",
        "limit_bytes": 1_000_000,
        "min_bytes": 50_000,
        "max_bytes": 150_000,
        "avpkt_bytes": 1000,
        "burst_pkts": 90,
        "bandwidth_bps": 10 * MBPS,
        "probability": 0.1,
        "ecn": False,
    },
    {"kind": "cake", "flowmode": "triple-isolate", "rtt_us": 100_000, "memlimit_bytes": 4_000_000},
    GATEWAY | {"limit_bytes": 200_000, "threshold_bytes": 100_000},
    {"kind": "policer", "limit_bytes": 200_000, "burst_bytes": 100_000, "rate_bps": 20 * MBPS},
    {"kind": "disturb", "limit_bytes": 200_000, "hold_every_pkts": 50, "hold_pkts": 3, "copy_every_pkts": 70},
    {"kind": "bursts", "limit_bytes": 200_000, "begin_pct": 0.1, "end_pct": 50.0, "loss_pct": 100.0, "seed": 3},
]
PACED: Spec = {"kind": "fq", "limit_pkts": 10_000, "flow_limit_pkts": 100}
ROOTS: list[Spec] = [*QUEUES, PACED, TBF, NETEM, DELAY_LINE, GEO, LINK]


def test_attributes_are_split_as_they_were_joined_and_a_truncated_one_ends_the_list() -> None:
    nested = netlink.attribute(7 | netlink.NLA_F_NESTED, b"")
    joined = netlink.attribute(3, b"abc") + nested + netlink.attribute(2, b"x")
    assert len(joined) % 4 == 0
    assert netlink.attributes(joined) == {3: b"abc", 7: b"", 2: b"x"}
    assert netlink.attributes(netlink.attribute(3, b"abcd") + struct.pack("HH", 0, 9)) == {3: b"abcd"}


@pytest.mark.parametrize("kind", [kind for kind in kinds.names() if isinstance(kinds.find(kind), TcKind)])
def test_every_kind_of_tc_states_a_limit(kind: str) -> None:
    spec = next(spec for spec in ROOTS if spec["kind"] == kind)
    words = qdisc.command("eth2", spec).split()
    assert "limit" in words or "memlimit" in words


def test_a_setting_that_did_not_take_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = [{"kind": "codel", "options": {"limit": 1000, "target": 4999, "interval": 99999}}]
    monkeypatch.setattr(qdisc, "run_json", lambda *_, **__: shown)
    with pytest.raises(NodeError, match=r"^gateway:eth2: target_us=4999: must be 6000, as requested of codel$"):
        qdisc.made("gateway", "eth2", CODEL | {"target_us": 6000})
