# SPDX-License-Identifier: GPL-2.0-or-later
"""What a certificate counts and measures: drops, losses, sizes and the rate, each of what it names alone."""

import copy
from functools import partial

import polars as pl
import pytest
from lab_vm import real_time

from lab.node.qdiscs.qdisc_kind import FRAME_BYTES
from lab.runs.certificate import BUSY_SAMPLES, LOSS_SDS
from lab.tables.link_capacity import LinkCapacity
from tests.certified import ELSEWHERE, NODE, PLAN, TABLES, checked, checked_with, drop_at, failed, parts


@pytest.mark.parametrize("counter", ["qdisc_dropped_pkts", "tx_dropped_pkts"])
def test_drops_of_the_full_buffer_are_no_breach(counter: str) -> None:
    assert failed(checked_with(partial(drop_at, end="gateway:eth2", counter=counter))) == []


def test_a_queue_that_never_formed_proves_nothing_and_is_no_breach() -> None:
    idle = TABLES["qdisc"].with_columns(backlog_bytes=pl.lit(0, pl.Int64))
    check = checked(PLAN, NODE, TABLES | {"qdisc": idle})["rate while the bottleneck had a queue"]
    assert (check["got"], check["ok"]) == (None, True)


def test_drops_elsewhere_are_counted_together_whichever_counter_saw_them() -> None:
    changed = parts()
    for counter in ("rx_dropped_pkts", "tx_dropped_pkts", "qdisc_dropped_pkts"):
        drop_at(*changed, "server:eth1", counter)
    assert checked(*changed)[ELSEWHERE]["got"] == 3


def test_only_segments_to_the_client_of_the_first_download_are_compared_with_the_mtu() -> None:
    packets = TABLES["packets"]
    larger = packets.head(1).with_columns(len_bytes=pl.lit(9000).cast(packets.schema["len_bytes"]))
    for flow, to_client in ((1, False), (2, True)):
        other = larger.with_columns(to_client=to_client, flow=pl.lit(flow).cast(packets.schema["flow"]))
        assert checked(PLAN, NODE, {**TABLES, "packets": pl.concat([packets, other])})["largest data segment"]["ok"]


def test_a_constant_rate_in_real_time_has_no_queue_of_its_own_and_is_checked_like_any_other() -> None:
    """In real time `replay` with a FIFO takes the place of tbf: its child is null."""
    plan = copy.deepcopy(PLAN)
    shape = next(shape for shape in plan["shapes"] if shape["part"] == "bottleneck")
    rate = {"kind": "tbf", "rate_bps": 144_000_000, "burst_bytes": 1600, "limit_bytes": 1_000_000}
    plan["shapes"] = [{**shape, "spec": rate}]
    real = real_time.in_real_time(plan, "netns")
    assert real["shapes"][0]["spec"]["child"] is None
    assert checked(real, NODE, TABLES)["packets out of order"]["ok"]


def test_the_rate_of_a_certificate_is_that_of_the_link_in_megabits() -> None:
    check = checked(*parts())["rate while the bottleneck had a queue"]
    assert check["asked"] == pytest.approx(PLAN["link"]["rate_mbps"], rel=0.5)
    assert check["got"] == pytest.approx(check["asked"], rel=0.05)


@pytest.mark.parametrize(("samples", "is_known"), [(BUSY_SAMPLES, True), (BUSY_SAMPLES - 1, False)])
def test_the_rate_of_a_certificate_is_taken_over_spells_of_enough_samples(samples: int, is_known: bool) -> None:
    plan, node, tables = parts()
    tables["qdisc"] = tables["qdisc"].with_columns(
        backlog_bytes=pl.when(pl.int_range(pl.len()).is_between(40, 39 + samples)).then(10**9).otherwise(0)
    )
    check = checked(plan, node, tables)["rate while the bottleneck had a queue"]
    assert (check["got"] is not None) is is_known


@pytest.mark.parametrize(("above_bytes", "is_known"), [(1, False), (FRAME_BYTES + 1, True)])
def test_a_frame_that_is_all_but_sent_keeps_no_link_busy(above_bytes: int, is_known: bool) -> None:
    plan, node, tables = parts()
    most_bytes = LinkCapacity(tables["link"]).most_bytes_in(plan["sampler"]["interval_us"] / 1e6)
    tables["qdisc"] = tables["qdisc"].with_columns(backlog_bytes=pl.lit(int(most_bytes) + above_bytes))
    check = checked(plan, node, tables)["rate while the bottleneck had a queue"]
    assert (check["got"] is not None) is is_known


@pytest.mark.parametrize(("acks", "is_ok"), [(1, True), (0, False)])
def test_a_download_through_before_a_second_ack_was_not_held_by_the_receive_window(acks: int, is_ok: bool) -> None:
    plan, node, tables = parts()
    tables["acks"] = tables["acks"].head(acks)
    found = [check["ok"] for name, check in checked(plan, node, tables).items() if "receive window" in name]
    assert found == [is_ok] * 2


def test_drops_of_a_queue_and_of_tcp_add_up() -> None:
    plan, node, tables = parts()
    end = next(name for name in node["counters"]["interfaces"] if name.startswith("client"))
    node["counters"]["interfaces"][end]["rx_dropped_pkts"] += 3
    kind = next(iter(node["counters"]["tcp"]))
    node["counters"]["tcp"][kind] = {"TCPRcvQDrop": 3}
    check = checked(plan, node, tables)["drops anywhere but at the bottleneck"]
    assert (check["got"], check["ok"]) == (6, False)


