# SPDX-License-Identifier: GPL-2.0-or-later
"""Closure: a real recording is replayed, the link is recorded as a live one would be, and the recording is back.

The recorder reports a value each 10 ms. So its value of a time may be what the link was up to 10 ms before or after,
and no other; and a capacity may lack or have too much a packet at either end of what was recorded.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from lab_live import record
from lab_live.node.recorder import PathRequest
from lab_live.record import PROBE_FRAME_BYTES, Phase
from live_paths import IN_GUEST

from bench.replay.accuracy import Floats
from lab.backends import boot
from lab.links.profile import Profile
from lab.links.shapes import write_steps
from lab.node.plan import Plan
from lab.node.qdiscs.link import AHEAD_NS
from lab.node.qdiscs.qdisc_kind import FRAME_BYTES
from lab.runs.plan import draw, make_plan
from lab.tables.link import read_link
from lab.tables.link_capacity import LinkCapacity
from tests.conftest import Bench, experiment_on
from tests.guest.record_path import record_path
from tests.traces_real import needs_real, real

pytestmark = needs_real
STEP_S = 0.01  # of the recorder
PHASES = [
    {"name": "idle", "seconds": 3.0, "down": False, "up": False},
    {"name": "down", "seconds": 4.0, "down": True, "up": False},
]
FINE_S = 1e-4
CLOCKS_MS = 0.1  # what the path has beside the link's delay: stamps, wires


@dataclass(frozen=True)
class Recorded:
    """Real recordings of one kind of link, and how fast fillers must be to keep it full."""

    rate: str
    rtt: str
    put_on: str
    fillers_mbps: float
    exact: bool = False  # whether the rate is one of delivery opportunities, replayed one by one


LINKS = {
    "GEO": Recorded("geo-klm-inflight/iperf_download_sfo.json", "geo-klm-inflight/ping_sfo.log", "up", 6),
    "LEO": Recorded("leo-leocc/bw_example.txt", "leo-leoviz/ping-10ms-2025-05-29-23-20-13.txt", "both", 150),
    "LTE": Recorded(
        "lte-mahimahi/TMobile-LTE-short.down",
        "lte5g-nuwins-ping/tmobile-2023-05-13-ping_174538104.out",
        "up",
        80,
        exact=True,
    ),
    "WiFi": Recorded(
        "wifi-cell-sparktraces/Zhuge/office-wifi/trace1.log",
        "wifi-cell-sparktraces/Hairpin/wifi/trace1.log",
        "both",
        100,
    ),
    "5G": Recorded(
        "5g-ucc/Download/Driving/B_2020.01.16_12.10.03.csv",
        "lte5g-nuwins-ping/verizon-2023-08-07-ping_160158007.out",
        "up",
        400,
    ),
}


@dataclass(frozen=True)
class Closed:
    """A link as it was replayed, with time 0 when its series began, and what the recorder made of it."""

    link: LinkCapacity
    phases: dict[str, Phase]
    began_s: dict[str, float]  # of each phase, since the series' begin


def profile(kind: Recorded) -> Profile:
    """Put a kind's recordings together; all are as their files have them, repeated where they are short."""
    series = {"file": str(real(kind.rate)), "loop": True}
    capacity = {"opportunities": series} if kind.exact else {"rate_mbps": series | {"zero": "missing"}}
    rtt = {"series": {"file": str(real(kind.rtt)), "loop": True}, "put_on": kind.put_on}
    return Profile.model_validate(
        {
            "title": "recorded",
            "down": capacity | {"buffer_bytes": 1_000_000},
            "up": {},
            "rtt_ms": rtt,
            "recorded": [],
            "assumed": [],
        }
    )


