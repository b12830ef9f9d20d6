# SPDX-License-Identifier: GPL-2.0-or-later
"""What each version and option of iperf prints is read as what arrived on the link, or refused by one line."""

import json
from pathlib import Path
from typing import Any

import pytest
from test_import_iperf3 import interval, iperf3_test
from test_import_iperf_variants import columns

from lab.base.errors import UserError
from lab.traces import importers
from tests.brief import error_of, put

LOCAL = "[  5] local 192.0.2.2 port 40000 connected to 192.0.2.1 port 5201\n"
IPERF3 = LOCAL + "[ ID] Interval           Transfer     Bitrate\n"
IPERF2 = "[  3] local 192.0.2.2 port 1 connected with 192.0.2.1\n[ ID] Interval       Transfer     Bandwidth\n"


def row(second: int, rate: str, more: str = "", stream: str = "[  5]", end: int | None = None) -> str:
    """Return iperf3's line of an interval, of a second where no end is given."""
    return f"{stream}   {second}.00-{end or second + 1}.00   sec  1.00 MBytes  {rate}/sec  {more}\n"


REVERSE = "Reverse mode, remote host a is sending\n" + IPERF3
ACCEPTED = "Accepted connection from 192.0.2.2, port 1\n"
FIRST, UP = row(0, "8.4 Mbits"), {"rate_up_mbps": [8.4]}
TEXTS: dict[str, tuple[str, dict[str, list[Any]]]] = {
    "-P 2: all streams together": (
        IPERF3 + FIRST + row(0, "8.4 Mbits", "", "[  7]") + row(0, "16.8 Mbits", "", "[SUM]") + "- - -\n",
        {"rate_up_mbps": [16.8]},
    ),
    "--bidir": (
        IPERF3.replace("[ ID]", "[ ID][Role]")
        + row(0, "8.4 Mbits", "  0    100 KBytes", "[  5][TX-C]")
        + row(0, "84.0 Mbits", "", "[  7][RX-C]"),
        {"rate_up_mbps": [8.4], "rate_down_mbps": [84.0]},
    ),
    "-f g, which has two decimals of a rate: the transfer has three digits": (
        IPERF3
        + "[  5]   0.00-1.00   sec   782 KBytes  0.01 Gbits/sec\n[  5]   1.00-2.00   sec   348 KBytes  0.00 Gbits/sec\n"
        + "[  5]   2.00-3.00   sec  0.00 Bytes  0.00 Gbits/sec\n",
        {"rate_up_mbps": [6.4061, 2.8508, 0.0]},
    ),
    "-f M": (IPERF3 + row(0, "1.00 MBytes"), {"rate_up_mbps": [8.3886]}),
    "--timestamps": ("".join(f"Tue Nov  3 10:00:02 2026 {line}\n" for line in (IPERF3 + FIRST).splitlines()), UP),
    "UDP at the receiver": (
        REVERSE + row(0, "10.0 Mbits", "0.012 ms  10/100 (10%)"),
        {"rate_down_mbps": [10.0], "loss_pct": [10.0]},
    ),
    "UDP at the receiver, which in one interval saw no packet and in one more lost than sent": (
        REVERSE
        + row(0, "10.0 Mbits", "0.012 ms  10/100 (10%)")
        + row(1, "0.00 bits", "0.012 ms  0/0 (-nan%)")
        + row(2, "10.0 Mbits", "0.012 ms  179/100 (1.8e+02%)"),
        {"rate_down_mbps": [10.0, 0.0, 10.0], "loss_pct": [10.0, None, None]},
    ),
    "a terminal's Ctrl-C": (
        IPERF3 + FIRST + "^C" + row(1, "8.4 Mbits") + row(0, "-nan bits", "receiver", end=0),
        {"rate_up_mbps": [8.4, 8.4]},
    ),
    "UDP at the sender: what arrived is in the receiver's summary": (
        IPERF3.replace("Bitrate", "Bitrate         Total Datagrams")
        + row(0, "10.0 Mbits", "863")
        + row(1, "10.0 Mbits", "863")
        + row(0, "10.0 Mbits", "0.000 ms  0/1726 (0%)  sender", end=2)
        + row(0, "2.0 Mbits", "0.012 ms  1381/1726 (80%)  receiver", end=2),
        {"rate_up_mbps": [2.0], "loss_pct": [80.0116]},
    ),
    "-O, whose last omitted second iperf3 may print as one that was kept, at half of its rate": (
        IPERF3
        + row(0, "20.0 Mbits", "   0    416 KBytes       (omitted)")
        + "[  5]   1.00-1.00   sec  1.00 MBytes  4.2 Mbits/sec    0    334 KBytes\n"
        + row(1, "8.4 Mbits", "   2    173 KBytes"),
        {"rate_up_mbps": [8.3886, 8.4], "retransmits_pkts": [0, 2]},
    ),
    "-O 1 -i 0.7, no multiple: the first rate after it is of no interval": (
        IPERF3
        + "[  5]   0.00-0.70   sec   556 KBytes  6.51 Mbits/sec    (omitted)\n"
        + "[  5]   0.30-0.70   sec   550 KBytes  4.50 Mbits/sec    \n"
        + "[  5]   0.70-1.40   sec   573 KBytes  6.70 Mbits/sec\n",
        {"rate_up_mbps": [6.4366, 6.7]},
    ),
    "-T: a title before each line": ("".join(f"run 1:  {line}\n" for line in (IPERF3 + FIRST).splitlines()), UP),
    "--get-server-output: the server's lines are of the same test": (
        IPERF3 + FIRST + "\nServer output:\nAccepted connection from a, port 1\n" + IPERF3 + row(0, "8 Mbits"),
        UP,
    ),
    "a server that sends": (
        ACCEPTED + IPERF3.rstrip() + "         Retr  Cwnd\n" + row(0, "8.4 Mbits", "   2    173 KBytes"),
        {"rate_down_mbps": [8.4], "retransmits_pkts": [2]},
    ),
    "a server that receives UDP, without a word of the sender": (
        ACCEPTED
        + IPERF3
        + row(0, "8.4 Mbits", " 0.1 ms  1/100 (1%)")
        + "[  5] (sender statistics not available)\n[  5]   0.0-1.0  sec  3 datagrams received out-of-order\n",
        {"rate_up_mbps": [8.4], "loss_pct": [1.0]},
    ),
    "a sender whose socket or proxy took more than arrived": (
        "Connecting to host 192.0.2.1, port 5201\n"
        + IPERF3
        + row(0, "90.0 Mbits")
        + row(1, "10.0 Mbits")
        + row(0, "50.0 Mbits", "  3   sender", end=2)
        + row(0, "20.0 Mbits", "  receiver", end=2),
        {"rate_up_mbps": [20.0]},
    ),
    "UDP both ways: what arrived in each": (
        IPERF3.replace("[ ID]", "[ ID][Role]").replace("Bitrate", "Bitrate  Jitter  Lost/Total Datagrams")
        + row(0, "20.0 Mbits", "  1700", "[  5][TX-C]")
        + row(0, "9.0 Mbits", "0.1 ms  1/100 (1%)", "[  7][RX-C]")
        + row(0, "20.0 Mbits", "0.0 ms  0/1700 (0%)  sender", "[  5][TX-C]")
        + row(0, "5.0 Mbits", "0.1 ms  1275/1700 (75%)  receiver", "[  5][TX-C]")
        + row(0, "9.0 Mbits", "0.1 ms  1/100 (1%)  receiver", "[  7][RX-C]"),
        {"rate_up_mbps": [5.0], "rate_down_mbps": [9.0]},
    ),
    "the last interval once more, after the other end is gone": (
        IPERF3 + FIRST + "[ ID] Interval           Transfer     Bitrate\n" + FIRST,
        UP,
    ),
    "iperf2 -u, with the server's report": (
        "UDP buffer size:  208 KByte\n" + IPERF2 + "[  3]  0.0- 1.0 sec  1.1 MBytes  9.4 Mbits/sec\n"
        "[  3]  0.0- 1.0 sec  1.1 MBytes  9.4 Mbits/sec\n[  3] Sent 800 datagrams\n[  3] Server Report:\n"
        "[  3]  0.0- 1.0 sec  0.6 MBytes  4.7 Mbits/sec   1.9 ms  400/  800 (50%)\n",
        {"rate_up_mbps": [4.7], "loss_pct": [50.0]},
    ),
    "iperf2 -R": (
        IPERF2.replace("with 192.0.2.1", "with 192.0.2.1 port 5001 (reverse)")
        + "[ *3]  0.0- 1.0 sec  1.1 MBytes  9.4 Mbits/sec\n",
        {"rate_down_mbps": [9.4]},
    ),
    "iperf2 --full-duplex, whose directions end apart": (
        IPERF2.replace("with 192.0.2.1", "with 192.0.2.1 port 5001 (full-duplex)")
        + "[ *3]  0.0- 1.0 sec  1.1 MBytes  9.4 Mbits/sec\n[  3]  0.0- 1.0 sec  1.1 MBytes  1.0 Mbits/sec\n"
        "[  3]  0.0- 1.0 sec  1.1 MBytes  1.0 Mbits/sec\n[ *3]  1.0- 2.0 sec  1.1 MBytes  9.4 Mbits/sec\n"
        "[ *3]  0.0- 2.1 sec  2.2 MBytes  9.4 Mbits/sec\n[FD3]  0.0- 2.1 sec  2.2 MBytes  9.4 Mbits/sec\n",
        {"rate_up_mbps": [1.0], "rate_down_mbps": [9.4]},
    ),
    "iperf2 --sum-only": (
        "Client connecting to 192.0.2.1, TCP port 5001\n[SUM-cnt] Interval       Transfer     Bandwidth\n"
        "[SUM-2] 0.0000-1.0000 sec  4.00 MBytes  33.6 Mbits/sec\n"
        "[SUM-2] 0.0000-1.0000 sec  4.00 MBytes  33.6 Mbits/sec\n",
        {"rate_up_mbps": [33.6]},
    ),
    "iperf2, whose last line is a summary": (
        IPERF2 + "".join(f"[  3]  {t} sec  1.1 MBytes  9.4 Mbits/sec\n" for t in ("0.0- 1.0", "1.0- 2.0", "0.0- 2.0")),
        {"rate_up_mbps": [9.4, 9.4]},
    ),
    "iperf2 -e, cut in its last line": (
        IPERF2
        + "[  1] 0.0000-1.0000 sec  1.1 MBytes  9.4 Mbits/sec  9/0  0  64K/50123 us\n[  1] 1.0000-2.0000 sec  1.1",
        {"rate_up_mbps": [9.4]},
    ),
}


