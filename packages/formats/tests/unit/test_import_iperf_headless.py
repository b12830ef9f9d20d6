# SPDX-License-Identifier: GPL-2.0-or-later
"""iperf's text without its first lines, as grep leaves it: its rows show the direction, and a note says so."""

from pathlib import Path
from typing import Any

import pytest
from test_import_iperf_text import IPERF3, LOCAL, row
from test_import_iperf_variants import columns

from lab.traces import importers
from tests.brief import put

UDP_SUMS = row(0, "10.0 Mbits", "0.0 ms  0/200 (0%)  sender", end=2)
UDP_SUMS += row(0, "5.0 Mbits", "0.1 ms  100/200 (50%)  receiver", end=2)
HEADLESS: dict[str, tuple[str, str, dict[str, list[Any]]]] = {
    "a download: only the summary of its sender, the server, counts retransmits": (
        IPERF3
        + row(0, "7 Mbits")
        + row(1, "3 Mbits")
        + row(0, "9.0 Mbits", "   129   sender", end=2)
        + row(0, "5.0 Mbits", "   receiver", end=2),
        "by its rows it is the client's, and a download",
        {"rate_down_mbps": [7.0, 3.0]},
    ),
    "a UDP download: its intervals state a loss": (
        row(0, "7 Mbits", "0.1 ms  30/100 (30%)") + row(1, "3 Mbits", "0.1 ms  70/100 (70%)") + UDP_SUMS,
        "by its rows it is the client's, and a download",
        {"rate_down_mbps": [7.0, 3.0], "loss_pct": [30.0, 70.0]},
    ),
    "a UDP upload": (
        row(0, "10 Mbits", "  100") + row(1, "10 Mbits", "  100") + UDP_SUMS,
        "by its rows it is the client's, and an upload",
        {"rate_up_mbps": [5.0], "loss_pct": [50.0]},
    ),
    "a server, by its port": (
        LOCAL.replace("40000", "5201") + row(0, "7 Mbits") + row(1, "3 Mbits"),
        "by its rows it is the server's, and an upload",
        {"rate_up_mbps": [7.0, 3.0]},
    ),
    "rows alone": (
        row(0, "7 Mbits") + row(1, "3 Mbits"),
        "by its rows it is the client's, and an upload; compare",
        {"rate_up_mbps": [7.0, 3.0]},
    ),
}


@pytest.mark.parametrize("of", HEADLESS)
def test_a_text_without_its_begin_has_the_direction_that_its_rows_show_with_a_note(tmp_path: Path, of: str) -> None:
    text, words, expected = HEADLESS[of]
    file = put(tmp_path / "iperf.txt", text)
    assert columns(file, format="iperf3-text", ramp="keep") == expected
    assert words in " ".join(importers.read(file, "iperf3-text").notes)


def test_sums_alone_of_a_two_way_test_keep_both_directions(tmp_path: Path) -> None:
    file = put(tmp_path / "iperf.txt", row(0, "3 Mbits", "", "[SUM][TX-C]") + row(0, "7 Mbits", "", "[SUM][RX-C]"))
    assert columns(file, format="iperf3-text") == {"rate_up_mbps": [3.0], "rate_down_mbps": [7.0]}