def test_the_share_of_a_random_loss_is_of_the_packets_that_were_offered() -> None:
    plan, node, tables = parts()
    shape = plan["shapes"][0]
    shape["spec"] = {"kind": "netem", "loss_pct": 25.0}
    shape["steps"] = None
    end = f"{shape['node']}:{shape['dev']}"
    node["counters"]["interfaces"][end] |= {"tx_pkts": 750, "qdisc_dropped_pkts": 250}
    check = checked(plan, node, tables)[f"random loss, {shape['part']}"]
    assert (check["asked"], check["got"], check["ok"]) == (25.0, 25.0, True)
    sd_pct = 100 * (0.25 * 0.75 / 1000) ** 0.5  # of a share of a thousand
    assert check["tolerance"] == pytest.approx(LOSS_SDS * sd_pct)


@pytest.mark.parametrize(
    ("every", "hold", "late", "is_ok"),
    [
        (7, 1, (4, 11), True),  # with two packets before them, the 7th and the 14th
        (7, 1, (4, 10), False),  # as many, and not those that it holds
        (4, 1, (2, 6, 10), True),
        (4, 4, (2, 6, 10), False),  # the second of them comes while the first is held
        (4, 4, (2, 10), True),
        (8, 1, (4, 11), False),
        (100, 1, (4, 11), False),
        (0, 1, (4, 11), False),
    ],
)
def test_a_probe_held_by_its_number_is_not_late(every: int, hold: int, late: tuple[int, ...], is_ok: bool) -> None:
    plan, node, tables = parts()
    shape = next(shape for shape in plan["shapes"] if shape["part"] == "bottleneck")
    shape["spec"]["child"] = {"kind": "disturb", "hold_every_pkts": every, "hold_pkts": hold}
    for number in late:
        node["probes"][0]["arrived"][number][1] += 20_000
    assert checked(plan, node, tables)["one-way delay down, worst probe"]["ok"] is is_ok


@pytest.mark.parametrize(("order", "is_ok"), [((0, 520), True), ((520, 0), False), ((520, 520), False)])
def test_of_a_probe_that_a_queue_copied_the_first_is_on_time(order: tuple[int, int], is_ok: bool) -> None:
    plan, node, tables = parts()
    number, on_time_us = node["probes"][0]["arrived"][3]
    node["probes"][0]["arrived"][3:4] = [[number, on_time_us + late_us] for late_us in order]
    assert checked(plan, node, tables)["one-way delay down, worst probe"]["ok"] is is_ok


@pytest.mark.parametrize("clock", ["virtual", "real"])
@pytest.mark.parametrize(
    ("delay_ms", "got_us", "is_ok"),
    [(0.1, 0, False), (0.1, 100, True), (0.1, 112, True), (0.002, 0, True), (0.0, 2, True), (1.0, 899, False)],
)
def test_a_link_without_its_delay_is_invalid_however_short_the_delay_is(
    clock: str, delay_ms: float, got_us: int, is_ok: bool
) -> None:
    plan, node, tables = parts()
    plan["clock"], probe = clock, node["probes"][0]
    probe |= {"delay_ms": delay_ms, "arrived": [[number, got_us] for number in range(12)]}
    assert checked(plan, node, tables)["one-way delay down, worst probe"]["ok"] is is_ok


def test_in_virtual_time_a_short_delay_is_no_longer_than_its_tenth_more() -> None:
    plan, node, tables = parts()
    node["probes"][0] |= {"delay_ms": 0.1, "arrived": [[number, 150] for number in range(12)]}
    assert not checked(plan, node, tables)["one-way delay down, worst probe"]["ok"]


@pytest.mark.parametrize(
    ("expected_pkts", "lost_pkts", "is_ok"),
    [
        (0.001, 1, True),  # where it comes once in a thousand trials, the trials in which it comes are not left out
        (0.001, 3, False),
        (0.05, 3, True),
        (0.05, 4, False),
        (1, 7, True),
        (1, 8, False),
        (15, 0, True),
        (17, 0, False),
        (100, 139, True),
        (100, 141, False),
    ],
)
def test_a_rare_random_loss_is_no_breach(expected_pkts: float, lost_pkts: int, is_ok: bool) -> None:
    """Of the trials of a link one in 16,000 may be invalid by chance, however rare its loss is."""
    plan, node, tables = parts()
    counted = {"loss_sum": round(expected_pkts * 2**32), "lost_pkts": lost_pkts, "late_pkts": 0, "sent_pkts": 1000}
    node["changes"] = [{"part": "delay-up", "played": {**counted, "latest_ns": 0, "overflow_pkts": 0}}]
    assert checked(plan, node, tables)["random loss, delay-up"]["ok"] is is_ok
    shape = plan["shapes"][0]
    shape |= {"spec": {"kind": "netem", "loss_pct": expected_pkts / 1e4}, "steps": None}
    end = f"{shape['node']}:{shape['dev']}"
    node["counters"]["interfaces"][end] |= {"tx_pkts": 10**6 - lost_pkts, "qdisc_dropped_pkts": lost_pkts}
    assert checked(plan, node, tables)[f"random loss, {shape['part']}"]["ok"] is is_ok