@pytest.mark.parametrize("of", TEXTS)
def test_text_of_each_option_is_read(tmp_path: Path, of: str) -> None:
    text, expected = TEXTS[of]
    file = put(tmp_path / "iperf.txt", text)
    assert columns(file) == expected


def test_a_last_line_that_is_cut_is_left_out_with_a_note(tmp_path: Path) -> None:
    file = put(tmp_path / "iperf.txt", IPERF3 + row(0, "11 Mbits") + row(1, "7 Mbits").partition("bits")[0])
    assert columns(file) == {"rate_up_mbps": [11.0]}
    assert "The last line is cut, and left out: [" in " ".join(importers.read(file).notes)


@pytest.mark.parametrize("end", ["2.5", "4.5"])
def test_the_interval_in_which_iperf2_waits_is_left_out_be_it_shorter_or_longer(tmp_path: Path, end: str) -> None:
    file = tmp_path / "iperf.txt"
    rows = "".join(f"[  3]  {t} sec  1.0 MBytes  3.0 Mbits/sec\n" for t in ("0.0- 1.0", "1.0- 2.0"))
    file.write_text(IPERF2 + rows + f"[  3]  2.0- {end} sec  63 KBytes  202 Kbits/sec\n")
    assert columns(file) == {"rate_up_mbps": [3.0, 3.0]}


