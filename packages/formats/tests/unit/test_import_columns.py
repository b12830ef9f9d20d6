# SPDX-License-Identifier: GPL-2.0-or-later
"""Any table can be imported where its columns, units and marks are named; what is not named is not guessed."""

from pathlib import Path
from typing import Any

import pytest

from lab.base.errors import UserError
from lab.traces import importers
from lab.traces.recording import Recording
from tests.brief import error_of, put
from tests.traces_real import needs_real, real


def read(folder: Path, text: str, **options: Any) -> Recording:
    file = put(folder / "mine.csv", text)
    return importers.read(file, "columns", **options)


@pytest.mark.parametrize(
    ("unit", "value"),
    [
        ("bit/s", "2000000"),
        ("kbit/s", "2000"),
        ("Mbit/s", "2"),
        ("Gbit/s", "0.002"),
        ("B/s", "250000"),
        ("kB/s", "250"),
        ("MB/s", "0.25"),
    ],
)
def test_rates_come_in_seven_units(tmp_path: Path, unit: str, value: str) -> None:
    recording = read(tmp_path, f"t,r\n0,{value}\n1,{value}\n", columns=f"t_s=t,rate_up_mbps=r [{unit}]")
    assert recording.frame["rate_up_mbps"].to_list() == pytest.approx([2.0, 2.0])


@pytest.mark.parametrize(("unit", "seconds"), [("min", 60), ("h", 3600), ("day", 86_400)])
def test_clocks_come_in_long_units_too(tmp_path: Path, unit: str, seconds: int) -> None:
    text = "t,rtt\n45231.5,1\n45231.75,1\n"  # as a spreadsheet counts days
    frame = read(tmp_path, text, columns=f"t_s=t [{unit}],rtt_ms=rtt").frame
    assert frame["t_s"].to_list() == [0.0, seconds / 4]


@pytest.mark.parametrize(("unit", "step"), [("s", "1"), ("ms", "1000"), ("us", "1000000"), ("ns", "1000000000")])
def test_clocks_come_in_four_units_and_count_from_the_first_row(tmp_path: Path, unit: str, step: str) -> None:
    first = 1_700_000_000 * int(step)
    rows = "".join(f"{first + index * int(step)},5\n" for index in range(3))
    frame = read(tmp_path, "t,rtt\n" + rows, columns=f"t_s=t [{unit}],rtt_ms=rtt [us]").frame
    assert frame["t_s"].to_list() == [0.0, 1.0, 2.0]
    assert frame["rtt_ms"].to_list() == [0.005] * 3


@pytest.mark.parametrize(
    ("form", "times"),
    [
        ("date", ("2024-01-02T03:04:05", "2024-01-02T03:04:06.5")),
        ("date", ("2024-01-02 03:04:05+01:00", "2024-01-02 03:04:06.5+01:00")),
        ("date", ("2024-01-02T03:04:05Z", "2024-01-02T03:04:06.500000Z")),
        ("date", ('"2024-01-02 03:04:05,000"', '"2024-01-02 03:04:06,500"')),  # as loggers write it
        ("%d.%m.%Y %H-%M-%S%.f", ("02.01.2024 03-04-05", "02.01.2024 03-04-06.5")),
        ("%d.%m.%Y %H:%M:%S.%f", ("02.01.2024 03:04:05.000000", "02.01.2024 03:04:06.500000")),  # as Python has it
        ("%H:%M:%S.%f", ("03:04:05.0", "03:04:06.5")),
    ],
)
def test_clocks_may_be_dates(tmp_path: Path, form: str, times: tuple[str, str]) -> None:
    frame = read(tmp_path, f"t,rtt\n{times[0]},1\n{times[1]},1\n", columns=f"t_s=t [{form}],rtt_ms=rtt").frame
    assert frame["t_s"].to_list() == [0.0, 1.5]


def test_a_loss_may_be_a_mark_in_the_rtt(tmp_path: Path) -> None:
    frame = read(
        tmp_path, "0;10\n1;-1\n2;\n", columns="t_s=1,rtt_ms=2", separator="semicolon", header=False, lost=("-1",)
    ).frame
    assert frame["rtt_ms"].to_list() == [10.0, None, None]
    assert frame["lost"].to_list() == [False, True, False]  # an empty cell is missing, not lost


