# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever a profile's queue may have, the kernel makes as it is stated, in bytes or packets, or it is refused."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from lab.backends import boot
from lab.judge.outcome import outcome
from lab.links.queue import MODELS
from lab.node.qdiscs import kinds
from lab.node.qdiscs.qdisc_kind import Bottleneck, Field
from lab.runs.experiment import Experiment
from lab.tables.stored_trial import Trial
from tests.conftest import Bench
from tests.exact_links import over
from tests.guest import qdiscs as guest_qdiscs
from tests.kernel.test_qdisc_replay import LINK
from tests.link_bench import Spec

EACH = 40  # of a kind
MOST_BUFFER_BYTES, FRAMES_BYTES = 2**32 - 1, (590, 1514, 9014, 65_549)


def values(kind: str, rng: np.random.Generator) -> dict[str, Any]:
    fields = [setting.field for setting in kinds.find(kind).settings if setting.field]
    return {field.name: value_of(field, rng) for field in fields if field.default is None or rng.random() < 0.7}


def value_of(field: Field, rng: np.random.Generator) -> Any:
    """Choose a value within the bounds of a field, often at one of them; a whole one where the field needs it."""
    if field.type is bool:
        return bool(rng.integers(2))
    if field.optional and rng.random() < 0.5:
        return None
    bounds = field.bounds
    whole = field.type is int or "multiple_of" in bounds
    tiny = 1 if whole else 1e-9
    least = bounds.get("ge", bounds.get("gt", 0) + tiny)
    most = bounds.get("le", bounds.get("lt", 0) - tiny)
    inside = math.exp(rng.uniform(math.log(max(least, 1e-3 if not whole else 1)), math.log(most)))
    value = [least, most, inside, inside, inside][rng.integers(5)]
    return field.type(round(value) if whole else value)


def allowed(kind: str) -> Iterator[Spec]:
    rng = np.random.default_rng([*kind.encode()])
    for _ in range(50 * EACH):
        frame_bytes = int(rng.choice(FRAMES_BYTES))
        buffer_bytes = int(math.exp(rng.uniform(math.log(frame_bytes), math.log(MOST_BUFFER_BYTES + 0.5))))
        try:
            queue = MODELS[kind].model_validate({"kind": kind, **values(kind, rng)})
        except ValidationError:
            continue
        full_pkts = buffer_bytes // frame_bytes
        if queue.fault(buffer_bytes, frame_bytes) or (getattr(queue, "limit_pkts", None) or 0) > full_pkts:
            continue
        start_bps = round(10 ** rng.uniform(3, 10))
        child = queue.spec(Bottleneck(buffer_bytes, start_bps, 7, frame_bytes))
        yield LINK | {"limit_bytes": buffer_bytes, "start_bps": start_bps, "child": child}


@pytest.mark.parametrize("kind", MODELS)
def test_the_kernel_makes_every_queue_that_a_profile_may_have(bench: Bench, tmp_path: Path, kind: str) -> None:
    specs = [spec for spec, _ in zip(allowed(kind), range(EACH), strict=False)]
    assert len(specs) == EACH
    assert boot.call(guest_qdiscs.refusals, {"specs": specs}, tmp_path, bench.kernel, bench.world.root).result == []


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"kind": "pie", "target_ms": 4295}, "less than or equal to 4294"),
        ({"kind": "pie", "tupdate_ms": 0.5}, "a multiple of 1"),
        ({"kind": "pie", "tupdate_ms": 15.5}, "a multiple of 1"),
        ({"kind": "pie", "alpha": 0}, "greater than or equal to 1"),
        ({"kind": "pie", "beta": 0}, "greater than or equal to 1"),
        ({"kind": "red", "min_share": 0.1, "max_share": 0.5, "probability": 1}, "less than 1"),
    ],
)
def test_a_value_that_the_kernel_cannot_hold_is_refused(fields: dict[str, Any], rule: str) -> None:
    with pytest.raises(ValidationError, match=rule):
        MODELS[fields["kind"]].model_validate(fields)


@pytest.mark.parametrize(
    ("fields", "buffer_bytes", "frame_bytes", "rule"),
    [
        ({"kind": "fq_codel"}, 2**31, 1514, None),
        ({"kind": "fq_codel"}, 2**31 + 1, 1514, "one with a buffer of at most 2147483648 bytes"),
        ({"kind": "policer", "rate_mbps": 5, "burst_bytes": 9014}, 10**6, 9014, None),
        (
            {"kind": "policer", "rate_mbps": 5, "burst_bytes": 9013},
            10**6,
            9014,
            "one whose burst_bytes hold the largest",
        ),
        ({"kind": "red", "min_share": 0.1, "max_share": 0.3, "probability": 1e-3}, 10**6, 1514, None),
        (
            {"kind": "red", "min_share": 0.1, "max_share": 0.3, "probability": 1e-5},
            10**6,
            1514,
            "one whose probability",
        ),
        (
            {"kind": "red", "min_share": 0.1, "max_share": 0.3},
            90_000,
            9014,
            "one whose min_share of the buffer is more",
        ),
    ],
)
def test_a_queue_that_the_kernel_cannot_make_of_a_buffer_is_refused(
    fields: dict[str, Any], buffer_bytes: int, frame_bytes: int, rule: str | None
) -> None:
    found = MODELS[fields["kind"]].model_validate(fields).fault(buffer_bytes, frame_bytes)
    assert found is None if rule is None else (found or "").startswith(rule)


BUFFER_BYTES = 100_000
PATIENT = {"target_ms": 4_000}  # the queue's own law drops nothing: what is lost did not fit the buffer


def behind(queue: dict[str, Any], mtu_bytes: int = 1500) -> Experiment:
    """Return an experiment over a queue whose wires carry packets of this size."""
    down = {"rate_mbps": 20, "delay_ms": 20, "buffer_bytes": BUFFER_BYTES, "queue": queue}
    return over(down, {"delay_ms": 20}, mtu_bytes=mtu_bytes)


@pytest.mark.parametrize(
    ("mtu_bytes", "queue"),
    [
        (9000, {"kind": "bfifo"}),
        (1500, {"kind": "pfifo"}),
        (9000, {"kind": "pfifo"}),
        (576, {"kind": "codel"} | PATIENT),
        (1500, {"kind": "pie"} | PATIENT),
        (9000, {"kind": "pie"} | PATIENT),
        (1500, {"kind": "pie", "limit_pkts": 40} | PATIENT),
    ],
    ids=str,
)
def test_a_full_queue_holds_the_bytes_that_its_trial_states_and_none_more(
    bench: Bench, mtu_bytes: int, queue: dict[str, Any]
) -> None:
    trial: Trial = bench.run(behind(queue, mtu_bytes), "cubic_plain", f"{mtu_bytes}-{queue['kind']}-{len(queue)}")
    assert trial.valid, trial.meta["certificate"]
    held_bytes = trial.meta["buffer_bytes"]
    full_pkts = queue.get("limit_pkts", BUFFER_BYTES // (mtu_bytes + 14))
    assert held_bytes == (BUFFER_BYTES if queue["kind"] == "bfifo" else full_pkts * (mtu_bytes + 14))
    assert held_bytes - 2 * (mtu_bytes + 14) < trial.qdisc["backlog_bytes"].max() <= held_bytes  # type: ignore[operator]
    assert trial.qdisc["drops_pkts"].max() > 0  # type: ignore[operator]
    assert all(row["loss_agrees"] for row in outcome(trial))
