# SPDX-License-Identifier: GPL-2.0-or-later
"""What ss -tin prints of a sender, again and again, becomes a recording."""

from pathlib import Path

import pytest
from test_import_ndt7 import read

from lab.base.errors import UserError

SS = (
    "1700000000.100\nState Recv-Q Send-Q Local Address:Port Peer Address:Port\n"
    "ESTAB 0 1000 192.0.2.1:443 192.0.2.2:5000\n"
    "\t cubic wscale:7,7 rto:208 rtt:8.5/1.2 mss:1448 cwnd:20 bytes_sent:30000 bytes_acked:20000 unacked:5 busy:100ms "
    "rwnd_limited:20ms(20.0%) retrans:0/1 minrtt:7.5\n"
    "1700000000.350\n"
    "ESTAB 0 1000 192.0.2.1:443 192.0.2.2:5000\n"
    "\t cubic wscale:7,7 rto:208 rtt:9.5/1.2 mss:1448 cwnd:30 bytes_acked:270000 unacked:15 busy:350ms retrans:0/3 "
    "minrtt:7.5\n"
)
CLOCK_AND_INFO = [line for line in SS.splitlines(True) if "ESTAB" not in line and "State" not in line]
TWO_WITHOUT_ADDRESSES = "".join([CLOCK_AND_INFO[0], CLOCK_AND_INFO[1], CLOCK_AND_INFO[1]])


SACKED_SS = SS.replace("cwnd:20 ", "cwnd:20 sacked:100 ")


def test_ss_gives_the_connection_with_most_bytes(tmp_path: Path) -> None:
    other = SS.replace("192.0.2.2:5000", "192.0.2.9:80").replace("bytes_acked:", "bytes_acked:0")
    found = read(tmp_path, SS + other.split("\n", 1)[1].split("1700000000.350\n")[0])
    assert found.format == "ss"
    assert found.frame["acked_bytes"].to_list() == [20_000, 270_000]
    assert found.frame["t_s"].to_list() == pytest.approx([0, 0.25])
    assert found.frame["inflight_bytes"].to_list() == [5 * 1448, 15 * 1448]
    assert "1 other connections: left out." in found.notes


def test_what_sack_blocks_report_has_arrived(tmp_path: Path) -> None:
    """Else what fills a hole would seem to arrive at once."""
    found = read(tmp_path, SACKED_SS).frame
    assert found["acked_bytes"].to_list() == [20_000, 270_000]
    assert found["delivered_bytes"].to_list() == [20_000 + 100 * 1448, 270_000]


def test_ss_of_one_state_has_no_column_of_it(tmp_path: Path) -> None:
    """`ss -tin state established`: its connections are still apart."""
    other = SS.replace("192.0.2.2:5000", "192.0.2.9:80").replace("bytes_acked:", "bytes_acked:0").split("\n", 2)[2]
    both = (SS + other.split("1700000000.350\n")[0]).replace("ESTAB ", "")
    assert read(tmp_path, both).frame.equals(read(tmp_path, SS).frame)


@pytest.mark.parametrize("socket", ["ESTAB", "tcp ESTAB", ""], ids=["a state", "a protocol", "neither"])
def test_ss_with_all_of_a_socket_in_one_line_has_each_connection(tmp_path: Path, socket: str) -> None:
    """`ss -O`, of one state, or without -t."""
    other = SS.replace("192.0.2.2:5000", "192.0.2.9:80").replace("bytes_acked:", "bytes_acked:0")
    both = SS + other.split("\n", 1)[1].split("1700000000.350\n")[0]
    both = both.replace(":5000\n", ":5000 ").replace(":80\n", ":80 ").replace("ESTAB ", f"{socket} ".lstrip())
    found = read(tmp_path, both)
    assert found.frame.equals(read(tmp_path, SS).frame)
    assert "1 other connections: left out." in found.notes


def test_ss_of_ports_that_were_used_again_has_the_larger_connection(tmp_path: Path) -> None:
    later = SS.split("\n", 1)[1].split("1700000000.350")[0].replace("bytes_acked:20000", "bytes_acked:10")
    found = read(tmp_path, f"{SS}1700000000.600\n{later}")
    assert found.frame.equals(read(tmp_path, SS).frame)
    assert "1 other connections: left out." in found.notes


def test_ss_with_all_of_a_socket_in_one_line_is_the_same(tmp_path: Path) -> None:
    assert read(tmp_path, SS.replace("2:5000\n\t", "2:5000\t")).frame.equals(read(tmp_path, SS).frame)


def test_ss_whose_end_is_cut_loses_its_last_line_with_a_note(tmp_path: Path) -> None:
    """Its least round trip would be 1 ms."""
    later = SS.rpartition("1700000000.350\n")[2].replace("minrtt:7.5", "minrtt:12.5").replace(":270000", ":9999999")
    found = read(tmp_path, f"{SS}1700000000.600\n{later}"[:-4])
    assert found.frame.equals(read(tmp_path, SS).frame)
    assert "Least RTT: 7.5 ms." in found.notes
    assert found.notes[-1].startswith("The last line has no end")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2023-11-14T22:13:20,100000000+00:00", "2023-11-14T22:13:20,350000000+00:00"),
        ("2023-11-14T22:13:20.1Z", "2023-11-14T22:13:20.35Z"),
        ("1700000000100", "1700000000350"),
        ("1700000000100000000", "1700000000350000000"),
    ],
)
def test_ss_may_have_what_date_writes_between_its_prints(tmp_path: Path, first: str, second: str) -> None:
    dated = SS.replace("1700000000.100", first).replace("1700000000.350", second)
    assert read(tmp_path, dated).frame.equals(read(tmp_path, SS).frame)


@pytest.mark.parametrize("comma", ["", ","])
@pytest.mark.parametrize("end", ["5000\n\t", "5000 "], ids=["two lines", "one line (ss -O)"])
def test_ss_may_have_its_time_before_each_line(tmp_path: Path, comma: str, end: str) -> None:
    """As `ss -tin | ts %.s` writes it; without addresses two connections could not be kept apart."""
    first, second = SS.replace("5000\n\t", end).split("1700000000.350\n")
    lines = [f"1700000000.100{comma} {line}" for line in first.splitlines(True)[1:]]
    lines += [f"1700000000.350{comma} {line}" for line in second.splitlines(True)]
    assert read(tmp_path, "".join(lines)).frame.equals(read(tmp_path, SS).frame)
    with pytest.raises(UserError, match="addresses=none: must be printed before each line of a connection"):
        read(tmp_path, "".join(line.replace("192.0.2.1:443 192.0.2.2:5000", "") for line in lines))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (SS.split("\n", 1)[1], r"line \d+: time=none: must be given before each print"),
        (SS.replace("1700000000.350", "1600000000.350"), "no earlier than the one before"),
        (SS.replace("1700000000.350\n", ""), r"line 6: time=none: must be given before each print, also this one of"),
        (SS.replace("cwnd:30", "bytes_received:9000000 cwnd:30"), "bytes_received=9000000: must be below bytes_acked"),
        (SS.replace("bytes_acked:", "bytes_received:"), "the file is ss's, without bytes_acked"),
        (TWO_WITHOUT_ADDRESSES, "addresses=none: must be printed before each line of a connection"),
    ],
)
def test_a_log_that_breaks_its_form_is_refused_in_a_line(tmp_path: Path, text: str, line: str) -> None:
    with pytest.raises(UserError, match=line):
        read(tmp_path, text)