def test_round_trips_of_0_are_named_for_they_may_be_marks(tmp_path: Path) -> None:
    note = "1 round trips are 0, as measured: --set lost=0 takes them for lost probes."
    text, columns = "t,rtt\n0,10\n1,0\n", "t_s=t,rtt_ms=rtt"
    assert note in read(tmp_path, text, columns=columns).notes
    lost = read(tmp_path, text, columns=columns, lost=("0",))
    assert lost.frame["lost"].to_list() == [False, True]
    assert note not in lost.notes


def test_a_loss_may_be_a_column(tmp_path: Path) -> None:
    frame = read(tmp_path, "t,rtt,gone\n0,10,false\n1,,1\n", columns="t_s=t,rtt_ms=rtt,lost=gone").frame
    assert frame["lost"].to_list() == [False, True]


@pytest.mark.parametrize(
    "text",
    [
        "t_s,rtt_ms,lost\n0,20,0\n0.1,,1\n",
        "t_s;rtt_ms;lost\n0,0;20,0;0\n0,1;;1\n",
        "t_s\trtt_ms\tlost\n0\t20\t0\n0.1\t\t1\n",
        "# by a script\n# t_s,rtt_ms,lost\n0,20,0\n0.1,,1\n",
    ],
)
def test_a_header_of_a_recordings_own_names_needs_no_words(tmp_path: Path, text: str) -> None:
    file = put(tmp_path / "own.csv", text)
    assert importers.read(file).frame.to_dict(as_series=False) == {
        "t_s": [0.0, 0.1],
        "rtt_ms": [20.0, None],
        "lost": [False, True],
    }


def test_rows_out_of_order_are_sorted_only_where_that_is_requested(tmp_path: Path) -> None:
    text = "t,rtt\n0,10\n2,30\n1,20\n"
    with pytest.raises(
        UserError, match=r"mine\.csv: line 4: t=1: must be no earlier than in the line before: .*sort=yes"
    ):
        read(tmp_path, text, columns="t_s=t,rtt_ms=rtt")
    recording = read(tmp_path, text, columns="t_s=t,rtt_ms=rtt", sort=True)
    assert recording.frame["rtt_ms"].to_list() == [10.0, 20.0, 30.0]
    assert "1 rows stood after later ones: sorted by time." in recording.notes


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize(
    ("times", "unit", "why"),
    [
        (("02:58", "02:59", "02:00", "02:01"), "date", "the clock was set back by an hour"),
        (("12:58", "12:59", "01:00", "01:01"), "hh:mm:ss", "a clock that counts to 12 passed it"),
    ],
)
def test_a_clock_that_summer_time_or_noon_sets_back_is_neither_read_nor_sorted(
    tmp_path: Path, times: tuple[str, ...], unit: str, why: str, sort: bool
) -> None:
    """Sorted, the second hour would lie within the first, or in front of it."""
    day = "2025-10-26 " if unit == "date" else ""
    text = "t,rtt\n" + "".join(f"{day}{time}:00,10\n" for time in times)
    with pytest.raises(UserError, match=rf"line 4: t={day}{times[2]}:00: must be .*: {why}"):
        read(tmp_path, text, columns=f"t_s=t [{unit}],rtt_ms=rtt", sort=sort)


def test_rows_of_one_time_are_spread_only_where_that_is_requested(tmp_path: Path) -> None:
    text = "t,rtt\n0,10\n1,20\n1,30\n"
    with pytest.raises(UserError, match=r"line 4: t=1: must be later than in every other line: .*same_time=spread"):
        read(tmp_path, text, columns="t_s=t,rtt_ms=rtt")
    frame = read(tmp_path, text, columns="t_s=t,rtt_ms=rtt", same_time="spread").frame
    assert frame["t_s"].to_list() == [0.0, 1.0, 1.5]


