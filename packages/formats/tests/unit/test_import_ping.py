# SPDX-License-Identifier: GPL-2.0-or-later
"""Text of ping: what its lines can be is read, what they cannot be is refused by line."""

from pathlib import Path

import pytest

from lab.base.errors import UserError
from lab.traces import importers
from lab.traces.recording import Recording
from tests.brief import put

HEAD = "PING example.net (192.0.2.1) 56(84) bytes of data.\n"


def answer(number: int, rtt: str = "20.0", before: str = "", after: str = "") -> str:
    return f"{before}64 bytes from 192.0.2.1: icmp_seq={number} ttl=50 time={rtt} ms{after}\n"


def tail(sent: int, received: int, total_ms: int) -> str:
    return (
        "\n--- example.net ping statistics ---\n"
        f"{sent} packets transmitted, {received} received, 0% packet loss, time {total_ms}ms\n"
        "rtt min/avg/max/mdev = 1.0/2.0/3.0/4.0 ms\n"
    )


def read(folder: Path, text: str, **options: float) -> Recording:
    file = put(folder / "ping.txt", text)
    return importers.read(file, "ping", **options)


def test_without_a_clock_the_statistics_tell_the_interval(tmp_path: Path) -> None:
    frame = read(tmp_path, HEAD + answer(1) + answer(2) + answer(4) + tail(5, 3, 800)).frame
    assert frame["t_s"].to_list() == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8])
    assert frame["lost"].to_list() == [False, False, True, False, True]
    assert frame["rtt_ms"].null_count() == 2


def test_without_statistics_the_interval_is_pings_default_unless_given(tmp_path: Path) -> None:
    assert read(tmp_path, HEAD + answer(1) + answer(2)).frame["t_s"].to_list() == [0.0, 1.0]
    assert read(tmp_path, HEAD + answer(1) + answer(2), interval_s=0.5).frame["t_s"].to_list() == [0.0, 0.5]


def test_an_interval_of_a_total_of_0_ms_must_be_given(tmp_path: Path) -> None:
    """As of `ping -A`, whose probes of a tenth of a millisecond were laid one second apart."""
    with pytest.raises(UserError, match=r"interval_s: must be given, for ping's total time is 0 ms"):
        read(tmp_path, HEAD + answer(1) + answer(2) + tail(2, 2, 0))
    assert read(tmp_path, HEAD + answer(1) + tail(1, 1, 0)).frame["t_s"].to_list() == [0.0]


def test_an_answer_that_comes_late_stands_where_its_probe_was_sent(tmp_path: Path) -> None:
    recording = read(tmp_path, HEAD + answer(1) + answer(3, "30") + answer(2, "1500"), interval_s=1)
    assert recording.frame["rtt_ms"].to_list() == [20.0, 1500.0, 30.0]
    assert any("1 answers came after later ones" in note for note in recording.notes)


def test_an_answer_that_comes_twice_counts_once(tmp_path: Path) -> None:
    recording = read(tmp_path, HEAD + answer(1) + answer(1, "25.0", after=" (DUP!)") + answer(2), interval_s=1)
    assert recording.frame["rtt_ms"].to_list() == [20.0, 20.0]
    assert "1 duplicates left out." in recording.notes


def test_the_clock_is_of_the_answer_so_that_its_probe_left_an_rtt_before(tmp_path: Path) -> None:
    text = HEAD + answer(1, "100", "[1700000000.100000] ") + answer(3, "300", "[1700000002.300000] ")
    frame = read(tmp_path, text).frame
    assert frame["t_s"].to_list() == pytest.approx([0.0, 1.0, 2.0])
    assert frame["lost"].to_list() == [False, True, False]


def test_a_number_of_16_bits_wraps(tmp_path: Path) -> None:
    frame = read(tmp_path, "".join(answer(number) for number in (65_534, 65_535, 0, 2)), interval_s=1).frame
    assert frame["lost"].to_list() == [False, False, False, True, False]


def test_a_file_cut_at_its_beginning_does_not_invent_losses(tmp_path: Path) -> None:
    assert read(tmp_path, answer(500) + answer(501), interval_s=1).frame["lost"].to_list() == [False, False]
    assert read(tmp_path, HEAD + answer(3), interval_s=1).frame["lost"].to_list() == [True, True, False]


def test_unreachable_and_silent_probes_are_lost(tmp_path: Path) -> None:
    text = (
        HEAD
        + answer(1)
        + "no answer yet for icmp_seq=2\n"
        + "From 192.0.2.9 icmp_seq=3 Destination Host Unreachable\n"
        + answer(4)
        + "^C"
        + tail(4, 2, 3000)
    )
    assert read(tmp_path, text).frame["lost"].to_list() == [False, True, True, False]


