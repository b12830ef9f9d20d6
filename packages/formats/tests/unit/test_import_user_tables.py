# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables as users have them: what surrounds the numbers is passed over, what may mean two things is refused."""

from pathlib import Path
from typing import Any

import pytest
from test_import_columns import read

from lab.base.errors import UserError
from lab.links.recorded import Series, load_series
from lab.traces import importers, recording
from lab.traces.recording import Recording
from tests.brief import error_of

T_R = "t_s=t,rate_down_mbps=r"
FIELD = Path(__file__).parents[1] / "data"


def rows(found: Recording) -> list[tuple[float | None, ...]]:
    return [tuple(round(value, 6) if value is not None else None for value in row) for row in found.frame.rows()]


def timed(unit: str) -> dict[str, Any]:
    return {"columns": f"t_s=t [{unit}],rate_down_mbps=r"}


PLAIN: dict[str, tuple[str, dict[str, Any]]] = {
    "an index without a name, as pandas writes": (",t,r\n0,0,12\n1,1,13\n", {}),
    "an index that the header leaves out, as R writes": ('"t" "r"\n"1" 0 12\n"2" 1 13\n', {}),
    "a name that stands twice, by its place": ("t,r,r\n0,12,5\n1,13,5\n", {"columns": "t_s=t,rate_down_mbps=2"}),
    "an empty last column": ("t,r,\n0,12,\n1,13,\n", {}),
    "separators at the ends of rows only": ("t,r\n0,12,\n1,13,\n", {}),
    "a separator at the end of the header only": ("t,r,\n0,12\n1,13\n", {}),
    "semicolons": ("t;r\n0;12\n1;13\n", {}),
    "TABs": ("t\tr\n0\t12\n1\t13\n", {}),
    "blanks": ("t   r\n0   12\n1   13\n", {}),
    "a byte order mark and line ends of Windows": ("\ufefft,r\r\n0,12\r\n1,13\r\n", {}),
    "Excel's first line": ("sep=;\nt;r\n0;12\n1;13\n", {}),
    "Excel's first line of TABs": ("sep=\t\nt\tr\n0\t12\n1\t13\n", {}),
    "bars": ("t|r\n0|12\n1|13\n", {}),
    "units in the names": ("t [s],r [kbps]\n0,12000\n1,13000\n", {"columns": "t_s=t [s],rate_down_mbps=r [kbps]"}),
    "Mbps": ("t,r\n0,12\n1,13\n", {"columns": "t_s=t,rate_down_mbps=r [Mbps]"}),
    "MiB/s": ("t,r\n0,1.430511474609375\n1,1.5497207641601562\n", {"columns": "t_s=t,rate_down_mbps=r [MiB/s]"}),
    "quoted numbers": ('"t","r"\n"0","12"\n"1","13"\n', {}),
    "comments above and between": ("# of a train\n# 2024\nt,r\n0,12\n# tunnel\n1,13\n", {}),
    "a header in a comment": ("# t r\n0 12\n1 13\n", {}),
    "a header in a comment of CSV": ("#t,r\n0,12\n1,13\n", {}),
    "decimal commas": ("t;r\n0,0;12,0\n1,0;13,0\n", {}),
    "decimal commas in quotes": ('t,r\n"0,0","12,0"\n"1,0","13,0"\n', {}),
    "decimal commas by the option": ("t;r\n0,000;12,000\n1,000;13,000\n", {"decimal": "comma"}),
    "decimal points, although another column has commas": ("t;r;x\n0;12.0;1,5\n1;13.0;2\n", {"decimal": "point"}),
    "decimal points, and a column of lists and words": ('t,r,x\n0,12.0,"1,5"\n1,13.0,"1,5,7"\n', {}),
    "no header, and an empty last column": ("0;12;\n1;13;\n", {"columns": "t_s=1,rate_down_mbps=2", "header": False}),
    "an index as the clock, named by its place": (",r\n0,12\n1,13\n", {"columns": "t_s=1,rate_down_mbps=r"}),
    "JSON, a list of objects": ('[{"t": 0, "r": 12}, {"t": 1, "r": 13}]', {}),
    "JSON, an object a line": ('{"t": 0, "r": 12}\n{"t": 1, "r": 13}\n', {}),
    "JSON, a list per column": ('{"t": [0, 1], "r": [12, 13]}', {}),
    "minutes and seconds": ("t,r\n09:59,12\n10:00,13\n", timed("mm:ss")),
    "a time of day": ("t,r\n9:59:59,12\n10:00:00,13\n", timed("hh:mm:ss")),
    "a time of day past midnight": ("t,r\n23:59:59.5,12\n0:00:00.5,13\n", timed("hh:mm:ss")),
    "hours since a start": ("t,r\n24:59:59,12\n25:00:00,13\n", timed("hh:mm:ss")),
    "a time of day in a form": ("t,r\n12:59:59 PM,12\n01:00:00 PM,13\n", timed("%I:%M:%S %p")),
    "a step between rows": ("12\n13\n", {"columns": "rate_down_mbps=1", "header": False, "step_s": 1.0}),
    "each row's duration": ("d,r\n1000,12\n900,13\n", {"columns": "duration_s=d [ms],rate_down_mbps=r"}),
    "the unit behind each number": ("t,r\n0 s,12 Mbps\n1 s,13Mbps\n", {}),
    "the requested unit behind each number, and a decimal comma": (
        "t;r\n0;12000,0 kbit/s\n1;13000,0 kbit/s\n",
        {"columns": "t_s=t,rate_down_mbps=r [kbps]"},
    ),
    "empty lines between rows": ("t,r\n\n0,12\n\n\n1,13\n", {}),
    "a title above the header, with other separators": ("Speed log, run 3; home\nof 2024\n\nt;r\n0;12\n1;13\n", {}),
    "the header again": ("t,r\n0,12\nt,r\n1,13\n", {}),
    "line ends of an old Mac": ("t,r\r0,12\r1,13\r", {}),
    "several TABs as one blank": ("t\t\tr\n0\t\t12\n1\t\t13\n", {}),
    "dates with a zone, over the change of summer time": (
        "t,r\n2024-03-31T01:59:59+01:00,12\n2024-03-31T03:00:00+02:00,13\n",
        timed("date"),
    ),
    "dates of UTC, by name": ("t,r\n2024-03-31 01:59:59.5 UTC,12\n2024-03-31 02:00:00.5 UTC,13\n", timed("date")),
    "an epoch in us": ("t,r\n1700000000000000,12\n1700000001000000,13\n", timed("us")),
    "scientific notation": ("t,r\n1.7e12,1.2E1\n1.700000001e12,1.3E1\n", timed("ms")),
    "iperf2's CSV, without its totals": (
        "20240331135959,192.0.2.1,5001,192.0.2.2,5,3,0.0-1.0,1500000,12000000\n"
        "20240331140000,192.0.2.1,5001,192.0.2.2,5,3,1.0-2.0,1500000,12000000\n"
        "20240331140001,192.0.2.1,5001,192.0.2.2,5,3,2.0-3.0,1625000,13000000\n",
        {"columns": "t_s=1 [%Y%m%d%H%M%S],rate_down_mbps=9 [bit/s]", "header": False, "interval": "before"},
    ),
    "bytes since the row before": (
        "t,r\n5,9\n6,1500000\n7,1625000\n",
        {"columns": "t_s=t,rate_down_mbps=r [B/interval]", "interval": "before"},
    ),
    "kilobits until the next row": (
        "t,r\n5,12000\n6,13000\n7,9\n",
        {"columns": "t_s=t,rate_down_mbps=r [kbit/interval]", "interval": "after"},
    ),
}