def test_rows_of_one_time_of_a_fine_clock_are_spread_until_its_next_reading(tmp_path: Path) -> None:
    text = "t,r\n0,10\n100,20\n100,30\n200,40\n"
    found = read(tmp_path, text, columns="t_s=t [ms],rate_up_mbps=r", same_time="spread")
    assert found.frame["t_s"].to_list() == pytest.approx([0.0, 0.1, 0.15, 0.2])
    assert found.frame["rate_up_mbps"].to_list() == [10.0, 20.0, 30.0, 40.0]


def test_a_rate_of_0_means_what_the_option_states(tmp_path: Path) -> None:
    text = "t,r\n0,5\n1,0\n"
    assert read(tmp_path, text, columns="t_s=t,rate_up_mbps=r").frame["rate_up_mbps"].to_list() == [5.0, 0.0]
    gone = read(tmp_path, text, columns="t_s=t,rate_up_mbps=r", zeros="missing", meaning="usage")
    assert gone.frame["rate_up_mbps"].to_list() == [5.0, None]
    assert "By the import's options, not by the file: the rates are usage, a 0 is missing." in gone.notes


def test_a_rate_does_not_hold_over_a_hole_unless_that_is_requested(tmp_path: Path) -> None:
    text = "t,r\n" + "".join(f"{t},5\n" for t in (0, 1, 2, 3, 60, 61))
    frame = read(tmp_path, text, columns="t_s=t,rate_up_mbps=r").frame
    assert frame["t_s"].to_list() == [0.0, 1.0, 2.0, 3.0, 4.0, 60.0, 61.0]
    assert frame["rate_up_mbps"][4] is None
    assert read(tmp_path, text, columns="t_s=t,rate_up_mbps=r", holes="hold").frame.height == 6


def test_a_delay_holds_over_a_pause_which_a_note_states(tmp_path: Path) -> None:
    text = "t,ms\n" + "".join(f"{t},{rtt}\n" for t, rtt in enumerate((20, 21, 22, 23)))
    said = "Pauses (steps above 5 times the median one): 1, 57.0 s together; the value before each holds, in a link"
    paused, without = (read(tmp_path, each, columns="t_s=t,rtt_ms=ms") for each in (f"{text}60,24\n61,25\n", text))
    assert paused.frame.height == 6
    assert [note for note in paused.notes if said in note]
    assert not [note for note in without.notes if "Pauses" in note]


def test_without_a_clock_rows_are_samples_with_labels(tmp_path: Path) -> None:
    recording = read(tmp_path, "place,rtt\nhome,10\nsea,700\n", columns="rtt_ms=rtt", labels=("place",))
    assert recording.kind == "samples"
    assert recording.frame["place"].to_list() == ["home", "sea"]


