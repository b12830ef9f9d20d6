# SPDX-License-Identifier: GPL-2.0-or-later
"""From a profile and a seed to a trial's link: recordings placed in time, wrong ones refused before anything runs."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

from lab.base.errors import UserError
from lab.links.draw import CLOSING_S, Link, draw_link
from lab.links.profile import Profile, load_profile, read_profile
from lab.links.shapes import shapes, write_steps
from lab.links.steps import first, rows
from lab.node.traffic.flow import HANDSHAKE_RTTS, HANDSHAKE_S
from lab.schema.topology import load_topology
from lab.traces.recording import Recording, write
from tests.brief import error_of

LENGTH_S, STEP_S = 60.0, 0.01
SIMPLE = {"delay_ms": 10, "rate_mbps": 10, "buffer_bytes": 50_000}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording whose rate at each time is that time, in Mb/s, and its RTT 100 ms and a little; opportunities too."""
    profiles = tmp_path_factory.mktemp("profiles")
    t_s = [n * STEP_S for n in range(round(LENGTH_S / STEP_S))]
    table = pl.DataFrame({"t_s": t_s, "rate_down_mbps": t_s, "rtt_ms": [100.0 + t % 1 for t in t_s]})
    about: dict[str, Any] = {"meaning": "capacity", "format": "test", "source": "made", "notes": ()}
    write(Recording(kind="series", frame=table, **about), profiles / "ramp.parquet")
    opportunities = pl.DataFrame({"t_s": t_s, "opportunities": pl.Series([2] * len(t_s), dtype=pl.UInt32)})
    write(Recording(kind="opportunities", frame=opportunities, **about), profiles / "packets.parquet")
    return profiles


def profile(folder: Path, down: dict[str, Any], up: dict[str, Any] | None = None, **more: Any) -> Profile:
    """Read a profile that lies beside the recordings."""
    file = folder / "mine.yml"
    ends = {"up": {"delay_ms": 10} if up is None else up}
    file.write_text(yaml.safe_dump({"title": "t", "down": down, **ends, "recorded": [], "assumed": [], **more}))
    return read_profile(file)


def drawn(requested: Profile, seed: int = 1, duration_s: float = 10.0) -> Link:
    return draw_link(requested, duration_s, np.random.default_rng(seed))


def refusal(requested: Profile, duration_s: float = 10.0) -> str:
    return error_of(drawn, requested, duration_s=duration_s)


def ramp(**more: Any) -> dict[str, Any]:
    return {"rate_mbps": {"file": "ramp.parquet", **more}, "delay_ms": 10, "buffer_bytes": 50_000}


@pytest.mark.parametrize(
    ("written", "mbps"), [("025", 25.0), ("+025", 25.0), ("2.5e1", 25.0), ("25e0", 25.0), ("'25'", 25.0)]
)
def test_a_number_is_what_people_read_whatever_yaml_1_1_makes_of_it(tmp_path: Path, written: str, mbps: float) -> None:
    file = tmp_path / "mine.yml"
    ends = "up: {delay_ms: 10}\nrecorded: []\nassumed: []\n"
    file.write_text(f"title: 10:30\ndown: {{rate_mbps: {written}, delay_ms: 10, buffer_bytes: 50000}}\n{ends}")
    assert read_profile(file).down.rate_mbps == mbps
    assert read_profile(file).title == "10:30"


def test_a_series_starts_where_its_seed_puts_it_and_keeps_its_own_steps(folder: Path) -> None:
    shown = list(rows(drawn(profile(folder, ramp())).down.rate_mbps or 0.0))
    phase_s = shown[0][1]  # the ramp's value is its time, to a step
    assert 0 < phase_s < LENGTH_S - 10
    assert all(value - phase_s == pytest.approx(t_s, abs=STEP_S + 1e-9) for t_s, value in shown)
    assert np.allclose(np.diff([t_s for t_s, _ in shown[1:]]), STEP_S)
    requested = profile(folder, ramp())
    starts = [first(drawn(requested, seed).down.rate_mbps or 0.0) for seed in (1, 1, 2)]
    assert starts[0] == starts[1] != starts[2]