@pytest.mark.parametrize("kind", PLAIN)
def test_two_rows_are_read_whatever_surrounds_them(tmp_path: Path, kind: str) -> None:
    text, options = PLAIN[kind]
    assert rows(read(tmp_path, text, **({"columns": T_R} | options))) == [(0.0, 12.0), (1.0, 13.0)]


def test_a_row_may_state_its_own_interval(tmp_path: Path) -> None:
    text, columns = "5000,0,686\n6001,1443052,1001\n7007,1712034,1006\n", "t_s=1 [ms],rate_down_mbps=2 [B/interval],"
    found = read(tmp_path, text, columns=columns + "duration_s=3 [ms]", header=False)
    assert rows(found) == [(0.0, 0.0), (0.686, 11.532883), (1.687, 13.614584)]
    assert found.length_s == pytest.approx(2.693)
    assert "A row's time is the end of its interval." in found.notes


def test_an_interval_ends_where_the_recorder_paused(tmp_path: Path) -> None:
    text = "0,1,5\n1,1,6\n9,1,7\n10,1,8\n"
    columns = "t_s=1,duration_s=2,rate_down_mbps=3"
    found = read(tmp_path, text, columns=columns, header=False, interval="after")
    assert rows(found) == [(0.0, 5.0), (1.0, 6.0), (2.0, None), (9.0, 7.0), (10.0, 8.0)]


