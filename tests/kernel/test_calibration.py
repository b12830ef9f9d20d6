# SPDX-License-Identifier: GPL-2.0-or-later
"""What the scenario requests is what packets get: known rate, delay, buffer, loss and frames in, measured out."""

from dataclasses import dataclass

import polars as pl
import pytest

from lab.links.profile import Profile, load_profile
from lab.senders.traced import PORT, SNAPLEN_BYTES
from lab.tables.packets import read_packets
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on
from tests.traces_real import needs_real
from tests.whole.test_profiles import EVERY, fetched  # noqa: F401

SYN, ACK = 0x002, 0x010
FRAME_BYTES = 1514
RATE_TOLERANCE = 0.005
DELAY_TOLERANCE_MS = 0.1
PROBES = 12


def link(down: dict[str, float], up: dict[str, object]) -> Profile:
    words = {"title": "a link to measure", "down": down, "up": up, "recorded": [], "assumed": ["everything"]}
    return Profile.model_validate(words)


@dataclass(frozen=True)
class Known:
    """The requested link, whose buffer holds all that slow start sends within the trial."""

    rate_mbps: float
    down_ms: float
    up_ms: float

    @property
    def profile(self) -> Profile:
        buffer_bytes = round(self.rate_mbps * 1e6)
        down = {"rate_mbps": self.rate_mbps, "delay_ms": self.down_ms, "buffer_bytes": buffer_bytes}
        return link(down, {"delay_ms": self.up_ms})


LINKS = [Known(5, 30, 70), Known(20, 100, 5), Known(144, 10, 10)]


@pytest.fixture(scope="module", params=LINKS, ids=str)
def measured(request: pytest.FixtureRequest, bench: Bench) -> tuple[Known, Trial]:
    """A download that leaves the bottleneck never idle, and loses nothing."""
    known = request.param
    experiment = experiment_on(known.profile, "cubic_plain", duration_s=3)
    return known, bench.run(experiment, "cubic_plain", f"rate-{known.rate_mbps}")


def arrivals(trial: Trial) -> pl.DataFrame:
    return trial.packets.filter(pl.col("to_client") & (pl.col("flow") == 1) & (pl.col("len_bytes") > 0))


def test_the_client_gets_the_rate_that_was_requested(measured: tuple[Known, Trial]) -> None:
    known, trial = measured
    busy = trial.qdisc.filter(pl.col("t_s").is_between(1.0, 2.5))
    assert busy["backlog_bytes"].min() > 0  # type: ignore[operator]
    got = arrivals(trial).filter(pl.col("t_s").is_between(1.0 + known.down_ms / 1e3, 2.5 + known.down_ms / 1e3))
    seconds = got["t_s"][-1] - got["t_s"][0]
    rate_mbps = float(got["frame_bytes"][1:].sum()) * 8 / 1e6 / seconds
    assert rate_mbps == pytest.approx(known.rate_mbps, rel=RATE_TOLERANCE)


def test_each_packet_takes_the_delay_requested_and_the_handshake_the_round_trip(measured: tuple[Known, Trial]) -> None:
    known, trial = measured
    for probe, asked_ms in zip(trial.meta["probes"], (known.down_ms, known.up_ms), strict=True):
        delays_ms = [delay_us / 1e3 for _, delay_us in probe["arrived"]]
        assert delays_ms == [pytest.approx(asked_ms, abs=DELAY_TOLERANCE_MS)] * PROBES
    known, trial = measured
    requested = trial.packets.filter(pl.col("flags") == SYN)["t_s"].to_list()
    answered = trial.packets.filter(pl.col("flags") == SYN | ACK)["t_s"].to_list()
    rtts_ms = [1e3 * (answer - probe) for probe, answer in zip(requested, answered, strict=True)]
    assert rtts_ms == [pytest.approx(known.down_ms + known.up_ms, abs=DELAY_TOLERANCE_MS)] * 2


def test_nothing_is_reordered_or_lost_and_a_certificate_has_the_same_tolerances(measured: tuple[Known, Trial]) -> None:
    _, trial = measured
    assert (arrivals(trial)["seq_bytes"].diff().drop_nulls() > 0).all()
    assert (trial.acks["snd_una_bytes"].diff().drop_nulls() >= 0).all()
    assert trial.retransmits.is_empty()
    assert measured[1].valid, measured[1].meta["certificate"]


def test_the_queue_grows_to_the_buffer_and_drops_begin_when_it_is_full_and_not_before(small_trial: Trial) -> None:
    peak_bytes = small_trial.qdisc["backlog_bytes"].max()
    assert SMALL.down.buffer_bytes - FRAME_BYTES < peak_bytes <= SMALL.down.buffer_bytes  # type: ignore[operator]
    before_ms = 10.0
    first_s = small_trial.qdisc.filter(pl.col("drops_pkts") > 0)["t_s"][0]
    just_before = small_trial.qdisc.filter(pl.col("t_s").is_between(first_s - before_ms / 1e3, first_s, closed="left"))
    grown_bytes = small_trial.meta["rate_mbps"] * 1e6 / 8 * before_ms / 1e3  # slow start sends at twice the rate
    assert just_before["backlog_bytes"].max() > SMALL.down.buffer_bytes - grown_bytes  # type: ignore[operator]
    assert just_before["drops_pkts"].max() == 0