def test_a_series_of_a_clock_starts_with_it_and_one_shorter_than_the_trial_must_loop(folder: Path) -> None:
    rtt = {"rtt_ms": {"series": {"file": "ramp.parquet", "column": "rate_down_mbps", "clock": "one"}, "put_on": "up"}}
    down = ramp(clock="one")
    del down["delay_ms"]
    link = drawn(profile(folder, down, {}, **rtt))
    assert first(link.up.delay_ms) == first(link.down.rate_mbps or 0.0)
    reported = refusal(profile(folder, ramp()), duration_s=60)
    assert "mine.yml: series=ramp.parquet: must be as long as the trial" in reported
    looped = list(rows(drawn(profile(folder, ramp(loop=True)), duration_s=150).down.rate_mbps or 0.0))
    values = [value for _, value in looped]
    assert sum(later < earlier for earlier, later in pairwise(values)) in (2, 3)
    assert looped[-1][0] == pytest.approx(drawn(profile(folder, ramp(loop=True)), duration_s=150).series_s, abs=0.02)


def test_a_recorded_rtt_is_the_base_both_ways_and_its_variation_where_the_profile_puts_it(folder: Path) -> None:
    down = {"rate_mbps": 10, "buffer_bytes": 50_000}
    for put_on, still in (("up", "down"), ("down", "up")):
        requested = profile(folder, down, {}, rtt_ms={"series": {"file": "ramp.parquet"}, "put_on": put_on})
        link = drawn(requested)
        assert getattr(link, still).delay_ms == pytest.approx(50.0)
        varied = [value for _, value in rows(getattr(link, put_on).delay_ms)]
        assert min(varied) == pytest.approx(50.0, abs=0.011)
        assert max(varied) == pytest.approx(51.0, abs=0.011)
        assert link.base_rtt_ms == pytest.approx(100.0, abs=0.011)


def test_opportunities_keep_their_instants_and_bytes(folder: Path, tmp_path: Path) -> None:
    requested = profile(folder, {"opportunities": {"file": "packets.parquet"}, "delay_ms": 10, "buffer_bytes": 50_000})
    link = drawn(requested)
    write_steps(requested, link, tmp_path / "link")
    lines = [line.split("\t") for line in (tmp_path / "link/bottleneck.tsv").read_text().splitlines()]
    assert (lines[0], lines[-1]) == (["0", "0"], [f"{link.series_s * 1e6:.0f}", "end"])
    assert {value for _, value in lines[1:-1]} == {str(2 * 1514)}
    t_us = pl.Series([int(line[0]) for line in lines[1:-1]])
    assert (t_us.diff().drop_nulls() - STEP_S * 1e6).abs().max() <= 1  # type: ignore[operator]
    assert link.mean_rate_mbps == pytest.approx(2 * 1514 * 8 / STEP_S / 1e6, rel=0.002)


def test_rates_from_opportunities_carry_the_same_bytes(folder: Path) -> None:
    requested = profile(
        folder, {"rate_mbps": {"file": "packets.parquet", "bin_ms": 20}, "delay_ms": 10, "buffer_bytes": 50_000}
    )
    assert drawn(requested).mean_rate_mbps == pytest.approx(2 * 1514 * 8 / STEP_S / 1e6, rel=0.002)