def test_quoted_values_and_other_line_ends_are_read(tmp_path: Path) -> None:
    recording = read(tmp_path, '"t","what, so","rtt"\r\n0,"a, b",10\r\n1,"c",20\r\n', columns="t_s=t,rtt_ms=rtt")
    assert recording.frame["rtt_ms"].to_list() == [10.0, 20.0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "t,rtt\n0,10\n1,-1\n",
            "line 3: rtt=-1: must be a number at least 0 and at most 3.6e+06, or empty where missing",
        ),
        ("t,rtt\n0,10\n1,nan\n", "line 3: rtt=nan: must be a number"),
        ("t,rtt\n0,10\n1,inf\n", "line 3: rtt=inf: must be a number"),
        ("t,rtt\n0,10\n1,ten\n", "line 3: rtt=ten: must be a number"),
        ("t,rtt\n0,10\n,20\n", "line 3: t=: must be a number"),
        ("t,rtt\n0,10\n1\n", "line 3: columns=1: must be 2, as in the other lines"),
        ("t,rtt\n0,10\n1,20,30\n", "line 3: columns=3: must be 2"),
        ("t,t\n0,10\n", "line 1: column=t: must be one of the file's: 1, 2"),
        ("time,rtt\n0,10\n", "line 1: column=t: must be one of the file's: time, rtt"),
        ("t,rtt\n", "content: must be a table with rows"),
        ('t,rtt\n0,"10\n1,20\n', "line 3: unexpected end of data: must be CSV"),
        ("t,rtt\n0,1e300\n", "line 2: rtt=1e300: must be a number at least 0 and at most 3.6e+06"),
        ("t,rtt\n0,10\n1e12,10\n", "line 3: t=1e12: must be within 366 days of the first"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_its_line(tmp_path: Path, text: str, words: str) -> None:
    line = error_of(read, tmp_path, text, columns="t_s=t,rtt_ms=rtt")
    assert words in line
    assert line.startswith(f"{tmp_path}/mine.csv: ")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": "t_s=t,speed=rtt"}, "columns=speed: must be one of t_s, rate_down_mbps"),
        ({"columns": "t_s=t,rtt_ms=rtt [miles]"}, r"columns=rtt_ms [miles]: must be in one of s, ms, us, ns"),
        ({"columns": "t_s=t,rtt_ms"}, "columns=rtt_ms: must be like rate_down_mbps=DL_bitrate [kbit/s]"),
        ({"columns": "t_s=t [%H:%M:%S:%f],rtt_ms=rtt"}, "[%H:%M:%S:%f]: must be a form with %.f for a fraction"),
        (
            {"columns": "t_s=t [%F %T %Z],rtt_ms=rtt"},
            "[%F %T %Z]: must be a form with %z, or with the zone's own letters",
        ),
        ({"columns": "t_s=t [%M:%S],rtt_ms=rtt"}, "columns=[%M:%S]: must be a form of a whole time: %H with %M"),
        ({"columns": "t_s=t [%F %I:%M:%S],rtt_ms=rtt"}, "columns=[%F %I:%M:%S]: must be a form of a whole time"),
        ({"columns": "t_s=t_ms"}, "columns=t_s=t_ms: must be given with its unit, as t_s=t_ms [ms]: without one"),
        ({"columns": "rate_down_mbps=DL (KBps)"}, "as rate_down_mbps=DL (KBps) [kB/s]: without one it is in Mbit/s"),
        ({"columns": "t_s=t,t_s=rtt"}, "must be a list that names each column of a recording once"),
        (
            {"columns": "t_s=t,rtt_ms=rtt", "separator": "dot"},
            "separator=dot: must be one of comma, tab, blank, semicolon",
        ),
        ({"columns": "t_s=t,rtt_ms=rtt", "meaning": "speed"}, "meaning=speed: must be one of capacity, goodput"),
        ({"columns": "t_s=t,rtt_ms=rtt", "zeros": "0"}, "zeros=0: must be one of stall, missing"),
        ({"columns": "t_s=t,rate_up_mbps=rtt", "lost": ("-1",)}, "lost=-1: must be left out: it marks rtt_ms"),
        ({"columns": "t_s=t,rtt_ms=rtt", "speed": 1}, "speed=1: must be an option of columns: columns, separator"),
    ],
)
def test_words_that_cannot_be_are_refused(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    assert words in error_of(read, tmp_path, "t,rtt\n0,10\n", **options)


@needs_real
def test_the_generic_way_gives_what_the_formats_own_importer_gives() -> None:
    zhuge = real("wifi-cell-sparktraces/Zhuge/4g/trace14.log")
    named = importers.read(zhuge, "columns", columns="t_s=1,rate_down_mbps=2 [Mbit/s]", separator="blank", header=False)
    assert named.frame.equals(importers.read(zhuge).frame)
    lens = real("leo-mmsys24/no-isl-ping-gw-seattle-230911-170535-0.1s-60min.txt")
    named = importers.read(lens, "columns", columns="t_s=1,rtt_ms=3", separator="tab", header=False, lost=("-1",))
    assert named.frame.equals(importers.read(lens).frame)
    uos = real("leo-uos-road/iperf.csv")
    words = "t_s=timestamp_start [date],rate_down_mbps=download [bit/s],rate_up_mbps=upload_mbps"
    named = importers.read(uos, "columns", columns=words, meaning="capacity")
    own = importers.read(uos).frame["rate_up_mbps"].drop_nulls()
    assert (named.frame["rate_up_mbps"].drop_nulls() - own).abs().max() < 1e-9  # type: ignore[operator]
