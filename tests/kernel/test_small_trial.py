# SPDX-License-Identifier: GPL-2.0-or-later
"""One small real trial: its ACKs, exit and certificate, its samples, and its kept capture as tshark sees it."""

import io
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_series_equal

from lab.backends import boot
from lab.base import sandbox
from lab.images.image import Image
from lab.senders.traced import PORT, SNAPLEN_BYTES
from lab.tables.columns import schema
from lab.tables.exits import BINS, bin_table
from lab.tables.packets import read_packets
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on
from tests.guest import qdiscs as guest_qdiscs
from tests.unit.test_packets import CAPTURE, kept  # noqa: F401
from tests.unit.test_tracepoints import PORTS_CLOCK

TSHARK_FIELDS = {
    "time": "frame.time_epoch",
    "frame_bytes": "frame.len",
    "src_port": "tcp.srcport",
    "flow": "tcp.stream",
    "seq_bytes": "tcp.seq",
    "ack_bytes": "tcp.ack",
    "len_bytes": "tcp.len",
    "flags": "tcp.flags",
    "window_bytes": "tcp.window_size",
    "tsval": "tcp.options.timestamp.tsval",
    "tsecr": "tcp.options.timestamp.tsecr",
    "sack_edges": "tcp.options.sack_le",
}
ACK = 0x010


def dissect(world: Path, capture: Path, server_port: int) -> pl.DataFrame:
    """Return tshark's fields of every frame; time_ns is since the epoch, sequences are relative and wrap at 2^32."""
    words = [word for field in TSHARK_FIELDS.values() for word in ("-e", field)]
    argv = ["tshark", "-n", "-r", f"/trial/{capture.name}", "-T", "fields", "-E", "occurrence=a", *words]
    command = sandbox.command(world, argv, read_only={capture.parent: "/trial"})
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    table = pl.read_csv(
        io.StringIO(done.stdout), separator="\t", has_header=False, new_columns=list(TSHARK_FIELDS), infer_schema=False
    )
    return table.select(
        time_ns=pl.col("time").str.replace(".", "", literal=True).cast(pl.Int64),
        frame_bytes=pl.col("frame_bytes").cast(pl.UInt32),
        flow=pl.col("flow").cast(pl.UInt8),
        to_client=pl.col("src_port").cast(pl.Int64) == server_port,
        seq_bytes=pl.col("seq_bytes").cast(pl.Int64),
        ack_bytes=_where_acked(pl.col("ack_bytes").cast(pl.Int64)),
        len_bytes=pl.col("len_bytes").cast(pl.UInt32),
        flags=_flags(),
        window_bytes=pl.col("window_bytes").cast(pl.Int64),
        tsval=pl.col("tsval").cast(pl.UInt32),
        tsecr=pl.col("tsecr").cast(pl.UInt32),
        sack_edges=pl.when(pl.col("flow").is_not_null()).then(_count(pl.col("sack_edges"))),
    )


def _flags() -> pl.Expr:
    return pl.col("flags").str.strip_prefix("0x").str.to_integer(base=16).cast(pl.UInt16)


def _where_acked(ack: pl.Expr) -> pl.Expr:
    """tshark shows 0 where the flag is not set."""
    return pl.when(_flags() & ACK > 0).then(ack)


def _count(listed: pl.Expr) -> pl.Expr:
    return listed.str.split(",").list.len().fill_null(0).cast(pl.UInt8)


LOSSY = SMALL.model_copy(update={"down": SMALL.down.model_copy(update={"loss_pct": 1.0})})
FIN, SYN, RST = 0x001, 0x002, 0x004
FIELDS = (
    "frame_bytes flow to_client seq_bytes ack_bytes len_bytes flags window_bytes tsval tsecr sack_edges time_ns".split()
)


@pytest.fixture(scope="module")
def lossy_trial(bench: Bench) -> Trial:
    """A download that loses a segment in a hundred."""
    return bench.run(experiment_on(LOSSY, "cubic"), "cubic", "lossy")