def test_a_buffer_in_bdps_is_that_of_the_nominal_or_recorded_rate_and_the_base_rtt(folder: Path) -> None:
    down = {"rate_mbps": 10, "delay_ms": 10, "buffer_bdps": 2}
    assert drawn(profile(folder, down)).down.buffer_bytes == 2 * 10e6 / 8 * 0.020
    recorded = {"opportunities": {"file": "packets.parquet"}, "delay_ms": 10, "buffer_bdps": 2}
    bdp_bytes = 2 * 1514 / STEP_S * 0.020
    assert drawn(profile(folder, recorded)).down.buffer_bytes == pytest.approx(2 * bdp_bytes, rel=0.002)
    for rate_mbps, delay_ms in ((1000, 10_000), (0.01, 10)):
        reported = refusal(profile(folder, {"rate_mbps": rate_mbps, "delay_ms": delay_ms, "buffer_bdps": 10}))
        assert "mine.yml: down.buffer_bdps=10" in reported
        assert "must be one of 1514 to 4294967295 bytes" in reported


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"rate_mbps": 0}, "down.rate_mbps=0: must be greater than or equal to 0.001"),
        ({"rate_mbps": float("nan")}, "down.rate_mbps=nan: must be"),
        ({"rate_mbps": float("inf")}, "down.rate_mbps=inf: must be"),
        ({"frames": {"period_ms": 40, "packets": 0}}, "frames.packets=0: must be greater than or equal to 1"),
        ({"delay_ms": float("nan")}, "down.delay_ms=nan: must be"),
        ({"delay_ms": -5}, "down.delay_ms=-5: must be greater than or equal to 0"),
        ({"loss_pct": 101}, "down.loss_pct=101: must be less than or equal to 100"),
        ({"rate_mbps": 1e-9}, "down.rate_mbps=1e-09: must be greater than or equal to 0.001"),
        ({"frames": {"period_ms": 1e9}}, "down.frames.period_ms=1000000000.0: must be less than or equal to"),
        ({"frames": {"period_ms": 5, "packets": 2**31}}, "packets=2147483648: must"),
        ({"queue": {"kind": "pfifo", "limit_pkts": 2**31}}, "limit_pkts=2147483648: must be less than"),
        ({"queue": {"kind": "codel", "target_ms": 1e7}}, "target_ms=10000000.0: must be less than or equal to"),
        ({"queue": {"kind": "fq_codel", "flows": 10**6}}, "flows=1000000: must be less than or equal to 65536"),
        ({"queue": {"kind": "red", "min_share": 0.5, "max_share": 0.4}}, "a min_share below max_share"),
        ({"rate_mbps": 20_000}, "down.rate_mbps=20000: must be less than or equal to 10000"),
        ({"delay_ms": 70_000}, "down.delay_ms=70000: must be less than or equal to 60000"),
        ({"buffer_bytes": 2**32}, f"down.buffer_bytes={2**32}: must be less than or equal to {2**32 - 1}"),
        ({"buffer_bytes": 100}, "down.buffer_bytes=100: must be greater than or equal to 1514"),
        ({"buffer_bdps": 1}, "must be a direction with either buffer_bytes or buffer_bdps"),
        ({"rate_mbps": {"model": "lognormol", "mean": 1, "sd": 1, "source": "x"}}, "must be"),
        ({"rate_mbps": {"model": "lognormal", "mean": 1, "sd": 1}}, "down.rate_mbps.source=: must be given"),
        ({"rate_mbps": {"clock": "x"}}, "must be a series with either dataset or file"),
        ({"rate_mbps": None, "opportunities": {"file": "x", "zero": "missing"}}, "must be opportunities without zero"),
        ({"queue": {"kind": "red"}}, "min_share=: must be given"),
        ({"queue": {"kind": "step_drop", "threshold_share": 0.5, "drop_pct": 0.00005}}, "a multiple of 0.0001"),
        ({"queue": {"kind": "bursts", "begin_pct": 0.00015, "end_pct": 30}}, "begin_pct=0.00015: must be a multiple"),
        ({"queue": {"kind": "sfq"}}, "must be"),
    ],
)
def test_what_no_qdisc_can_hold_or_is_unknown_is_refused_when_the_profile_is_read(
    folder: Path, changed: dict[str, Any], words: str
) -> None:
    line = error_of(profile, folder, SIMPLE | changed)
    assert words in line
    assert "mine.yml" in line