def test_what_the_full_buffer_drops_is_what_is_missing_at_the_client(small_trial: Trial) -> None:
    counters = small_trial.meta["counters"]["interfaces"]
    into_gateway = counters["server:eth1"]["tx_pkts"]
    out_of_gateway = counters["gateway:eth2"]["tx_pkts"]
    assert into_gateway - out_of_gateway == counters["gateway:eth2"]["qdisc_dropped_pkts"] > 0
    assert out_of_gateway == counters["satellite:eth2"]["tx_pkts"]


@pytest.mark.parametrize("loss_pct", [2.0])
def test_random_loss_takes_the_share_that_was_requested(bench: Bench, loss_pct: float) -> None:
    down = {"rate_mbps": 20.0, "delay_ms": 5.0, "buffer_bytes": 500_000, "loss_pct": loss_pct}
    trial = bench.run(experiment_on(link(down, {"delay_ms": 5.0}), "bbr", duration_s=3), "bbr", "loss")
    sent = trial.meta["counters"]["interfaces"]["gateway:eth2"]["tx_pkts"] - PROBES
    whole = read_packets(
        trial.path / "client.pcapng.zst", PORT, SNAPLEN_BYTES
    ).packets  # the table ends with the download
    lost = sent - whole["to_client"].sum()
    four_sds_pct = 4 * 100 * (loss_pct / 100 * (1 - loss_pct / 100) / sent) ** 0.5
    assert sent > 3000
    assert 100 * lost / sent == pytest.approx(loss_pct, abs=four_sds_pct)
    assert trial.valid, trial.meta["certificate"]


PERIOD_MS, FRAME_PKTS = 40.0, 3
STILL = {"model": "schedule", "source": "tests", "steps": [{"from_s": 0.0, "value": 20.0}]}


@pytest.fixture(scope="module", params=[20.0, STILL], ids=["number", "series"])
def framed(request: pytest.FixtureRequest, bench: Bench) -> Trial:
    """A return link that lets few packets go in each frame; its delay is the same as a number and as a series."""
    up = {"delay_ms": request.param, "frames": {"period_ms": PERIOD_MS, "packets": FRAME_PKTS}}
    profile = link({"rate_mbps": 20.0, "delay_ms": 20.0, "buffer_bytes": 500_000}, up)
    name = f"framed-{type(request.param).__name__}"
    return bench.run(experiment_on(profile, "cubic_plain", duration_s=4), "cubic_plain", name)


def frames_of(acks: pl.DataFrame) -> pl.DataFrame:
    """ACKs that reach the server together: when, and how many."""
    apart = acks["t_s"].diff().fill_null(0) > PERIOD_MS / 2e3
    return acks.group_by(apart.cum_sum().alias("frame"), maintain_order=True).agg(
        pl.col("t_s").first(), (pl.col("t_s").last() - pl.col("t_s").first()).alias("spread_s"), pl.len().alias("pkts")
    )


def test_acks_reach_the_server_in_frames_that_hold_so_many(framed: Trial) -> None:
    frames = frames_of(framed.acks.filter(pl.col("t_s").is_between(0.5, 3.5)))
    steps = frames["t_s"].diff().drop_nulls() * 1e3 / PERIOD_MS
    assert ((steps - steps.round()).abs() * PERIOD_MS < DELAY_TOLERANCE_MS).all()
    assert frames["spread_s"].max() < DELAY_TOLERANCE_MS / 1e3  # type: ignore[operator]
    assert frames["pkts"][1:-1].max() == FRAME_PKTS
    assert frames["pkts"][1:-1].median() == FRAME_PKTS


def test_frames_keep_the_order_and_hold_nothing_back_on_an_idle_link(framed: Trial) -> None:
    assert (framed.acks["snd_una_bytes"].diff().drop_nulls() >= 0).all()
    assert framed.valid, framed.meta["certificate"]
    up = framed.meta["probes"][1]
    delays_ms = [delay_us / 1e3 for _, delay_us in up["arrived"]]
    assert min(delays_ms) >= 20.0 - DELAY_TOLERANCE_MS
    assert max(delays_ms) <= 20.0 + DELAY_TOLERANCE_MS


def test_the_fastest_link_carries_its_rate(bench: Bench) -> None:
    """A frame takes 1.2 us at 10 Gb/s, and the kernel's timers are half a microsecond apart."""
    fastest = link({"rate_mbps": 10_000, "delay_ms": 1, "buffer_bdps": 1}, {"delay_ms": 1})
    experiment = experiment_on(fastest, "cubic", duration_s=1)
    trial = bench.run(experiment, "cubic", "fastest")
    assert trial.valid, trial.meta["certificate"]
    busy = trial.qdisc.filter(pl.col("t_s").is_between(0.1, 0.2))
    rate_mbps = (busy["sent_bytes"][-1] - busy["sent_bytes"][0]) * 8 / 1e6 / (busy["t_s"][-1] - busy["t_s"][0])
    assert rate_mbps == pytest.approx(10_000, rel=RATE_TOLERANCE)


@needs_real
@pytest.mark.usefixtures("fetched")
@pytest.mark.parametrize("name", ["lte-att", "wifi-restaurant"])
def test_a_recorded_link_gives_a_trial_whose_certificate_holds(bench: Bench, name: str) -> None:
    """Delivery opportunities both ways with long stalls; a rate so low that a probe's own time counts."""
    trial = bench.run(experiment_on(load_profile(name, "test"), "cubic_plain", duration_s=4), "cubic_plain", name)
    assert trial.valid, trial.meta["certificate"]