def test_the_length_of_durations_is_kept_in_the_store(tmp_path: Path) -> None:
    found = read(tmp_path, "d,r\n1,5\n1,6\n3,7\n", columns="duration_s=d,rate_down_mbps=r")
    recording.write(found, tmp_path / "mine.parquet")
    assert recording.read(tmp_path / "mine.parquet").length_s == 5.0
    assert recording.scan(tmp_path / "mine.parquet").length_s == 5.0


@pytest.mark.parametrize(
    ("rates", "length_s", "nominal_mbps"),
    [("-,10,20", 10.0, 15.0), ("10,20,-", 15.0, 50 / 3), ("10,-,20", 15.0, 40 / 3)],
)
def test_a_link_lasts_from_the_first_value_on(tmp_path: Path, rates: str, length_s: float, nominal_mbps: float) -> None:
    text = "d,r\n" + "".join(f"5,{rate}\n" for rate in rates.split(","))
    found = read(tmp_path, text, columns="duration_s=d,rate_down_mbps=r", missing=("-",))
    recording.write(found, tmp_path / "mine.parquet")
    series = load_series(Series(file="mine.parquet"), ("rate_down_mbps",), tmp_path / "mine.yml", "down.rate_mbps")
    assert (series.length_s, series.nominal()) == pytest.approx((length_s, nominal_mbps))


def test_a_link_of_no_value_is_refused(tmp_path: Path) -> None:
    found = read(tmp_path, "d,r\n5,-\n5,-\n", columns="duration_s=d,rate_down_mbps=r", missing=("-",))
    recording.write(found, tmp_path / "mine.parquet")
    with pytest.raises(
        UserError, match=r"down\.rate_mbps=mine\.parquet: must be a recording of at least two rows, with"
    ):
        load_series(Series(file="mine.parquet"), ("rate_down_mbps",), tmp_path / "mine.yml", "down.rate_mbps")


def test_rows_of_a_minute_are_spread_over_it(tmp_path: Path) -> None:
    text = "t,r\n12:01,1\n12:01,2\n12:01,3\n12:02,4\n"
    found = read(tmp_path, text, columns="t_s=t [hh:mm],rate_down_mbps=r", same_time="spread")
    assert found.frame["t_s"].to_list() == [0.0, 20.0, 40.0, 60.0]