def test_a_series_that_no_qdisc_takes_of_no_file_or_of_no_such_column_is_refused(folder: Path) -> None:
    reported = refusal(profile(folder, ramp(scale=1000.0)))
    assert "mine.yml: down.rate_mbps=" in reported
    assert "must be from 0 to 10000 at every time" in reported
    absent = SIMPLE | {"rate_mbps": {"file": "absent.parquet"}}
    assert "down.rate_mbps.file=absent.parquet: must be a file in the folder of the profile" in refusal(
        profile(folder, absent)
    )
    assert "column=rate_up_mbps: must be one of" in refusal(profile(folder, ramp(column="rate_up_mbps")))
    assert "bin_ms=20.0: must be left out: rate_down_mbps has values" in refusal(profile(folder, ramp(bin_ms=20)))


def test_a_series_lasts_until_iperf3_has_been_stopped(folder: Path, tmp_path: Path) -> None:
    requested = profile(folder, ramp())
    write_steps(requested, drawn(requested, duration_s=10.0), tmp_path / "link")
    t_us, word = (tmp_path / "link/bottleneck.tsv").read_text().splitlines()[-1].split("\t")
    assert word == "end"
    assert int(t_us) / 1e6 > 10.0 + CLOSING_S


def test_a_trial_is_as_long_as_its_download_and_the_handshakes_before_it(folder: Path) -> None:
    short, long = (drawn(profile(folder, SIMPLE | {"delay_ms": delay_ms})) for delay_ms in (10, 1010))
    assert short.series_s == pytest.approx(10.0 + HANDSHAKE_S + HANDSHAKE_RTTS * 0.020 + CLOSING_S)
    assert long.series_s - short.series_s == pytest.approx(HANDSHAKE_RTTS * 1.0)


def test_until_its_series_begins_a_link_carries_the_mean(folder: Path) -> None:
    """The first value may be a stall, and delivery opportunities have no rate: probes would never come."""
    for down in (ramp(), {"opportunities": {"file": "packets.parquet"}, "delay_ms": 10, "buffer_bytes": 50_000}):
        requested = profile(folder, down)
        link = drawn(requested)
        spec = shapes(requested, link, load_topology("path", "test"), 1)[0]["spec"]
        assert spec["start_bps"] == pytest.approx(link.mean_rate_mbps * 1e6, abs=1)


ON_DEMAND = {"frame_ms": 40, "guaranteed_pkts": 1, "request_delay_ms": 560, "cap_bytes": 9000, "report": "new"}


def up_link(**changed: Any) -> dict[str, Any]:
    return {"on_demand": ON_DEMAND | changed, "delay_ms": 300, "buffer_bytes": 100_000}


def up_shape(requested: Profile, seed: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = shapes(requested, drawn(requested, seed), load_topology("path", "test"), 1)[1]["spec"]
    return found


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"frame_ms": 1e8}, r"\.frame_ms=.*: must be"),
        ({"request_delay_ms": 1e8}, r"\.request_delay_ms=.*: must be"),
        ({"cap_bytes": 2**31}, r"\.cap_bytes=.*: must be"),
        ({"guaranteed_pkts": -1}, r"\.guaranteed_pkts=.*: must be"),
        ({"report": "rate"}, ".*: must be .*period_ms where its report is a rate"),
        ({"report": "rate", "period_ms": 0}, ".*: must be .*greater than or equal to 0.001"),
        ({"period_ms": 1200}, ".*: must be .*period_ms where its report is a rate"),
        ({"report": "rate", "frame_ms": 0.001, "period_ms": 1200}, ".*: must be .*period_ms of at most 65536 frames"),
    ],
)
def test_a_return_link_that_no_qdisc_holds_is_refused(folder: Path, changed: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=rf"mine\.yml: up\.on_demand{words}"):
        profile(folder, SIMPLE, up_link(**changed))


