# SPDX-License-Identifier: GPL-2.0-or-later
"""A sender's log of each ACK shows the link; readings of its tcp_info only bound it."""

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from lab_whatif import files, logs
from lab_whatif.evidence import items
from lab_whatif.link import written
from lab_whatif.measures import measured
from test_import_ndt7 import SACKED_NDT7, info, ndt7
from test_import_qlog import acked as acknowledged
from test_import_qlog import qlog, sent
from test_import_ss import SACKED_SS, SS
from typer.testing import CliRunner
from whatif_captures import MSS, Download, Known, ack_log

from lab.base.errors import UserError
from lab.commands.cli import app
from lab.traces.recording import Recording
from tests.brief import put

READINGS = ndt7(*(info(100_000 * row, 500_000 * row, 12_000 + row, 0) for row in range(1, 20)))


def test_a_log_of_each_ack_shows_rate_and_round_trip(tmp_path: Path) -> None:
    file = put(tmp_path / "acks.csv", ack_log(Download(Known())))
    found = logs.inferred_of(file, logs.read(file))
    assert found.path.base_rtt_ms == pytest.approx(50, abs=2)
    assert found.capacity.filter("known")["rate_mbps"].median() == pytest.approx(20, rel=0.02)
    assert found.buffer.kind == "at least"
    assert found.buffer.most_queued_bytes == pytest.approx(150_000, rel=0.1)
    assert measured(found).losses > 0
    assert measured(found).mark_s[5] == pytest.approx(5e6 * 8 / 20e6, rel=0.15)


def test_a_log_without_what_is_in_flight_shows_no_exit_and_the_same_times(tmp_path: Path) -> None:
    file, acks = tmp_path / "acks.csv", ack_log(Download(Known(size_bytes=3_000_000)))
    file.write_text(acks)
    whole = measured(logs.inferred_of(file, logs.read(file)))
    file.write_text("\n".join(",".join(line.split(",")[:6]) for line in acks.splitlines()) + "\n")
    found = measured(logs.inferred_of(file, logs.read(file)))
    assert whole.exit_s is not None
    assert found.exit_s is None
    assert found.mark_s == whole.mark_s


def test_a_log_of_what_arrived_in_order_alone_is_refused_where_anything_was_lost(tmp_path: Path) -> None:
    """It jumps where a hole is filled, and the buffer would seem to hold that, too."""
    lines = [line.split(",") for line in ack_log(Download(Known(buffer_bytes=60_000))).splitlines()]
    file = tmp_path / "acks.csv"
    for last, words in ((8, r"45 packets lost"), (3, "losses not counted")):
        file.write_text("\n".join(",".join([*cells[:4], *cells[5:]][: last + 1]) for cells in lines) + "\n")
        with pytest.raises(UserError, match=rf"tp_delivered=none \({words}\): must be there"):
            logs.inferred_of(file, logs.read(file))


def test_a_log_with_long_pauses_is_refused(tmp_path: Path) -> None:
    """Six requests of one connection, 20 s apart, are no bulk; a bulk's last ACK leaves nothing in flight, too."""
    known = Known(call_pkts=1000, call_s=20, most_window=300, buffer_bytes=3_000_000, size_bytes=6000 * MSS)
    file = put(tmp_path / "acks.csv", ack_log(Download(known)))
    logs.inferred_of(file, logs.read(file))
    file.write_text(ack_log(Download(replace(known, calls=True))))
    with pytest.raises(UserError, match="segments sent with nothing in flight=5: must be at most"):
        logs.inferred_of(file, logs.read(file))


@pytest.mark.parametrize("text", [SACKED_SS, SACKED_NDT7], ids=["ss", "ndt7"])
def test_what_fills_a_hole_bounds_no_capacity(tmp_path: Path, text: str) -> None:
    file = put(tmp_path / "log", text)
    (capacity, _) = logs.bounds(file, logs.read(file))[1]
    assert capacity.low == pytest.approx((250_000 - 144_800) * 8 / 0.25 / 1e6, abs=0.001)


@pytest.mark.parametrize("first_bytes", [1208, 30], ids=["full packets", "one short packet, acknowledged alone"])
def test_a_qlog_shows_the_rate(tmp_path: Path, first_bytes: int) -> None:
    """Packets of 1,208 bytes (1,250 on the link) leave every 0.5 ms, and each waits 40 ms behind the base of 50 ms."""
    events = [sent(0, 0, first_bytes), acknowledged(50, [0])]
    for number in range(1, 4000):
        events += [sent(60 + number / 2, number, 1208)]
    arrivals = [acknowledged(60 + number / 2 + 90, [number]) for number in range(1, 4000)]
    file = put(tmp_path / "x.sqlog", qlog(*sorted([*events, *arrivals], key=lambda event: event["time"])))
    found = logs.inferred_of(file, logs.read(file))
    assert found.path.base_rtt_ms == 50
    assert found.capacity.filter("known")["rate_mbps"].median() == pytest.approx(20, rel=0.01)
    assert found.mss_bytes == 1208


