# SPDX-License-Identifier: GPL-2.0-or-later
"""What each version and option of iperf writes as JSON is read as what arrived on the link, or refused by one line."""

import json
from pathlib import Path
from typing import Any

import pytest
from test_import_iperf3 import interval, iperf3_test, written

from lab.base.errors import UserError
from lab.links.recorded import Series, load_series
from lab.traces import importers, recording
from tests.brief import error_of, put

FIELD = Path(__file__).parents[1] / "data"


def columns(path: Path, **options: Any) -> dict[str, list[Any]]:
    """Return the values of every interval, by column."""
    frame = importers.read(path, **options).frame[:-1].drop("t_s")
    return {name: [None if value is None else round(value, 4) for value in frame[name]] for name in frame.columns}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("iperf3-bidir.json", {"rate_up_mbps": [9.5] * 3, "rate_down_mbps": [94.0] * 3}),
        ("iperf3-udp-up.json", {"rate_up_mbps": [20.0], "loss_pct": [80.0]}),
        ("iperf3-lost-179.json", {"rate_down_mbps": [20.0, 20.0], "loss_pct": [None, 3.0]}),
        ("iperf3-last-hair.json", {"rate_up_mbps": [9.5] * 3}),
        ("iperf3-stream.json", {"rate_up_mbps": [9.5] * 3}),
        ("iperf3-verbose.txt", {"rate_up_mbps": [9.44, 9.44], "retransmits_pkts": [0, 0]}),
        ("iperf3-omit.txt", {"rate_down_mbps": [17.8, 17.8]}),
    ],
)
def test_a_file_of_a_user_has_its_right_values(name: str, expected: dict[str, list[Any]]) -> None:
    assert columns(FIELD / name) == expected


def test_both_directions_under_one_name_are_told_apart_as_iperf3_before_3_11_ordered_them(tmp_path: Path) -> None:
    up, down = (json.dumps(interval(0, 1, mbps)["sum"]) for mbps in (5, 50))
    text = json.dumps(iperf3_test(interval(0, 1, 1), reverse=0))
    at = text.index('{"sum"')
    file = put(tmp_path / "bidir.json", text[:at] + f'{{"sum": {up}, "sum": {down}}}' + text[text.index("]", at) :])
    assert columns(file) == {"rate_up_mbps": [5.0], "rate_down_mbps": [50.0]}


TWICE, NO_TEST = r"line 1: \w+ stands twice in one object: must be JSON$", r"line 1: .*: must be "


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"start": {}, "start": {}, "intervals": []}', TWICE),
        ('{"start": {}, "intervals": [{"sum": 1, "sum": 2, "sum": 3}]}', TWICE),
        ('{"event": "interval", "data": {}}', NO_TEST),
        ('{"event": "start", "data": 1} {"event": "intervals", "data": 1}', NO_TEST),
    ],
)
def test_a_member_that_stands_twice_and_events_of_no_test_are_refused(tmp_path: Path, text: str, line: str) -> None:
    with pytest.raises(UserError, match=rf"wrong\.json: {line}"):
        importers.read(put(tmp_path / "wrong.json", text), "iperf3-json")


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ({"sum": {"bytes": 1000, "end": 1, "lost_percent": 25.0}}, {"rate_down_mbps": [0.006], "loss_pct": [25.0]}),
        ({"sum": {"bytes": 1000, "end": 1, "lost_percent": 0}}, {"rate_down_mbps": [8.0]}),
        ({"sum": {"bytes": 1000, "end": 1, "lost_percent": 179.0}}, {"rate_down_mbps": [8.0]}),
    ],
)
def test_a_udp_upload_is_what_was_sent_less_what_was_lost(
    tmp_path: Path, end: dict[str, Any], expected: dict[str, list[Any]]
) -> None:
    sent = iperf3_test(interval(0, 1, 8), protocol="UDP", reverse=0) | {"end": end}
    assert columns(written(tmp_path, sent), user="server") == expected


def test_what_iperf3_writes_once_per_stream_is_passed_over(tmp_path: Path) -> None:
    text = json.dumps(iperf3_test(interval(0, 1, 5), reverse=0))
    file = put(
        tmp_path / "parallel.json",
        text.replace('"start": {', '"start": {"sock_bufsize": 0, "sock_bufsize": 0, "sock_bufsize": 1, ', 1),
    )
    assert columns(file) == {"rate_up_mbps": [5.0]}


def test_the_first_interval_after_the_omitted_ones_begins_where_the_clock_restarts(tmp_path: Path) -> None:
    """iperf3 may write the second before the restart as its begin, and half of its rate."""
    omitted, late, last = interval(0, 1, 40), interval(1, 2, 10), interval(1, 2, 20)
    omitted["sum"] |= {"omitted": True}
    late["sum"] |= {"start": 0.99999, "end": 1.0001, "bytes": 2_500_250}
    assert columns(written(tmp_path, iperf3_test(omitted, late, last))) == {"rate_down_mbps": [20.0, 20.0]}


def test_omitted_time_that_is_no_multiple_of_the_interval_leaves_no_false_rate(tmp_path: Path) -> None:
    """The rate that iperf3 writes is of the time since the begin on the clock before its restart."""
    omitted, late, last = interval(0, 1, 40), interval(1, 2, 4.656), interval(1, 2, 6.6)
    omitted["sum"] |= {"omitted": True}
    late["sum"] |= {"start": 0.3, "end": 0.7, "bytes": 582_096}
    last["sum"] |= {"start": 0.7, "end": 1.4}
    found = written(tmp_path, iperf3_test(omitted, late, last))
    assert columns(found) == {"rate_down_mbps": [6.6525, 6.6]}
    assert importers.read(found).frame["t_s"].to_list() == [0.0, 0.7, 1.4]