AMOUNT = "t_s=t,rate_down_mbps=r [B/interval]"


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (
            't,r\n0,"1,203"\n',
            {},
            "line 2: r=1,203: must be written without thousands separators, or imported with --set dec",
        ),
        ('t,r\n0,"1,203.5"\n', {}, "line 2: r=1,203.5: must be a number without thousands separators"),
        ("t;r\n0;1.203,5\n", {}, "line 2: r=1.203,5: must be a number without thousands separators"),
        ("t,r\n0,1 203\n", {}, "line 2: r=1 203: must be a number without thousands separators"),
        ("t;r\n0;12,5\n1;12.5\n", {}, "line 3: r=12.5: must be a number with a decimal comma, as others have it"),
        (
            "t;r;x\n0;900;1,5\n1;1.203;2\n",
            {},
            "line 3: r=1.203: must be a number with a decimal comma, as x has it (1,5)",
        ),
        ("t;r\n0;12,5\n", {"decimal": "point"}, "line 2: r=12,5: must be a number with a decimal point"),
        ("t,r\n0,12 Mbit/s\n1,900 kbit/s\n", {}, "line 2: r=12 Mbit/s: must be a number"),
        ("t,r\n0,12 Mbit/s\n1,13\n", {}, "line 2: r=12 Mbit/s: must be a number"),
        ("t,r\n0,12 ms\n", {}, "line 2: r=12 ms: must be a number"),
        (
            "t,r\n1700000000000,1\n",
            {},
            "line 2: t=1700000000000: must be in a unit that makes it a time before the year 2286, such as [ms]",
        ),
        ("t,r\n1700000000000000000,1\n", timed("ms"), "2286, such as [ns]"),
        ("t,r\nPT1.5S,1\n", {}, "line 2: t=PT1.5S: must be a number of s, or a clock of a stated form, as [date]"),
        ("t,r\n0,1\nTotal,1\n", {}, "line 3: t=Total: must be a number of s"),
        ("t;r,x\n0;1\n", {}, "separator=: must be given, because the first line has more than one: comma, semicolon"),
        ("t,r\n12:60,1\n", timed("hh:mm"), "line 2: t=12:60: must be a time like hh:mm, or of a stated form, as [%I:"),
        ("t,r\n12:30:01,1\n", timed("hh:mm"), "t=12:30:01: must be a time like hh:mm"),
        ("t,r\n12:30,1\n12:29,1\n", timed("hh:mm"), "line 3: t=12:29: must be no earlier"),
        ("t,r\n0,9\n1,9\n", {"columns": AMOUNT}, "interval=: must be before or after: whether a row's amount"),
        (
            "r\n9\n",
            {"columns": "rate_down_mbps=r [B/interval]"},
            "must be a rate, or given with t_s, duration_s or step_s",
        ),
        (
            "t,d,r\n0,3,1\n1,4,1\n3,9,1\n",
            {"columns": "t_s=t,duration_s=d,rate_down_mbps=r"},
            "interval=: must be before or",
        ),
        ("d,r\n1,1\n0,1\n", {"columns": "duration_s=d,rate_down_mbps=r"}, "line 3: d=0: must be above 0"),
        ("t,r\n0,1\n", {"step_s": 1.0}, "step_s=1.0: must be above 0, and left out where a column is the clock"),
        ("t,r\n0,1\n", {"interval": "during"}, "interval=during: must be one of before, after"),
        ('[{"t": 0, "t": 1}]', {}, "t stands twice in one object"),
        ('[{"t": 0}, 5]', {}, "[1]=5: must be an object: one row of a table"),
        ('{"t": [0, 1], "r": [1]}', {}, "must be lists of one length, one per column"),
        ('[{"t": 0, "r": [1]}]', {}, "row 1: r=[1]: must be a number"),
        ("# a\n#b\nx,y\n0,1\n", {}, "line 3: column=t: must be one of the file's: x, y"),
        ("# only\n", {}, "content: must be a table with rows"),
        ("t,r\n1,0,5\n9,1,5\n", {}, "line 2: columns=3: must be 2, as in the other lines"),
    ],
)
def test_what_may_mean_two_things_is_refused(tmp_path: Path, text: str, options: dict[str, Any], words: str) -> None:
    assert words in error_of(read, tmp_path, text, **({"columns": T_R} | options))


@pytest.mark.parametrize(
    ("file", "options", "values"),
    [
        ("csv-index-column.csv", {"columns": "t_s=t,rate_down_mbps=mbps"}, [12.0, 13.0]),
        (
            "bytes-per-interval.log",
            {"columns": "t_s=1 [ms],rate_down_mbps=5 [B/interval],duration_s=6 [ms]", "header": False},
            [0.0, 11.532883, 13.614584],
        ),
        (
            "abr-durations.json",
            {"columns": "duration_s=duration_ms [ms],rate_down_mbps=bandwidth_kbps [kbit/s]"},
            [1.285, 1.693],
        ),
    ],
)
def test_the_files_that_were_misread(file: str, options: dict[str, Any], values: list[float]) -> None:
    found = importers.read(FIELD / file, "columns", **options)
    assert found.frame["rate_down_mbps"].to_list() == pytest.approx(values, abs=1e-6)


def test_one_number_a_line_is_ambiguous_and_the_line_says_how_to_read_it() -> None:
    with pytest.raises(
        UserError, match=r"format: must be given with --format: leocc .*, or columns, such as .*step_s=1"
    ):
        importers.detect(FIELD / "kbits-one-a-line.txt")