def test_a_senders_intervals_are_noted_as_what_it_wrote(tmp_path: Path) -> None:
    file = put(tmp_path / "iperf.txt", IPERF3 + row(0, "11 Mbits") + row(1, "7 Mbits"))
    assert "what the sender wrote to its socket" in " ".join(importers.read(file).notes)
    file.write_text(REVERSE + row(0, "11 Mbits") + row(1, "7 Mbits"))
    assert "what the sender wrote to its socket" not in " ".join(importers.read(file).notes)


def test_a_last_interval_of_nearly_no_length_is_left_out_with_a_note(tmp_path: Path) -> None:
    file = put(tmp_path / "iperf.txt", IPERF3 + FIRST + "[  5]   1.00-1.04   sec  1.00 MBytes  210 Mbits/sec\n")
    assert columns(file) == UP
    assert "The last interval, of 0.04 s, is left out." in importers.read(file).notes


def test_text_of_several_tests_requires_which_one(tmp_path: Path) -> None:
    file = put(
        tmp_path / "iperf.txt",
        "".join("Connecting to host a\n" + IPERF3 + row(0, f"{rate} Mbits") for rate in (8.4, 9.4)),
    )
    assert "test: must be given, from 1 to 2" in error_of(importers.read, file)
    assert "test=3: must be from 1 to 2" in error_of(importers.read, file, test=3)
    assert columns(file, test=2) == {"rate_up_mbps": [9.4]}


def test_text_that_powershell_stored_is_read(tmp_path: Path) -> None:
    file = tmp_path / "iperf.txt"
    file.write_bytes((IPERF3 + FIRST).replace("\n", "\r\n").encode("utf-16"))
    assert columns(file) == UP
    json_file = tmp_path / "iperf.json"
    json_file.write_bytes(json.dumps(iperf3_test(interval(0, 1, 8))).encode("utf-16"))
    assert importers.read(json_file).format == "iperf3-json"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("[  5]   0.00-1.00   sec  soon\n" + row(1, "8.0 Mbits"), "must be a line that iperf writes"),
        (row(0, "8.0 Mbits") + row(1, "8.0 Mbits", "", "[  7]"), "ID=7: must be 5: one stream"),
        ("", "must be iperf's text with intervals"),
        (row(0, "8.0 Mbits", "sender"), "that were not omitted: -i 0 prints none, totals alone"),
        ("iperf3: error - unable to connect\n", "text with intervals: it says 'iperf3: error - unable to connect'"),
        ("1:11" * 50_000 + "\n", "must be iperf's text with intervals"),  # a pattern that goes back would take hours
        (row(0, "8.0 Mbits", f"0.1 ms  {'9' * 5000}/9 (0%)") + "[  5]  soon\n\n[  5]", "a line that iperf writes"),
    ],
)
def test_other_text_is_refused(tmp_path: Path, rows: str, words: str) -> None:
    file = put(tmp_path / "iperf.txt", IPERF3 + rows)
    with pytest.raises(UserError, match=words):
        importers.read(file)


def test_a_recording_of_text_lasts_as_long_as_the_test(tmp_path: Path) -> None:
    file = put(tmp_path / "iperf.txt", IPERF3 + FIRST + row(1, "8.4 Mbits"))
    assert importers.read(file).length_s == 2.0
