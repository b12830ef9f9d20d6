# SPDX-License-Identifier: GPL-2.0-or-later
"""The unit of a column that a user names: its name shows it, or it is assumed, which a note states with its doubt."""

from pathlib import Path

import pytest
from test_import_columns import read

from tests.brief import error_of


@pytest.mark.parametrize(
    ("becomes", "name", "units"),
    [
        ("rate_down_mbps", "Throughput (KB/s)", "[kB/s]"),
        ("rate_down_mbps", "DL Kbits/sec", "[kbit/s]"),  # as iperf writes it
        ("rate_down_mbps", "DL MBytes/sec", "[MB/s] or [MiB/s]"),
        ("rate_down_mbps", "DL MiB/s", "[MiB/s]"),
        ("rate_down_mbps", "DL GB/s", "[GB/s]"),
        ("rate_down_mbps", "DL Mibit/s", "[Mibit/s]"),
        ("rate_down_mbps", "DL (Mb)", "[Mbit/s] or [Mbit/interval]"),  # of a second, or of the row's time
        ("rate_down_mbps", "gbit/s", "[Gbit/s]"),
        ("rate_down_mbps", "dl_kB_s", "[kB/s]"),
        ("rate_down_mbps", "MiB per second", "[MiB/s]"),
        ("rate_down_mbps", "DL (kB)", "[kB/s] or [kB/interval]"),
        ("rate_down_mbps", "dl_MB", "[Mbit/s] or [MB/s] or [MB/interval]"),
        ("rate_down_mbps", "kb", "[kbit/s] or [kbit/interval]"),
        ("rate_down_mbps", "kilobits per second", "[kbit/s]"),
        ("rate_up_mbps", "bits_per_second", "[bit/s]"),  # of iperf3's JSON
        ("rate_up_mbps", "bytes", "[B/s] or [B/interval]"),
        ("rate_up_mbps", "ul_kbps_mean", "[kbit/s]"),
        ("rate_up_mbps", "ulkbps", "[kbit/s]"),
        ("rate_up_mbps", "uplinkKbps", "[kbit/s]"),
        ("rate_up_mbps", "uplinkThroughputBps", "[bit/s] or [B/s]"),  # bits of a dish, bytes of others
        ("rate_up_mbps", "UL_MBPS", "[Mbit/s] or [MB/s]"),
        ("t_s", "elapsedMs", "[ms]"),
        ("t_s", "time_us_utc", "[us]"),
        ("t_s", "time_\N{MICRO SIGN}s", "[us]"),
        ("t_s", "milliseconds", "[ms]"),
        ("t_s", "Time (min)", "[min]"),
        ("t_s", "hours", "[h]"),
        ("duration_s", "days", "[day]"),
        ("rtt_ms", "rttUs", "[us]"),
        ("rtt_ms", "rtt_\N{GREEK SMALL LETTER MU}s", "[us]"),
        ("rtt_ms", "rtt_us_mean", "[us]"),
        ("rtt_ms", "RTT in seconds", "[s]"),
        ("loss_pct", "loss_ratio", "[share]"),
    ],
)
def test_a_name_that_shows_another_unit_requires_the_unit(tmp_path: Path, becomes: str, name: str, units: str) -> None:
    line = error_of(read, tmp_path, f"t,{name}\n0,1\n", columns=f"{becomes}={name}")
    assert f"must be given with its unit, as {becomes}={name} {units}: without one it is in" in line


@pytest.mark.parametrize(
    ("becomes", "name", "value"),
    [
        ("rate_down_mbps", "DL Mbits/sec", 12.0),
        ("rate_down_mbps", "dlMbps", 12.0),
        ("rate_down_mbps", "MBit/s", 12.0),
        ("rate_down_mbps", "mb_s", 12.0),
        ("rtt_ms", "rtt_min", 12.0),  # the least one
        ("rtt_ms", "popPingLatencyMs", 12.0),
        ("rtt_ms", "the user's RTT in ms", 12.0),
        ("rtt_ms", "QoS ms", 12.0),
        ("loss_pct", "loss ratio (%)", 12.0),
        ("loss_pct", "lossPercent", 12.0),
    ],
)
def test_a_name_that_shows_the_own_unit_requires_none(tmp_path: Path, becomes: str, name: str, value: float) -> None:
    found = read(tmp_path, f"time_s,{name}\n0,12\n1,12\n", columns=f"t_s=time_s,{becomes}={name}")
    assert found.frame[becomes].to_list() == [value, value]
    assert any("Assumed" in note for note in found.notes) == (name == "rtt_min")


def test_a_unit_that_is_assumed_is_stated(tmp_path: Path) -> None:
    found = read(tmp_path, "t,r,rtt\n0,12 Mbit/s,40\n1,13 Mbit/s,41\n", columns="t_s=t,rate_down_mbps=r,rtt_ms=rtt")
    stated = "Another is stated as rtt_ms=rtt [s]."
    assert f"Assumed, for no unit is stated: t in s, rtt in ms. {stated}" in found.notes


@pytest.mark.parametrize(
    ("becomes", "values", "doubt"),
    [
        ("rtt_ms", (0.04, 0.05), "x in ms (from 0.04 to 0.05: perhaps [s])"),
        ("rtt_ms", (0.04, 0.05, 1.4), "x in ms (from 0.04 to 1.4: perhaps [s])"),
        ("rtt_ms", (40_000, 50_000), "x in ms (from 40000 to 50000: perhaps [us])"),
        ("rtt_ms", (0.9, 40), "x in ms."),
        ("loss_pct", (0, 0.02), "x in % (from 0 to 0.02: perhaps [share])"),
        ("loss_pct", (0, 0), "x in %."),
        (
            "rate_down_mbps",
            (20_000, 30_000),
            "x in Mbit/s (from 20000 to 30000: perhaps [kbit/s]). Another is stated as rate_down_mbps=x [kbit/s].",
        ),
        ("rate_down_mbps", (0, 3000, 0, 4000), "x in Mbit/s (from 0 to 4000: perhaps [kbit/s])"),
        ("rate_down_mbps", (0, 950, 0, 2500), "x in Mbit/s."),
        ("duration_s", (1000, 1000), "x in s (a step of 1000: perhaps [ms])"),
        ("duration_s", (4, 4), "x in s."),
        ("t_s", (0, 1000), "x in s (a step of 1000: perhaps [ms])"),
        ("t_s", (0, 60), "x in s."),
        ("t_s", (45_000.5, 45_000.6), "x in s (from 45000.5 to 45000.6: perhaps [day])"),
    ],
)
def test_numbers_that_rather_have_another_unit_than_the_assumed_one_are_a_doubt(
    tmp_path: Path, becomes: str, values: tuple[float, ...], doubt: str
) -> None:
    clock = "" if becomes in ("t_s", "duration_s") else "t_s=time_s,"
    rows = "".join(f"{number},{value}\n" for number, value in enumerate(values))
    columns = f"{clock}{becomes}=x" + ("" if clock else ",rtt_ms=time_s [ms]")
    found = read(tmp_path, f"time_s,x\n{rows}", columns=columns)
    assert any(f"Assumed, for no unit is stated: {doubt}" in note for note in found.notes)
