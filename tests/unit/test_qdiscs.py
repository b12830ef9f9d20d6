# SPDX-License-Identifier: GPL-2.0-or-later
"""Each kind of qdisc is made as requested, read back and sampled; a delay line follows a series."""

import json
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.node.net import netlink
from lab.node.qdiscs import kinds, qdisc, qdisc_uapi, series
from lab.node.qdiscs.qdisc_kind import NetlinkKind, TcKind
from lab.node.system.tools import NodeError
from lab.tables.qdisc import COLUMNS, qdisc_table
from lab.tables.trace import read_events
from tests.brief import put
from tests.kernel.test_qdisc_models import GATEWAY
from tests.kernel.test_qdisc_on_demand import GEO
from tests.kernel.test_qdisc_replay import LINK, MBPS
from tests.kernel.test_qdisc_tbf import TBF
from tests.link_bench import Spec

DELAY_LINE: Spec = {
    "kind": "delay_line",
    "limit_pkts": 1_000_000,
    "delay_us": 30_000,
    "loss_pct": 0.0,
    "frame_us": 0,
    "frame_pkts": 0,
    "late_us": 100,
    "seed": 7,
}
NETEM: Spec = {
    "kind": "netem",
    "limit_pkts": 1_000_000,
    "delay_us": 30_000,
    "loss_pct": 0.0,
    "rate_bps": 10e9,
    "seed": 7,
}


def test_the_seed_is_given_when_netem_is_made_and_not_again() -> None:
    assert "seed 7" in qdisc.command("eth2", NETEM)
    assert "seed" not in qdisc.command("eth2", NETEM, "change")


@pytest.mark.parametrize(
    ("read", "text", "words"),
    [
        (series.delay, "0\t5\n", "line 1: must have 3 fields, split by a tab"),
        (series.delay, "0\t5\t101\n", "line 1: must hold a loss of 0 to 100 %, and not '101'"),
        (series.delay, "0\t5\tnan\n", "line 1: must hold a loss of 0 to 100 %, and not 'nan'"),
        (series.delay, "0\t-5\t0\n", "line 1: must hold whole numbers from 0 on, and not '-5'"),
        (series.delay, "0\t5\t0\n", r"must close with the line <t_us>\\tend"),
        (series.capacity, "0\t5\n", r"must close with the line <t_us>\\tend"),
        (series.capacity, "0 5\n1\tend\n", "line 1: must have 2 fields, split by a tab"),
        (series.capacity, "0\t5\n1.5\t6\n2\tend\n", r"line 2: must hold whole numbers from 0 on, and not '1.5'"),
        (series.capacity, "0\t-1\n2\tend\n", "line 1: must hold whole numbers from 0 on, and not '-1'"),
        (series.capacity, "0\tnan\n2\tend\n", "line 1: must hold whole numbers from 0 on, and not 'nan'"),
        (series.capacity, "5\tend\n", "line 1: must begin with a step"),
    ],
)
def test_a_file_that_is_no_series_is_refused_by_line(
    tmp_path: Path, read: Callable[[series.Line], tuple[int, ...]], text: str, words: str
) -> None:
    file = put(tmp_path / "series.tsv", text)
    with pytest.raises(NodeError, match=rf"^series\.tsv: {words}$"):
        list(series.chunks(file, 2, read))


def test_chunks_hold_every_step_once(tmp_path: Path) -> None:
    file = put(tmp_path / "series.tsv", "".join(f"{t}\t{t * 2}\n" for t in range(7)) + "9\tend\n")
    chunks = list(series.chunks(file, 3, series.capacity))
    assert [len(chunk.steps) for chunk in chunks] == [3, 3, 1]
    assert [step for chunk in chunks for step in chunk.steps] == [(1000 * t, t * 2) for t in range(7)]
    assert [chunk.end_ns for chunk in chunks] == [None, None, 9000]


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


@pytest.mark.parametrize("name", ["bfifo", "fq"])
@given(st.data())
def test_a_kind_without_a_state_shows_its_options_as_they_were_stated(name: str, data: st.DataObject) -> None:
    kind = kinds.find(name)
    assert isinstance(kind, NetlinkKind)
    spec = {row.name: data.draw(st.integers(0, 2**32 - 1) | st.integers(0, 2**16)) for row in kind.settings}
    assert qdisc_uapi.settings(kind, {netlink.TCA_OPTIONS: qdisc_uapi.options(kind, spec)}) == spec


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


DRAFT = Path(__file__).parents[1] / "data/draft"
INTERVAL_S = json.loads((DRAFT / "plan.json").read_text())["sampler"]["interval_us"] / 1e6
SAMPLES = qdisc_table(read_events(DRAFT / "trace.raw", DRAFT / "formats"), 0)
BUFFER_BYTES = 20_000


def test_every_sample_is_there_with_every_counter_which_only_grow_and_the_queue_within_the_buffer() -> None:
    assert SAMPLES.columns == [*COLUMNS]
    assert SAMPLES.null_count().sum_horizontal().item() == 0
    assert SAMPLES["t_s"].diff().drop_nulls().to_numpy() == pytest.approx(INTERVAL_S, abs=5e-6)
    assert 0 < SAMPLES["backlog_bytes"].max() <= BUFFER_BYTES  # type: ignore[operator]
    assert ((SAMPLES["backlog_bytes"] == 0) == (SAMPLES["backlog_pkts"] == 0)).all()
    assert (SAMPLES["backlog_bytes"] <= SAMPLES["backlog_pkts"] * 1514).all()
    for name in ("sent_bytes", "sent_pkts", "drops_pkts"):
        assert (SAMPLES[name].diff().drop_nulls() >= 0).all()
    assert SAMPLES["drops_pkts"][-1] == 32
