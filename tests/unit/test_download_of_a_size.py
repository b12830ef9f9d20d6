# SPDX-License-Identifier: GPL-2.0-or-later
"""A download of a size ends with its last byte, however long the round trip, at the latest at its time."""

from typing import Any

import pytest

from lab.node.system.tools import NodeError
from lab.node.traffic.download import result
from lab.tables import downloads

SIZE_BYTES = 1_000_000
FAILED = '{"error": "unable to receive results: "}'


def test_a_download_that_is_whole_survives_that_iperf3_cannot_exchange_results() -> None:
    assert result(FAILED, whole=True, finished=True) == {
        "iperf3": None,
        "iperf3_error": "iperf3: unable to receive results: ",
    }
    with pytest.raises(NodeError, match="unable to receive results"):
        result(FAILED, whole=False, finished=True)


@pytest.mark.parametrize(("seconds", "lasted_s", "failed"), [(4.0, 9.0, False), (30.0, 30.0, False), (30.0, 9.0, True)])
def test_a_client_that_ended_with_neither_its_bytes_nor_its_time_fails_the_trial(
    seconds: float, lasted_s: float, failed: bool
) -> None:
    """`seconds` is the download's length: its time, unless its bytes were there before."""
    plan: Any = {"flows": [{"duration_s": 30, "size_bytes": SIZE_BYTES}]}
    node: Any = {"downloads": [{"data_ns": 0, "until_ns": round(lasted_s * 1e9), "iperf3_error": "iperf3: gone"}]}
    measured: Any = [{"seconds": seconds}]
    assert downloads.failure(plan, node, measured) == ("iperf3: gone" if failed else None)