@pytest.fixture(scope="module", params=LINKS)
def closed(request: pytest.FixtureRequest, bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Closed:
    kind, folder = LINKS[request.param], tmp_path_factory.mktemp("closure")
    experiment = experiment_on(profile(kind), "cubic_plain", duration_s=20)
    drawn = draw(experiment, 1)
    write_steps(experiment.profile, drawn.link, folder / "link")
    plan: Plan = make_plan(experiment, experiment.ccas["cubic_plain"], drawn)
    server, client = plan["ends"]
    measurement = PathRequest(PHASES, rate_mbps=kind.fillers_mbps, quiet_s=1.5)._asdict()
    asked = {"plan": plan, "server": server, "client": client, "asked": measurement}
    boot.call(record_path, asked, folder, bench.kernel, bench.world.root, more=IN_GUEST)
    return _closed(folder, plan)


def _closed(folder: Path, plan: Plan) -> Closed:
    clocks = json.loads((folder / "node.json").read_text())["clocks"]
    series_ns = clocks["realtime_ns"] + AHEAD_NS
    phases = {phase.name: phase for phase in record.phases(folder / "raw")}
    began_s = {name: (phase.meta["start_ns"] - series_ns) / 1e9 for name, phase in phases.items()}
    return Closed(LinkCapacity(read_link(folder, plan["shapes"], 0.0)), phases, began_s)


def steps(link: LinkCapacity, quantity: str) -> tuple[Floats, Floats]:
    """Return the times of a quantity and its values from then on."""
    rows = link.table.filter(pl.col("quantity") == quantity)
    return rows["t_s"].to_numpy(), rows["value"].to_numpy()


def delayed_s(link: LinkCapacity, way: str, sent_s: Floats) -> Floats:
    """Return when packets have crossed a delay line, which keeps their order."""
    times_s, delays_ms = steps(link, f"{way}.delay_ms")
    at = np.maximum(np.searchsorted(times_s, sent_s, side="right") - 1, 0)
    return np.asarray(np.maximum.accumulate(sent_s + delays_ms[at] / 1e3))


def carried_s(link: LinkCapacity, came_s: Floats) -> Floats:
    """Return when the bottleneck has carried each of some probes, one after the other."""
    times_s, bytes_ = steps(link, "down.opportunity_bytes")
    if times_s.size:  # an opportunity takes all that wait: some eighteen probes
        instants_s = times_s[bytes_ > 0]
        return np.asarray(instants_s[np.searchsorted(instants_s, came_s, side="right")])
    times_s, mbps = steps(link, "down.rate_mbps")
    begun, free_s, left_s = link.sent_bytes(times_s), 0.0, []
    for at_s in came_s:
        due = link.sent_bytes(np.array([max(free_s, at_s)]))[0] + PROBE_FRAME_BYTES
        step = int(np.searchsorted(begun, due, side="left")) - 1  # the last that begins with less carried
        free_s = times_s[step] + (due - begun[step]) * 8 / 1e6 / mbps[step]
        left_s.append(free_s)
    return np.array(left_s)


def round_trips_ms(link: LinkCapacity, sent_s: Floats) -> Floats:
    """Model the round trips of probes over an idle link: up, to the client's side of the bottleneck, and down."""
    back_s = delayed_s(link, "down", carried_s(link, delayed_s(link, "up", sent_s)))
    return np.asarray(1e3 * (back_s - sent_s))


def test_the_round_trips_are_those_of_the_recording_that_was_replayed(closed: Closed) -> None:
    found = record.recording(closed.phases["idle"]).frame
    assert found.height == 300
    assert found["rtt_ms"].null_count() == 0
    sent_s = closed.began_s["idle"] + found["t_s"].to_numpy()
    modelled_ms = round_trips_ms(closed.link, sent_s)
    error_ms = np.abs(found["rtt_ms"].to_numpy() - modelled_ms)
    assert np.quantile(error_ms, 0.95) < CLOCKS_MS
    shifted = [round_trips_ms(closed.link, sent_s + shift_s) for shift_s in (-STEP_S, STEP_S)]
    in_a_step_ms = np.max([np.abs(other - modelled_ms) for other in shifted], axis=0)
    assert (error_ms <= in_a_step_ms + CLOCKS_MS).all()


def test_the_capacity_is_that_of_the_recording_that_was_replayed(closed: Closed) -> None:
    found = record.recording(closed.phases["down"])
    assert found.meaning == "capacity"
    ends_s, bytes_ = _carried(closed, found.frame)
    early, late = (closed.link.sent_bytes(ends_s + shift_s) for shift_s in (-STEP_S, STEP_S))
    begun = closed.link.sent_bytes(ends_s[:1])[0] - bytes_[0]  # the recording begins between two packets
    assert (bytes_ + begun >= early - 2 * FRAME_BYTES).all()
    assert (bytes_ + begun <= late + 2 * FRAME_BYTES).all()
    lasted = closed.link.sent_bytes(ends_s[[0, -1]])
    assert bytes_[-1] - bytes_[0] == pytest.approx(lasted[1] - lasted[0], rel=0.005, abs=2 * FRAME_BYTES)


def _carried(closed: Closed, frame: pl.DataFrame) -> tuple[Floats, Floats]:
    """Return when the link had let pass what came in each row or before, and how much that is."""
    phase = closed.phases["down"]
    cut_s = (phase.arrivals_ns("down")[0] // round(STEP_S * 1e9) + 1) * STEP_S
    came_s = closed.began_s["down"] + cut_s + frame["t_s"].to_numpy() + STEP_S
    bytes_ = np.cumsum(frame["rate_down_mbps"].to_numpy() * 1e6 / 8 * STEP_S)
    return came_s - _one_way_s(closed, came_s), bytes_


def _one_way_s(closed: Closed, came_s: Floats) -> Floats:
    """Return the delay that those had which came at these times: of the time when they had passed the bottleneck."""
    sent_s = np.arange(0.0, came_s[-1] + FINE_S, FINE_S)
    arrived_s = delayed_s(closed.link, "down", sent_s)
    last = np.maximum(np.searchsorted(arrived_s, came_s, side="right") - 1, 0)
    return np.asarray(came_s - sent_s[last])
