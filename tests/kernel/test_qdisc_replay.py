# SPDX-License-Identifier: GPL-2.0-or-later
"""A link replays its series exactly: every packet leaves at the time of an exact model, whatever the steps do."""

from collections.abc import Sequence

import numpy as np
import pytest

from lab.backends.records import TrialError
from tests.conftest import Bench
from tests.link_bench import Arrivals, Spec, at_pace, cross

MBPS = 1_000_000
SMALL_BYTES = 500  # a window of 100 ms at 20 Mb/s holds 500 of them: a packet is 0.2 % of it
DELAY_TOLERANCE_S, WINDOW_TOLERANCE, WINDOW_S = 50e-6, 0.005, 0.1
LINK: Spec = {
    "kind": "replay",
    "mode": "rate",
    "limit_bytes": 20_000_000,
    "overhead_bytes": 0,
    "start_bps": 5 * MBPS,
    "child": None,
}
SERIES: dict[str, list[tuple[int, int]]] = {  # (us, bit/s)
    "constant": [(0, 20 * MBPS)],
    "step": [(0, 20 * MBPS), (700_000, 5 * MBPS), (1_300_000, 30 * MBPS)],
    "sawtooth of 10 ms": [(10_000 * step, (1 + step % 40) * MBPS) for step in range(200)],
    "outage": [(0, 20 * MBPS), (500_000, 0), (1_200_000, 20 * MBPS)],
    "rates that divide nothing": [(7_000 * step, 17_777_777 + 333 * step) for step in range(280)],
}
END_US = 5_000_000


def departures_s(arrivals_s: np.ndarray, frame_bytes: np.ndarray, steps: Sequence[tuple[int, int]]) -> np.ndarray:
    """Model the link: a packet departs when the capacity since the link became free has grown by its size."""
    times = np.array([t_us for t_us, _ in steps] + [10 * END_US]) / 1e6
    rates = np.array([rate for _, rate in steps], dtype=float)
    carried = np.concatenate([[0.0], np.cumsum(rates * np.diff(times))])
    free_s, left = 0.0, []
    for arrival_s, bits in zip(arrivals_s, frame_bytes * 8.0, strict=True):
        due = np.interp(max(free_s, arrival_s), times, carried) + bits
        step = np.searchsorted(carried, due, side="left") - 1  # of a stall, its beginning
        free_s = times[step] + (due - carried[step]) / rates[step]
        left.append(free_s)
    return np.array(left)


@pytest.fixture(scope="module", params=SERIES)
def replayed(request: pytest.FixtureRequest, bench: Bench) -> tuple[list[tuple[int, int]], Arrivals]:
    """More packets than the series can carry, and so never an idle link."""
    steps = SERIES[request.param]
    packets = at_pace(25, 0, 1.9, SMALL_BYTES)
    return steps, cross(bench, request.param.replace(" ", "-"), LINK, packets, 2.2, series=[*steps, (END_US, "end")])


def test_every_packet_departs_at_the_instant_of_the_model(replayed: tuple[list[tuple[int, int]], Arrivals]) -> None:
    steps, link = replayed
    sent = link.packets.filter(link.packets["sent_s"].is_not_null())
    modelled = departures_s(sent["sent_s"].to_numpy(), sent["frame_bytes"].to_numpy(), steps)
    error_s = np.abs(sent["received_s"].to_numpy() - modelled)
    assert len(sent) > 2000
    assert np.quantile(error_s, 0.99) < DELAY_TOLERANCE_S
    assert error_s.max() < DELAY_TOLERANCE_S


def test_each_window_has_its_bytes_and_nothing_is_reordered(replayed: tuple[list[tuple[int, int]], Arrivals]) -> None:
    steps, link = replayed
    times = np.array([t_us for t_us, _ in steps] + [10 * END_US]) / 1e6
    carried = np.concatenate([[0.0], np.cumsum([rate / 8 for _, rate in steps] * np.diff(times))])
    edges = np.arange(0.1, 1.8, WINDOW_S)
    requested = np.diff(np.interp(edges, times, carried))
    got = np.histogram(link.received["received_s"], edges)[0] * SMALL_BYTES
    assert (np.abs(got - requested) <= np.maximum(WINDOW_TOLERANCE * requested, SMALL_BYTES)).all()
    assert replayed[1].order.is_sorted()


def test_a_stall_is_real_and_ends_promptly(bench: Bench) -> None:
    packets = np.array([[100_000_000, 1514], [500_000_000, 1514]], dtype=np.uint64)  # before the stall, and within
    steps = [(0, 10 * MBPS), (200_000, 0), (900_000, 10 * MBPS), (END_US, "end")]
    link = cross(bench, "one-in-a-stall", LINK, packets, 1.5, series=steps)
    before_s, within_s = link.packets["received_s"].to_list()
    assert before_s == pytest.approx(0.1 + 1514 * 8 / 10e6, abs=100e-6)
    assert within_s == pytest.approx(0.9 + 1514 * 8 / 10e6, abs=5e-6)