@pytest.fixture(scope="module", params=["small_trial", "lossy_trial", "stored"])
def both(request: pytest.FixtureRequest, world: Image) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A capture as the lab reads it, and as tshark does."""
    capture = (
        CAPTURE if request.param == "stored" else request.getfixturevalue(request.param).path / "client.pcapng.zst"
    )
    ours = read_packets(capture, PORT, SNAPLEN_BYTES)
    time_ns = (ours.packets["t_s"] * 1e9).round().cast(pl.Int64) + ours.start_ns
    return ours.packets.with_columns(time_ns.alias("time_ns")), dissect(world.root, capture, PORT)


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_of_every_frame_is_what_tshark_shows(both: tuple[pl.DataFrame, pl.DataFrame], field: str) -> None:
    ours, theirs = both
    assert_series_equal(ours[field], theirs[field])


def captured(trial: Trial) -> pl.DataFrame:
    """The whole capture: the stored table ends with the download."""
    return read_packets(trial.path / "client.pcapng.zst", PORT, SNAPLEN_BYTES).packets


def test_the_compared_captures_hold_frames_of_every_kind(lossy_trial: Trial, small_trial: Trial) -> None:
    frames = captured(lossy_trial)
    assert frames.filter(pl.col("flags") & SYN > 0).height == 4  # two connections, both ways
    assert frames.filter(pl.col("flags") & FIN > 0).height >= 2
    assert frames.filter(pl.col("flags") & RST > 0).height > 0  # the client closes in the middle of the download
    assert small_trial.packets["sack_edges"].max() == 3  # all that fit beside a timestamp
    assert set(frames["flow"].unique()) == {0, 1}
    assert small_trial.packets.height > 5000


def test_the_capture_holds_every_frame_that_crossed_the_clients_interface(small_trial: Trial) -> None:
    counters, probes = small_trial.meta["counters"]["interfaces"], small_trial.meta["probes"]
    sent = {True: counters["satellite:eth2"]["tx_pkts"], False: counters["client:eth1"]["tx_pkts"]}
    on_the_wire = dict(captured(small_trial)["to_client"].value_counts().iter_rows())
    assert {way: count - probes[0]["count"] for way, count in sent.items()} == on_the_wire  # probes come before it


def test_the_stored_table_is_the_decoded_capture_from_the_syn_until_the_downloads_end(small_trial: Trial) -> None:
    whole, end_s = captured(small_trial), small_trial.meta["flows"][0]["end_s"]
    decoded = whole.filter(pl.col("t_s") <= end_s)
    assert 0 < decoded.height < whole.height
    in_ns = (pl.col("t_s") * 1e9).round().cast(pl.Int64)
    assert decoded.with_columns(in_ns).equals(small_trial.packets.with_columns(in_ns))
    syns = small_trial.packets.filter((pl.col("flags") == SYN) & (pl.col("flow") == 1))
    assert syns["t_s"].to_list() == [0.0]


def test_tshark_opens_it_as_it_is(kept: Path, world: Image) -> None:
    assert dissect(world.root, kept, PORT).equals(dissect(world.root, CAPTURE, PORT))


def test_a_real_trials_window_doubles_each_round_trip_until_the_loss(small_trial: Trial) -> None:
    acks = small_trial.acks.filter(pl.col("t_s") < float(small_trial.exits["t_s"][0]))
    at = [int(acks.filter(pl.col("t_s") <= 0.2 + 0.1 * trip)["cwnd_pkts"][-1]) for trip in (1, 2, 3, 4)]
    assert [later / earlier for earlier, later in pairwise(at)] == [pytest.approx(2, rel=0.15)] * 3


def test_a_real_trial_passes_every_check(small_trial: Trial) -> None:
    checks = small_trial.meta["certificate"]["checks"]
    assert small_trial.valid
    assert [check for check in checks if not check["ok"]] == []
    assert [check for check in checks if check["got"] is None] == []


def test_a_download_without_hystart_leaves_by_loss_once_the_buffer_is_full_and_has_no_bins(small_trial: Trial) -> None:
    (row,) = small_trial.exits.to_dicts()
    first_drop_s = small_trial.qdisc.filter(pl.col("drops_pkts") > 0)["t_s"][0]
    assert row["cause"] == "loss"
    assert first_drop_s < row["t_s"] < first_drop_s + 0.5
    assert small_trial.bins.is_empty()
    assert small_trial.bins.schema == schema(BINS)
    assert bin_table({}, PORTS_CLOCK).is_empty()


def test_a_trial_is_sampled_from_before_its_first_packet_until_it_is_over(small_trial: Trial) -> None:
    t_s = small_trial.qdisc["t_s"].to_numpy()
    assert t_s[0] < 0
    steps_s = np.diff(t_s)
    assert t_s[-1] > small_trial.acks["t_s"].max() - 2 * steps_s[0]
    assert steps_s == pytest.approx(np.median(steps_s), abs=20e-6)


def test_a_sampler_ends_with_its_interface_and_needs_one(bench: Bench, tmp_path: Path) -> None:
    reported = boot.call(guest_qdiscs.sampled, {}, tmp_path, bench.kernel, bench.world.root).result
    assert reported["refused"] == "tbf:eth9: No such device: must be an interface, to be sampled"
    assert reported["while_up"] == "eth1"
    assert reported["after_its_end"] == ""
    assert not reported["loaded"]
