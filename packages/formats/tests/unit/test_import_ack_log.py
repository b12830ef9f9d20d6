# SPDX-License-Identifier: GPL-2.0-or-later
"""A sender's own per-ACK log is read whatever the order of its columns, and over the wraps of its counters."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from ack_logs import FORMS, MSS, WRAP, Ack, Download, Gateway, download, text, written
from hypothesis import given, settings
from hypothesis import strategies as st
from lab_papers.evaluation.recorded.download import recorded
from test_import_fuzz import CHANGES, FUZZED, changed, judge

from lab.base.errors import UserError
from lab.traces import importers
from tests.brief import error_of
from tests.command import lab
from tests.examples import examples


@cache
def modelled() -> Download:
    return download(Gateway())


def frame_of(folder: Path, content: str, **options: Any) -> pl.DataFrame:
    return importers.read(written(folder, f"{content.rstrip()}\n"), **options).frame


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_what_was_acknowledged_and_when(tmp_path: Path, form: str) -> None:
    frame = frame_of(tmp_path, text(modelled().acks, form))
    assert frame["t_s"][1:].to_numpy() == pytest.approx([ack.t_s for ack in modelled().acks], abs=2e-6)
    assert frame["acked_bytes"].to_list() == [0, *(ack.acked * MSS for ack in modelled().acks)]
    assert frame["rtt_ms"][1:].to_numpy() == pytest.approx([1e3 * ack.rtt_s for ack in modelled().acks], abs=1e-3)
    assert frame["retransmits_pkts"].sum() == modelled().acks[-1].retrans
    assert frame["mss_bytes"].unique().to_list() == [MSS]


@pytest.mark.parametrize("form", [form for form in FORMS if form != "without snd_nxt"])
def test_what_is_in_flight_is_what_was_sent_less_what_was_acknowledged(tmp_path: Path, form: str) -> None:
    frame = frame_of(tmp_path, text(modelled().acks, form))
    assert frame["inflight_bytes"].to_list() == [None, *((ack.nxt - ack.acked) * MSS for ack in modelled().acks)]


def test_a_log_that_does_not_say_what_was_sent_leaves_it_out(tmp_path: Path) -> None:
    found = importers.read(written(tmp_path, text(modelled().acks, "without snd_nxt")))
    assert "inflight_bytes" not in found.frame.columns
    assert "In flight: not in the log." in found.notes


def test_a_segment_that_overtook_a_lost_one_counts_as_delivered(tmp_path: Path) -> None:
    frame = frame_of(tmp_path, text(modelled().acks))
    assert frame["delivered_bytes"][-1] == modelled().acks[-1].delivered * MSS > frame["acked_bytes"][-1]


def test_a_segment_counts_with_the_mss_of_its_time(tmp_path: Path) -> None:
    rows = ["now_us,bytes_acked,mss,rtt_us,tp_delivered", "0,536,536,600000,2", "9,1984,1448,600000,3"]
    found = importers.read(written(tmp_path, "\n".join([*rows, "18,4880,1448,600000,5\n"])))
    assert found.frame["delivered_bytes"][1:].to_list() == [536, 1984, 4880]
    assert found.frame["mss_bytes"].unique().to_list() == [1448]
    assert "The MSS changes (2 sizes): the most frequent is used." in found.notes


PLAIN: dict[str, pl.DataFrame] = {}


def plain_frame(folder: Path, form: str) -> pl.DataFrame:
    """Return the table of a log as it is made, read once per form."""
    if form not in PLAIN:
        PLAIN[form] = frame_of(folder, text(modelled().acks, form))
    return PLAIN[form]


@settings(max_examples=examples(25), deadline=None)
@given(
    form=st.sampled_from(sorted(FORMS)),
    order=st.integers(0, 10_000),
    start_us=st.integers(0, WRAP - 1) | st.integers(WRAP - 9_000_000, WRAP - 1),
    isn=st.integers(0, WRAP - 1) | st.integers(WRAP - 3_000_000, WRAP - 1),
    comma=st.sampled_from([",", ", ", " ,\t"]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_order_wraps_blanks_and_line_ends_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, form: str, order: int, start_us: int, isn: int, comma: str, end: str
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    plain = plain_frame(folder, form)
    other = frame_of(folder, text(modelled().acks, form, start_us, isn, order, comma, end))
    assert np.array_equal(other["t_s"].to_numpy(), plain["t_s"].to_numpy())
    assert other.drop("t_s").equals(plain.drop("t_s"))


def test_a_clock_that_counts_from_the_first_ack_is_negative_after_its_wrap(tmp_path: Path) -> None:
    rows = ["now_us,bytes_acked,mss,rtt_us", "0,1308,1308,600000", "7,2616,1308,600000", "-4294967287,3924,1308,600000"]
    assert frame_of(tmp_path, "\n".join(rows))["t_s"].to_list() == pytest.approx([0, 0.6, 0.600007, 0.600009])


def test_unknown_columns_are_left_out(tmp_path: Path) -> None:
    lines = text(modelled().acks).splitlines()
    more = "\n".join([f"{lines[0]},note", *(f"{line},x" for line in lines[1:])]) + "\n"
    assert frame_of(tmp_path, more).equals(frame_of(tmp_path, text(modelled().acks)))


def test_several_acks_of_a_microsecond_are_the_last_of_them(tmp_path: Path) -> None:
    rows = ["now_us,bytes_acked,mss,rtt_us,retrans", "0,1308,1308,600000,0", "9,2616,1308,600001,1"]
    found = importers.read(written(tmp_path, "\n".join([*rows, "9,3924,1308,600002,3\n"])))
    assert found.frame["acked_bytes"].to_list() == [0, 1308, 3924]
    assert found.frame["retransmits_pkts"].to_list() == [None, 0, 3]
    assert any(note.startswith("1 ACKs came in the microsecond of the next") for note in found.notes)


@pytest.mark.parametrize("unknown", ["-1", "0", "4294967295"])
def test_an_ack_without_a_round_trip_has_none(tmp_path: Path, unknown: str) -> None:
    rows = ["now_us,bytes_acked,mss,rtt_us", "0,1308,1308,600000", f"9,2616,1308,{unknown}"]
    assert frame_of(tmp_path, "\n".join(rows))["rtt_ms"].to_list() == [None, 600.0, None]


@pytest.mark.parametrize("form", ["with snd_una", "without snd_una"])
def test_an_ack_before_the_first_of_data_is_left_out(tmp_path: Path, form: str) -> None:
    handshake = Ack(t_s=0.0, rtt_s=0.6, acked=0, nxt=0, delivered=0, lost=0, retrans=0)
    plain = importers.read(written(tmp_path, text(modelled().acks, form)))
    found = importers.read(written(tmp_path, text([handshake, *modelled().acks], form)))
    assert found.frame.equals(plain.frame)
    assert found.notes[0] == "1 ACKs came before the first of data: left out."


def test_a_log_that_begins_during_a_download_counts_from_its_first_ack(tmp_path: Path) -> None:
    found = importers.read(written(tmp_path, text(modelled().acks[300:], "without snd_una")))
    assert found.frame["t_s"][0] == 0
    assert found.frame["acked_bytes"][0] == modelled().acks[300].acked * MSS
    assert "The log does not begin with the download: time counts from its first ACK." in found.notes
    assert "inflight_bytes" not in found.frame.columns


def test_the_mss_of_a_log_that_names_none_may_be_given(tmp_path: Path) -> None:
    rows = "now_us,each_delv_MB,rtt_us\n0,7,600000\n5,11,600000\n"
    with pytest.raises(UserError, match=r"mss_bytes=1: must be given with --set mss_bytes=N: the log names none$"):
        frame_of(tmp_path, rows)
    assert frame_of(tmp_path, rows, mss_bytes=1448)["mss_bytes"].to_list() == [1448] * 3


def without_acked(content: str) -> str:
    """Leave out the column of what was acknowledged."""
    table = [line.split(",") for line in content.splitlines()]
    gone = table[0].index("bytes_acked")
    return "\n".join(",".join(cells[:gone] + cells[gone + 1 :]) for cells in table) + "\n"


def test_a_log_without_what_was_acknowledged_gives_round_trips_and_what_is_in_flight(tmp_path: Path) -> None:
    content = text(modelled().acks, "with snd_una")
    plain = frame_of(tmp_path, content)[1:]
    found = importers.read(written(tmp_path, without_acked(content)))
    for name in ("rtt_ms", "inflight_bytes", "mss_bytes", "lost_pkts"):
        assert found.frame[name].equals(plain[name])
    assert found.frame["retransmits_pkts"].sum() == plain["retransmits_pkts"].sum()
    assert found.frame["t_s"].to_numpy() == pytest.approx(plain["t_s"].to_numpy() - plain["t_s"][0], abs=1e-6)
    assert not {"acked_bytes", "delivered_bytes"} & set(found.frame.columns)
    assert found.notes[0].startswith("Bytes acknowledged: not in the log (no bytes_acked, total_delv_B, each_delv_MB)")


def test_a_log_of_round_trips_alone_names_all_that_is_missing(tmp_path: Path) -> None:
    found = importers.read(written(tmp_path, "now_us,rtt_us\n5,600000\n9,-1\n"))
    assert found.frame.columns == ["t_s", "rtt_ms"]
    assert found.frame["rtt_ms"].to_list() == [600.0, None]
    assert [note.split(":")[0] for note in found.notes[:2]] == ["Bytes acknowledged", "In flight"]


def test_a_log_without_what_was_acknowledged_is_not_compared_with_downloads(tmp_path: Path) -> None:
    file = written(tmp_path, without_acked(text(modelled().acks)))
    assert "acked_bytes: must be a column: only a log of ACKs" in error_of(recorded, importers.read(file), "mine")


HEAD = "now_us,bytes_acked,mss,rtt_us,total_retrans_pkt,snd_nxt,snd_una\n"
BAD = {
    "now_us,mss,snd_nxt\n0,1308,9\n": "line 1: columns=now_us,mss,snd_nxt: must be such that one of them is rtt_us",
    "now_us,bytes_acked,mss\n0,1308,1308\n": "line 1: columns=now_us,bytes_acked,mss: must be such that one of",
    "bytes_acked,mss,rtt_us\n0,1308,1308\n": "line 1: columns=bytes_acked,mss,rtt_us: must be such that one of",
    HEAD: "content: must be a table with rows",
    HEAD + "5,1308,1308,9,0,9000,1000\n4,1308,1308,9,0,9000,1000\n": "line 3: now_us=4: must be no earlier than in",
    HEAD + "4000000000,1308,1308,9,0,9,1\n9999999,1308,1308,9,0,9,1\n": "line 3: now_us=9999999: must be no earlier",
    HEAD + "5,2616,1308,9,0,9,1\n6,1308,1308,9,0,9,1\n": "line 3: bytes_acked=1308: must be no less than in the",
    HEAD + "5,2616,1308,9,7,9,1\n6,2616,1308,9,6,9,1\n": "line 3: total_retrans_pkt=6: must be no less than in the",
    HEAD + "5,2616,1308,9,0,9,1\n6,2616,1308,9,0,8,1\n": "line 3: snd_nxt=8: must be no less than in the line before",
    HEAD + "5,2616,1308,9,0,9,1\n6,2616,1308,9,0,9,10\n": "line 3: snd_nxt=9: must be no less than snd_una",
    HEAD + "5,2616,1308,9,0,9,1\n6,many,1308,9,0,9,1\n": "line 3: bytes_acked=many: must be a number at least 0",
    HEAD + "5,2616,1308,9,0,9,1\n6,2616.5,1308,9,0,9,1\n": "line 3: bytes_acked=2616.5: must be a whole number",
    HEAD + "5,2616,1308,-7,0,9,1\n": "line 2: rtt_us=-7: must be a",
    HEAD + "5,2616,0,9,0,9,1\n": "line 2: mss=0: must be a number at least 88 and at most 65495",
    HEAD + "5,2616,1308,9,0,4294967296,1\n": "line 2: snd_nxt=4294967296: must be a number at least 0 and at most",
    HEAD + "5,2616,1308,9,0,9\n": "line 2: columns=6: must be 7, as in the other lines",
    HEAD + "5,0,1308,9,0,9,1\n": "line 2: acked=0: must be above 0 in the last line: no data was acknowledged",
    "now_us,rtt_us,dport\n0,60000,443\n1,9000,80\n": "line 3: dport=80: must be 443, as in the first line: one conn",
    "now_us,cookie,bytes_acked,mss,rtt_us\n0,7,1308,1308,9\n1,8,2616,1308,9\n": "line 3: cookie=8: must be 7, as in",
    "": "content: must be something: the file is empty",
}


@pytest.mark.parametrize(("content", "words"), BAD.items(), ids=range(len(BAD)))
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, content: str, words: str) -> None:
    file = written(tmp_path, content)
    assert error_of(importers.read, file).startswith(f"{file}: {words}")


@pytest.mark.parametrize(("clock", "rtt"), [(1000, 1), (0.001, 1), (1, 1000), (1, 0.001)])
def test_another_unit_than_the_names_is_refused(tmp_path: Path, clock: float, rtt: float) -> None:
    """What is in flight is rate times RTT, or one of them is not in us."""
    rtt_us, acked = int(60_000 * rtt), range(1448, 1448 * 3000, 1448)
    rows = [f"{int(n * 606 / 1448 * clock)},{n},1448,{rtt_us},{n + 144_800},{n}" for n in acked]
    content = "\n".join(["now_us,bytes_acked,mss,rtt_us,snd_nxt,snd_una", *rows])
    with pytest.raises(UserError, match=r"in flight=144800 bytes, where rate times RTT is \d+: must be"):
        importers.read(written(tmp_path, content))


def test_the_command_refuses_in_one_line_with_status_2(tmp_path: Path) -> None:
    file = written(tmp_path, HEAD + "5,2616,1308,9,0,9,1\n6,1308,1308,9,0,9,1\n")
    done = lab(tmp_path, "traces", "import", str(file))
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.endswith(f"{file}: line 3: bytes_acked=1308: must be no less than in the line before")


@pytest.mark.parametrize("form", FORMS)
@settings(FUZZED, max_examples=examples(60))
@given(changes=CHANGES)
def test_a_log_with_a_few_bytes_changed(tmp_path: Path, form: str, changes: list[tuple[int, int, bytes]]) -> None:
    content = text(modelled().acks[:40], form).encode()
    (tmp_path / "made").write_bytes(changed(content, changes))
    judge(tmp_path / "made", "ack-log")


def test_a_last_line_without_an_end_is_left_out_with_a_note(tmp_path: Path) -> None:
    """Its last value may be cut: the shortest round trip would be 0.5 ms."""
    rows = "now_us,bytes_acked,mss,rtt_us\n0,1308,1308,50000\n9,2616,1308,51000\n"
    found = importers.read(written(tmp_path, f"{rows}20,3924,1308,500"))
    assert found.frame.equals(frame_of(tmp_path, rows))
    assert found.notes[0] == "The last line has no end, so that its last value may be cut: left out."
