# SPDX-License-Identifier: GPL-2.0-or-later
"""Each kind of qdisc is made as requested, below a replayed link and on its own, read back, and refused in one line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.backends import boot
from lab.backends.records import TrialError
from tests.conftest import Bench
from tests.guest import qdiscs as guest_qdiscs
from tests.kernel.test_qdisc_models import GATEWAY
from tests.kernel.test_qdisc_on_demand import GEO
from tests.kernel.test_qdisc_replay import LINK, MBPS
from tests.kernel.test_qdisc_tbf import TBF
from tests.link_bench import Spec, at_pace, cross
from tests.unit.test_qdiscs import NETEM, QUEUES, ROOTS

MANY = 60


def kind_of(spec: Spec) -> str:
    return str(spec["kind"])


def drawn() -> list[Spec]:
    rng = np.random.default_rng(1)
    rates, buffers = 10 ** rng.uniform(5, 9.5, MANY), 10 ** rng.uniform(4, 8, MANY)
    delays, losses = 10 ** rng.uniform(0, 6, MANY), 10 ** rng.uniform(-3, 2, MANY)
    return [
        spec
        for rate, buffer, delay, loss in zip(rates, buffers, delays, losses, strict=True)
        for spec in (
            TBF | {"rate_bps": round(rate), "limit_bytes": round(buffer)},
            NETEM | {"delay_us": round(delay), "loss_pct": float(loss)},
        )
    ]


@pytest.mark.parametrize("check", [guest_qdiscs.refusals, guest_qdiscs.unlike_tc])
def test_whatever_a_trial_draws_is_read_back_and_is_what_tc_would_make(
    bench: Bench, tmp_path: Path, check: Callable[[list[Spec]], list[str]]
) -> None:
    reported = boot.call(check, {"specs": drawn()}, tmp_path, bench.kernel, bench.world.root)
    assert reported.result == []


@pytest.mark.parametrize("limit_bytes", [4, 1514, 65_535, 65_536, 2**31])
def test_a_fifo_of_any_size_is_read_back(bench: Bench, limit_bytes: int) -> None:
    spec = {"kind": "bfifo", "limit_bytes": limit_bytes}
    link = cross(bench, f"bfifo-{limit_bytes}", spec, at_pace(1, 0, 0.05), 0.3)
    assert link.record["got"] == {"limit_bytes": limit_bytes}


@pytest.mark.parametrize("child", QUEUES, ids=kind_of)
def test_every_queue_works_below_a_replayed_link(bench: Bench, child: Spec) -> None:
    spec = LINK | {"child": child, "start_bps": 10 * MBPS}
    link = cross(bench, f"child-{child['kind']}", spec, at_pace(15, 0, 2), 2.5)
    assert_read_back(link.record["got"]["child"], child)
    shaped = [entry for entry in link.record["shown"] if entry.get("parent") == "1:1"]
    assert [entry["kind"] for entry in shaped] == [child["kind"]]
    assert link.received["received_s"].is_between(1, 2).sum() * 1514 * 8 == pytest.approx(10 * MBPS, rel=0.005)
    root = link.record["shown"][0]
    assert root["drops"] > 0  # what the child drops, at arrival or later, counts at the root
    sent = link.packets["number"].n_unique()
    copies = link.record["statistics"]["disturb"]["copied_pkts"] if child["kind"] == "disturb" else 0
    assert root["drops"] + root["qlen"] == sent + copies - len(link.received)


@pytest.mark.parametrize("root", ROOTS, ids=kind_of)
def test_every_kind_is_made_as_requested_on_its_own(bench: Bench, root: Spec) -> None:
    link = cross(bench, f"root-{root['kind']}", root, at_pace(1, 0, 0.05), 0.3)
    assert_read_back(link.record["got"], root)
    assert len(link.received) == len(link.packets)
    assert link.record["shown"][0]["kind"] == root["kind"]  # tc prints valid JSON whatever the kind


def assert_read_back(got: dict[str, Any], requested: Spec) -> None:
    for name, value in got.items():
        if name == "child":
            assert value == {"limit_bytes": requested["limit_bytes"]}
        else:
            assert value == (requested[name] if isinstance(value, str) else pytest.approx(requested[name], rel=2e-3)), (
                name
            )


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (LINK | {"start_bps": 10**11}, "router:eth2: qdisc: start_bps: must be at most 10 Gbit/s: "),
        (LINK | {"overhead_bytes": -61}, "router:eth2: qdisc: integer out of range: "),
        (GATEWAY | {"drop_pct": 101.0}, "router:eth2: qdisc: drop_pct: must be at most 100: "),
        (GEO | {"phase_us": 40_000}, "router:eth2: qdisc: phase_us: must be less than frame_us: "),
        (GEO | {"frame_us": 0}, "router:eth2: qdisc: integer out of range: "),
        (GEO | {"frame_us": 1, "phase_us": 0, "request_delay_us": 10**6}, "router:eth2: qdisc: request_delay_us: must"),
    ],
)
def test_what_the_kernel_refuses_is_reported_in_its_words(
    bench: Bench, spec: Spec, words: str, request: pytest.FixtureRequest
) -> None:
    name = f"refused-{abs(hash(request.node.name))}"
    with pytest.raises(TrialError) as refused:
        cross(bench, name, spec, at_pace(1, 0, 0.05), 0.3)
    assert str(refused.value).startswith(words)
    assert "\n" not in str(refused.value)