ROWS_10 = range(10)
DOUBTS: dict[str, tuple[str, dict[str, Any], str]] = {
    "a rate without interval=": ("t,r\n0,7\n1,3\n", {}, "counts from its row's time until the next one"),
    "two operators, one after the other in each second": (
        "t,operator,r\n" + "".join(f"{t}.0,A,7\n{t}.5,B,70\n" for t in ROWS_10),
        {},
        "The rows are of 2 different operator (A, B), all in one series.",
    ),
    "two probes of RIPE Atlas, one after the other": (
        "[" + ",".join(f'{{"t": {t}, "r": 7, "prb_id": {60 + t % 2}}}' for t in ROWS_10) + "]",
        {},
        "The rows are of 2 different prb_id (60, 61), all in one series.",
    ),
    "a counter's total": (
        "t,rx_bytes\n" + "".join(f"{t},{875_000 * (t + 1)}\n" for t in ROWS_10),
        {"columns": "t_s=t,rate_down_mbps=rx_bytes [B/interval]", "interval": "before"},
        "rate_down_mbps grows in every row: if it is a counter's total",
    ),
    "probes without a row": (
        "t,SequenceNumber,ms\n0,1,40\n1,2,40\n4,5,40\n",
        {"columns": "t_s=t,rtt_ms=ms"},
        "2 numbers of SequenceNumber have no row: probes that were lost",
    ),
    "a mark that is no time": (
        "t,ms\n0,40\n1,9999.0\n2,40\n",
        {"columns": "t_s=t,rtt_ms=ms"},
        "1 values of ms are 9999, as measured: --set lost=9999 takes them for lost probes.",
    ),
    "points that may be of thousands": (
        "t;r\n0;7.000\n1;3.000\n",
        {"columns": "t_s=t,rate_down_mbps=r [kbit/s]"},
        "The point in r is taken as decimal, as in 7.000: it may be of thousands.",
    ),
    "the ring of a dish": (
        '{"popPingLatencyMs": [40, 80]}',
        {"columns": "rtt_ms=popPingLatencyMs", "step_s": 1},
        "A dish's history is a ring",
    ),
}


@pytest.mark.parametrize("of", DOUBTS)
def test_what_may_make_a_series_another_one_is_noted(tmp_path: Path, of: str) -> None:
    text, options, words = DOUBTS[of]
    assert words in " ".join(read(tmp_path, text, **{"columns": T_R, **options}).notes)


def test_one_operator_a_rate_that_falls_and_probes_in_a_row_have_no_such_note(tmp_path: Path) -> None:
    text = "t,operator,seq,r,ms\n" + "".join(f"{t},A,{t},{9 - t},{40}\n" for t in ROWS_10)
    notes = " ".join(read(tmp_path, text, columns="t_s=t,rate_down_mbps=r,rtt_ms=ms").notes)
    assert not any(word in notes for word in ("different", "counter", "have no row", "thousands"))


@pytest.mark.parametrize("name", ["rate [kbit/s] dl", '"rate, dl"'])
def test_a_column_of_any_name_can_be_named(tmp_path: Path, name: str) -> None:
    columns = f"t_s=t,rate_down_mbps={2 if ',' in name else name} [kbit/s]"
    assert rows(read(tmp_path, f"t,{name}\n0,7000\n1,3000\n", columns=columns)) == [(0, 7), (1, 3)]


PAUSE = {  # of rows at 0, 1, 2, 3, 63, 64 and 65 s
    "before": [(0, 7), (1, 7), (2, 7), (3, None), (62, 3), (63, 3), (64, 3)],
    "after": [(0, 7), (1, 7), (2, 7), (3, 7), (4, None), (63, 3), (64, 3)],
}


@pytest.mark.parametrize("interval", PAUSE)
def test_a_rate_of_a_stated_side_does_not_hold_over_a_pause_but_an_amount_does(tmp_path: Path, interval: str) -> None:
    text = "t,r\n0,7\n1,7\n2,7\n3,7\n63,3\n64,3\n65,3\n"
    found = read(tmp_path, text, columns=T_R, interval=interval)
    assert rows(found) == PAUSE[interval]
    assert "1 holes" in " ".join(found.notes)
    amount = read(tmp_path, text, columns="t_s=t,rate_down_mbps=r [Mbit/interval]", interval=interval)
    assert rows(amount)[3] == (3, 0.05 if interval == "before" else round(7 / 60, 6))
    assert None not in [row[1] for row in rows(read(tmp_path, text, columns=T_R, interval=interval, holes="hold"))]