def test_runs_to_several_targets_must_be_distinguished(tmp_path: Path) -> None:
    text = HEAD + answer(1) + HEAD.replace("example.net", "example.org") + answer(1)
    with pytest.raises(
        UserError, match=r"session: must be given, for the runs have several targets: example\.net, example\.org"
    ):
        read(tmp_path, text, interval_s=1)
    assert read(tmp_path, text, interval_s=1, session=2).frame.height == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("64 bytes from 192.0.2.1: icmp_seq=2 ttl=50 time=fast ms", "line 3: text=64 bytes from"),
        ("64 bytes from 192.0.2.1: icmp_seq=2 ttl=50 time=1e9 ms", "line 3: text="),
        ("64 bytes from 192.0.2.1: icmp_seq=2 ttl=50 time=-1 ms", "line 3: text="),
        ("64 bytes from 192.0.2.1: icmp_seq=70000 ttl=50 time=1 ms", "line 3: seq=70000: must be at most 65535"),
        ("64 bytes from 192.0.2.1: icmp_seq=2 ttl=50 time=99999999 ms", "line 3: rtt_ms=99999999: must be at most"),
        ("64 bytes from 192.0.2.1: icmp_seq=2 ttl=50 time=1 ms and so on", "line 3: text=64 bytes"),
        ("16 bytes from 192.0.2.1: icmp_seq=2 ttl=50", r"ping writes, with its time \(-s 16 or more\)"),
        (
            "Reply from 192.0.2.1: bytes=32 time=20ms TTL=50",
            "line 3: text=Reply from .*: must be a line that ping writes",
        ),
    ],
)
def test_a_line_that_ping_does_not_write_is_refused(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        read(tmp_path, f"{HEAD}{answer(1)}{line}\n{answer(3)}", interval_s=1)


def test_a_clock_that_steps_back_is_refused(tmp_path: Path) -> None:
    text = HEAD + answer(1, before="[1700000005.0] ") + answer(2, before="[1700000001.0] ")
    with pytest.raises(UserError, match=r"line 3: clock=1700000001\.0: must be later than that of the probe before"):
        read(tmp_path, text)


def test_a_clock_on_some_lines_only_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="line 3: clock=None: must be epoch seconds or a date in each line"):
        read(tmp_path, HEAD + answer(1, before="[1700000005.0] ") + answer(2))


def test_more_answers_than_probes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="packets transmitted=1: must be at least the 2 probes answered"):
        read(tmp_path, HEAD + answer(1) + answer(2) + tail(1, 1, 1000))


@pytest.mark.parametrize(
    ("clocks", "times_s"),
    [
        (("", "", "", ""), [0.0, 1.0, 2.0, 3.0]),
        (  # ts puts its clock before an empty line, too; the last blank is part of it
            tuple(f"2026-11-25 10:15:{second:02d} " for second in (0, 10, 20, 30)),
            [0.0, 10.0, 20.0, 30.0],
        ),
    ],
)
def test_a_run_without_an_answer_is_lost_between_the_others(
    tmp_path: Path, clocks: tuple[str, ...], times_s: list[float]
) -> None:
    runs = [HEAD + (answer(1) if at != 1 else "") + tail(1, at != 1, 0) for at in range(4)]
    text = "".join(clock + line for clock, run in zip(clocks, runs, strict=True) for line in run.splitlines(True))
    found = read(tmp_path, text)
    assert found.frame["lost"].to_list() == [False, True, False, False]
    assert found.frame["t_s"].to_list() == pytest.approx(times_s)
    assert "1 of 4 probes lost (25.00 %), missing in rtt_ms." in found.notes


def test_runs_without_an_answer_at_an_end_are_lost_too(tmp_path: Path) -> None:
    runs = HEAD + tail(2, 0, 1000), HEAD + answer(1, before="[1700000000.5] ") + tail(1, 1, 0), HEAD + tail(1, 0, 0)
    frame = read(tmp_path, "".join(runs)).frame
    assert frame["lost"].to_list() == [True, True, False, True]
    assert frame["t_s"].to_list() == pytest.approx([0.0, 1.0, 2.0, 3.0])


def test_answers_alone_show_where_ping_began_again(tmp_path: Path) -> None:
    """As `ping -c 1 h | grep icmp_seq` in a loop, past midnight, writes them."""
    text = "".join(answer(1, rtt, f"{clock} ") for rtt, clock in (("20", "23:59:50.02"), ("30", "00:00:50.03")))
    found = read(tmp_path, text)
    assert found.frame["rtt_ms"].to_list() == [20.0, 30.0]
    assert found.frame["t_s"].to_list() == pytest.approx([0.0, 60.0])
    assert any("none of a run without one: more may be lost" in note for note in found.notes)
    again = read(tmp_path, (answer(1) + answer(2) + answer(4)) * 2).frame
    assert again["lost"].to_list() == [False, False, True, False] * 2


def test_the_notes_on_many_runs_are_few(tmp_path: Path) -> None:
    notes = read(tmp_path, (HEAD + answer(1) + tail(1, 1, 0)) * 20).notes
    assert "And so on: 13 more such lines." in notes
    assert len(notes) == 12


def test_answers_of_two_hosts_in_one_file_are_refused(tmp_path: Path) -> None:
    other = answer(1).replace("192.0.2.1", "192.0.2.7")
    rule = r"line 3: text=64 bytes from 192.0.2.7: must be 64 bytes from 192.0.2.1, as before: the answers of one host"
    with pytest.raises(UserError, match=rule):
        read(tmp_path, HEAD + answer(1) + other)
    assert read(tmp_path, HEAD + answer(1) + other.replace(" ms", " ms (DUP!)")).frame.height == 1