def test_an_idle_link_saves_nothing(bench: Bench) -> None:
    packets = np.array([[1_000_000_000, 1514]] * 10, dtype=np.uint64)
    link = cross(bench, "idle", LINK, packets, 1.5, series=[(0, 10 * MBPS), (END_US, "end")])
    gaps_s = np.diff(link.packets["received_s"].to_numpy())
    assert gaps_s == pytest.approx(1514 * 8 / 10e6, abs=2e-6)
    assert link.packets["received_s"][0] == pytest.approx(1.0 + 1514 * 8 / 10e6, abs=100e-6)


OPPORTUNITY_BYTES, IP_BYTES = 1500, -14
OPPORTUNITIES: Spec = LINK | {"mode": "opportunities", "overhead_bytes": IP_BYTES, "start_bps": 10 * MBPS}


def test_packets_pass_at_the_opportunities_and_as_many_as_they_hold(bench: Bench) -> None:
    at_ms = {7: 1, 8: 3, 20: 1, 21: 1, 500: 40, 501: 2, 900: 5}
    steps = [(0, 0), *((ms * 1000, OPPORTUNITY_BYTES * count) for ms, count in at_ms.items()), (END_US, "end")]
    link = cross(bench, "opportunities", OPPORTUNITIES, at_pace(50, 0, 0.1), 1.5, series=steps)
    got_s = link.received["received_s"].to_numpy()
    passed_ms, counts = np.unique(np.round(got_s * 1e3).astype(int), return_counts=True)
    assert dict(zip(passed_ms.tolist(), counts.tolist(), strict=True)) == at_ms
    assert np.abs(got_s - np.round(got_s * 1e3) / 1e3).max() < 5e-6
    assert link.statistics["capacity_bytes"] == OPPORTUNITY_BYTES * sum(at_ms.values())


def test_a_packet_waits_for_as_many_opportunities_as_it_needs(bench: Bench) -> None:
    steps = [(0, 0), *((ms * 1000, 700) for ms in (10, 20, 30, 40, 50, 60)), (END_US, "end")]
    packets = np.array([[1_000_000, 1514]] * 2, dtype=np.uint64)
    link = cross(bench, "in-pieces", OPPORTUNITIES, packets, 0.5, series=steps)
    # 1500 bytes are two opportunities and 100 bytes of the third; the second packet ends in the fifth
    assert link.packets["received_s"].to_list() == [pytest.approx(0.03, abs=5e-6), pytest.approx(0.05, abs=5e-6)]


def test_an_opportunity_with_an_empty_queue_is_lost(bench: Bench) -> None:
    steps = [(0, 0), (10_000, 15_000), (40_000, 1500), (90_000, 1500), (END_US, "end")]
    packets = np.array([[20_000_000, 1514]] * 2, dtype=np.uint64)
    link = cross(bench, "lost", OPPORTUNITIES, packets, 0.5, series=steps)
    assert link.packets["received_s"].to_list() == [pytest.approx(0.04, abs=5e-6), pytest.approx(0.09, abs=5e-6)]


def test_a_series_longer_than_the_kernel_holds_is_fed_while_it_plays(bench: Bench) -> None:
    steps = [(1000 * step, 10 * MBPS + step) for step in range(30_000)]  # 1 ms: a chunk is 2 s
    packets = at_pace(0.1, 0, 29)
    link = cross(bench, "long", LINK, packets, 29.9, series=[*steps, (30_000_000, "end")])
    assert link.statistics["underruns"] == 0
    assert link.statistics["consumed_steps"] == pytest.approx(29_900, abs=5)  # read a little later
    carried = sum(rate for _, rate in steps[:29_900]) / 8 / 1e3
    assert link.statistics["capacity_bytes"] == pytest.approx(carried, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "steps", "words"),
    [
        ("early-end", [(0, MBPS), (500_000, "end")], r"steps.tsv: must last as long as the trial: 0\.[5-9]"),
        ("disorder", [(0, MBPS), (20, MBPS), (10, MBPS), (END_US, "end")], r"steps: must begin at 0 and follow each"),
        ("no-zero", [(1, MBPS), (END_US, "end")], r"steps: must begin at 0 and follow each other in time"),
        ("too-fast", [(0, 10_001 * MBPS), (END_US, "end")], r"steps: must be at most 10 Gbit/s"),
        ("end-first", [(0, MBPS), (10, MBPS), (10, "end")], r"end_ns: must be set once, and lie behind the last"),
    ],
)
def test_a_series_that_cannot_be_replayed_is_refused(
    bench: Bench, name: str, steps: list[tuple[int, object]], words: str
) -> None:
    with pytest.raises(TrialError, match=words) as refused:
        cross(bench, name, LINK, at_pace(1, 0, 0.1), 1.0, series=steps)
    assert "\n" not in str(refused.value)