def test_a_return_link_whose_requests_take_too_long_is_refused_when_it_is_drawn(folder: Path) -> None:
    reported = refusal(profile(folder, SIMPLE, up_link(frame_ms=0.001)))
    assert "up.on_demand.request_delay_ms=560.0: must be at most 65536 frames" in reported
    reported = refusal(profile(folder, SIMPLE, up_link(request_delay_ms=50_000)))
    assert "up.on_demand.request_delay_ms=50000.0: must be shorter than the trial" in reported


def test_a_state_is_drawn_and_the_phase_of_frames_beside_it_too() -> None:
    link = load_profile("geo-viasat", "test")
    draws = [drawn(link, seed).up.on_demand for seed in range(60)]
    assert {draw.guaranteed_pkts for draw in draws if draw} == {1, 2, 4, 8}
    assert len({draw.frame_phase_ms for draw in draws if draw}) == len(draws)


def test_a_terminal_reports_once_in_a_period_and_begins_in_each_listed_state_as_often_as_listed(folder: Path) -> None:
    spec = up_shape(profile(folder, SIMPLE, up_link(report="rate", period_ms=1200)))
    assert (spec["report"], spec["period_us"]) == ("rate", 1_200_000)
    states = {"model": "choice", "values": [1, 1, 1, 8], "source": "made"}
    requested = profile(folder, SIMPLE, up_link(guaranteed_pkts=states))
    given = [up_shape(requested, seed)["guaranteed_pkts"] for seed in range(400)]
    assert set(given) == {1, 8}
    assert 100 - 4 * 75**0.5 < given.count(8) < 100 + 4 * 75**0.5  # 400 draws of a quarter: four deviations


def test_each_direction_gets_what_the_profile_states_and_another_queue_below_the_shaper(folder: Path) -> None:
    topology = load_topology("path", "test")
    plain = profile(folder, SIMPLE)
    parts = [shape["part"] for shape in shapes(plain, drawn(plain), topology, 1)]
    assert parts == ["bottleneck", "delay-down", "delay-up"]
    demanded = profile(folder, SIMPLE, up_link())
    found = {shape["part"]: shape for shape in shapes(demanded, drawn(demanded), topology, 1)}
    assert found["bottleneck-up"]["spec"]["kind"] == "on_demand"
    assert 0 <= found["bottleneck-up"]["spec"]["phase_us"] < 40_000
    assert found["bottleneck-up"]["steps"] is None
    requested = profile(folder, SIMPLE | {"queue": {"kind": "step_drop", "threshold_share": 0.5, "drop_pct": 25}})
    spec = shapes(requested, drawn(requested), load_topology("path", "test"), 7)[0]["spec"]
    child = {"kind": "step_drop", "limit_bytes": 50_000, "threshold_bytes": 25_000, "drop_pct": 25, "seed": 7}
    assert (spec["kind"], spec["child"]) == ("replay", child)


CYCLE = {"model": "cycle", "mean": 20, "amplitude": 2, "period_s": 0.1, "source": "test"}
SCHEDULE = {"model": "schedule", "steps": [{"from_s": 0, "value": 5}, {"from_s": 60, "value": 6}], "source": "test"}


@pytest.mark.parametrize("model", [CYCLE, SCHEDULE], ids=["a cycle", "a schedule longer than the trial"])
def test_no_step_of_a_series_lies_at_its_end_or_behind_it(folder: Path, tmp_path: Path, model: dict[str, Any]) -> None:
    requested = profile(folder, SIMPLE, {"delay_ms": model})
    for seed in range(30):
        link = drawn(requested, seed, duration_s=2.0 + seed / 1000)
        write_steps(requested, link, tmp_path / "link")
        *steps, end = ((tmp_path / "link/delay-up.tsv").read_text()).splitlines()
        assert end.split("\t") == [f"{link.series_s * 1e6:.0f}", "end"]
        assert int(steps[-1].split("\t")[0]) < link.series_s * 1e6
