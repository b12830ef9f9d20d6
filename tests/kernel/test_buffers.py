# SPDX-License-Identifier: GPL-2.0-or-later
"""What a buffer's bytes are worth where the kernel counts packets, and for frames longer than the usual."""

from typing import Any

import pytest

from lab.judge.outcome import outcome
from lab.runs.experiment import Experiment
from lab.tables.stored_trial import Trial
from tests.conftest import Bench
from tests.exact_links import over

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