def in_whole_ms(folder: Path, base_ms: float) -> Path:
    """Write a qlog with times cut to whole ms, of packets every 0.613 ms, most of which wait 40 ms."""
    times_ms = [(number * 0.613, number * 0.613 + base_ms + 40 * (number >= 200)) for number in range(3000)]
    events = [sent(int(sent_ms), number) for number, (sent_ms, _) in enumerate(times_ms)]
    events += [acknowledged(int(back_ms), [number]) for number, (_, back_ms) in enumerate(times_ms)]
    return put(folder / "x.sqlog", qlog(*sorted(events, key=lambda event: event["time"])))


def test_a_qlog_in_whole_ms_knows_the_base_rtt_to_one_of_them(tmp_path: Path) -> None:
    file = in_whole_ms(tmp_path, 50.6)
    found = logs.read(file)
    base, jitter, *_ = items(logs.inferred_of(file, found))
    assert (base.value, base.high, jitter.value) == (50, 51, 0)
    assert "The log's clock has steps of 1 ms: each round trip is known to one of them." in found.notes


def test_a_qlog_in_whole_ms_of_a_short_path_is_refused(tmp_path: Path) -> None:
    file = in_whole_ms(tmp_path, 1.4)
    with pytest.raises(UserError, match=r"base RTT=1\.0 ms: must be at least 2 steps of the log's clock \(1 ms\)"):
        logs.inferred_of(file, logs.read(file))


def test_a_qlog_counts_what_was_lost(tmp_path: Path) -> None:
    """One packet of 100."""
    file, kept = tmp_path / "x.sqlog", [number for number in range(4000) if number % 100 != 50]
    events = [sent(number / 2, number, 1208) for number in range(4000)]
    events += [acknowledged(number / 2 + (50 if number < 40 else 90), [number]) for number in kept]
    file.write_text(qlog(*sorted(events, key=lambda event: event["time"])))
    assert measured(logs.inferred_of(file, logs.read(file))).losses == pytest.approx(40, abs=2)


@pytest.mark.parametrize("text", [READINGS, SS], ids=["ndt7", "ss"])
def test_readings_bound_the_capacity_and_say_that_they_are_coarse(tmp_path: Path, text: str) -> None:
    file, out = tmp_path / "log", tmp_path / "out"
    file.write_text(text)
    result = CliRunner().invoke(app, ["whatif", str(file), "--out", str(out)])
    assert result.exit_code == 0, result.exception
    assert "Coarse: what passed between two readings is not known" in result.stdout
    numbers = {each["name"]: each for each in json.loads((out / "evidence.json").read_text())["numbers"]}
    assert numbers["capacity"]["low"] == pytest.approx({READINGS: 40, SS: 8}[text])
    assert numbers["capacity"]["high"] is None
    assert not (out / "link.yml").exists()


def test_readings_are_refused_for_other_senders(tmp_path: Path) -> None:
    file = put(tmp_path / "log", READINGS)
    result = CliRunner().invoke(app, ["whatif", str(file), "--was", "cubic", "--cca", "bbr"])
    assert isinstance(result.exception, UserError)
    assert "absent with readings of tcp_info" in str(result.exception)


@pytest.mark.parametrize(
    ("text", "form"),
    [("17787 29.4\n17787.2 35.9\n17787.4 0\n", "zhuge"), ("# Readme\n\nSome words.\n", "none, near columns")],
)
def test_what_shows_no_sender_is_refused_by_what_it_is(tmp_path: Path, text: str, form: str) -> None:
    file = put(tmp_path / "rate.log", text)
    with pytest.raises(UserError, match=f"format={form}: must be a capture, or one of ack-log, qlog, ndt7, ss"):
        logs.read(file)


LOG = Recording(pl.DataFrame({"t_s": [0.0], "rtt_ms": [1.0]}), "series", None, "ss-tcp", "made", ())


@pytest.mark.parametrize("name", [files.EVIDENCE, files.CAPACITY, files.NUMBERS, files.LINK])
def test_no_file_is_written_through_a_link(tmp_path: Path, name: str) -> None:
    (canary := tmp_path / "canary").write_text("as it was")
    (folder := tmp_path / "answer").mkdir()
    (folder / name).symlink_to(canary)
    files.write_bounds(folder, canary, LOG, pl.DataFrame({"t_s": [0.0]}), [])
    files.write_numbers(folder, "cubic", [], [])
    written(folder / files.LINK, {"title": "a link"})
    assert canary.read_text() == "as it was"
    assert all((folder / each).is_file() and not (folder / each).is_symlink() for each in (name, files.EVIDENCE))