def test_a_stream_that_ends_in_the_whole_document_is_one_test(tmp_path: Path) -> None:
    whole = iperf3_test(interval(0, 1, 8))
    whole["start"] |= {"cookie": "abc"}
    events = [{"event": "start", "data": whole["start"]}, {"event": "interval", "data": interval(0, 1, 8)}]
    file = put(
        tmp_path / "stream.json", "\n".join(json.dumps(each) for each in [*events, {"event": "end", "data": {}}, whole])
    )
    assert columns(file) == {"rate_down_mbps": [8.0]}


def test_a_stream_that_is_cut_has_the_intervals_before_that(tmp_path: Path) -> None:
    test = iperf3_test(interval(0, 1, 8))
    events = [{"event": "start", "data": test["start"]}, {"event": "interval", "data": interval(0, 1, 8)}]
    file = put(tmp_path / "stream.json", "\n".join([*map(json.dumps, events), '{"event": "interval", "da']))
    assert columns(file) == {"rate_down_mbps": [8.0]}
    assert importers.read(file).notes[:2] == (
        'The last line is cut, and left out: {"event": "interval", "da.',
        "Test 1: its stream is cut before its end.",
    )


@pytest.mark.parametrize("protocol", ["TCP", "UDP"])
def test_an_interrupted_test_has_the_intervals_before_that(tmp_path: Path, protocol: str) -> None:
    sums = {"sum_sent": {"bytes": 2_000_000, "end": 2}, "sum_received": {"bytes": 0, "end": 2, "lost_percent": 0}}
    document = iperf3_test(interval(0, 1, 8), interval(1, 2, 8), protocol=protocol, reverse=0)
    file = written(tmp_path, document | {"end": sums, "error": "interrupt - the client has terminated"})
    assert columns(file) == {"rate_up_mbps": [8.0, 8.0]}
    assert "Test 1: iperf3 ended with 'interrupt - the client has terminated': its intervals until then count." in (
        importers.read(file).notes
    )


@pytest.mark.parametrize("protocol", ["TCP", "UDP"])
def test_a_link_of_a_test_lasts_as_long_as_the_test(tmp_path: Path, protocol: str) -> None:
    """The row without values at its end is none that lasts as long as the others do."""
    document = iperf3_test(*(interval(at, at + 1, 10 * at + 10, lost_percent=0) for at in range(5)), protocol=protocol)
    found = importers.read(written(tmp_path, document), **({"ramp": "keep"} if protocol == "TCP" else {}))
    recording.write(found, tmp_path / "mine.parquet")
    series = load_series(Series(file="mine.parquet"), ("rate_down_mbps",), tmp_path / "mine.yml", "down.rate_mbps")
    assert (series.length_s, series.nominal()) == (5.0, 30.0)


def test_a_rate_does_not_hold_over_intervals_that_are_missing(tmp_path: Path) -> None:
    found = importers.read(written(tmp_path, iperf3_test(*(interval(at, at + 1, 8) for at in (0, 1, 5, 6)))))
    assert found.frame.rows() == [(0, 8), (1, 8), (2, None), (5, 8), (6, 8), (7, None)]
    assert "Test 1: 1 holes between its intervals, 3.0 s: missing." in found.notes


def test_intervals_that_overlap_are_refused(tmp_path: Path) -> None:
    file = written(tmp_path, iperf3_test(interval(0, 1, 8), interval(0.5, 2, 8)))
    assert "intervals[1].sum.start=0.5: must be no earlier than the end of the" in error_of(importers.read, file)


def test_a_list_of_tests_is_read_as_one_after_the_other(tmp_path: Path) -> None:
    tests = [iperf3_test(interval(0, 1, 5), clock=clock) for clock in (100, 160)]
    file = put(tmp_path / "list.json", json.dumps(tests))
    assert importers.read(file).frame["t_s"].to_list() == [0, 1, 60, 61]


def test_an_interval_without_packets_has_no_loss(tmp_path: Path) -> None:
    """Versions until 3.1 write nan there, which is no JSON."""
    stalled = iperf3_test(interval(0, 1, 5, lost_percent=1), interval(1, 2, 0, lost_percent=None), protocol="UDP")
    file = written(tmp_path, stalled)
    for nothing in ("null", "nan", "-nan"):
        file.write_text(json.dumps(stalled, indent=1).replace('"lost_percent": null', f'"lost_percent":\t{nothing}'))
        assert columns(file) == {"rate_down_mbps": [5.0, 0.0], "loss_pct": [1.0, None]}


def test_a_line_of_words_before_or_behind_the_json_is_passed_over_with_a_note(tmp_path: Path) -> None:
    file = written(tmp_path, iperf3_test(interval(0, 1, 5)))
    file.write_text(f"warning: JSON data length overflow\n{file.read_text()}\niperf3: error - unable to send\n")
    assert columns(file) == {"rate_down_mbps": [5.0]}
    assert importers.read(file).notes[:2] == (
        "A line before the JSON is passed over: warning: JSON data length overflow.",
        "The last line is cut, and left out: iperf3: error - unable to send.",
    )


def test_a_servers_intervals_are_those_of_the_end_that_wrote_them(tmp_path: Path) -> None:
    document = iperf3_test(interval(0, 1, 8), protocol="UDP", reverse=0)
    document["start"] |= {"accepted_connection": {"host": "192.0.2.2", "port": 1}}
    found = importers.read(written(tmp_path, document))
    assert not any("what was sent" in note for note in found.notes)
