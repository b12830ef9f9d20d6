# SPDX-License-Identifier: GPL-2.0-or-later
"""The certificate passes a sound trial, and each check fails when its cause is put in."""

from functools import partial, reduce
from operator import getitem
from typing import Any

import polars as pl
import pytest

from lab.links.shapes import late_us as limit_us
from lab.tables.trial_json import Check
from tests.approved import approved
from tests.certified import ELSEWHERE, NODE, PLAN, TABLES, Change, checked, checked_with, drop_at, failed, parts


def test_a_sound_trial_passes_every_check_with_its_target_and_what_was_measured() -> None:
    assert all(check["ok"] for check in checked(PLAN, NODE, TABLES).values())
    for check in checked(PLAN, NODE, TABLES).values():
        assert set(check) == {"name", "asked", "got", "unit", "tolerance", "ok"}


def slower(_plan: Any, _node: Any, tables: dict[str, pl.DataFrame]) -> None:
    changed = pl.when(pl.col("quantity") == "down.rate_mbps").then(1.03).otherwise(1.0)
    tables["link"] = tables["link"].with_columns(pl.col("value") * changed)


def cleared(table: str) -> Change:
    return lambda _plan, _node, tables: tables.update({table: tables[table].clear()})


def of_node(*place: str | int, **values: Any) -> Change:
    """Change values of node.json, at a place in it."""
    return lambda _plan, node, _tables: reduce(getitem, place, node).update(values)


def late_probe(_plan: Any, node: dict[str, Any], _tables: Any, way: int) -> None:
    node["probes"][way]["arrived"][5][1] += 150


def early_probe(_plan: Any, node: dict[str, Any], _tables: Any) -> None:
    node["probes"][1]["grant_ms"] = 40.0  # waiting for a grant excuses a probe that is late, never one that is early
    node["probes"][1]["arrived"][0][1] -= 150


def overtaken_probe(_plan: Any, node: dict[str, Any], _tables: Any) -> None:
    arrived = node["probes"][0]["arrived"]
    arrived[3], arrived[4] = arrived[4], arrived[3]


def overtaken_segment(_plan: Any, _node: Any, tables: dict[str, pl.DataFrame]) -> None:
    last = tables["packets"].filter(pl.col("to_client") & (pl.col("len_bytes") > 0)).tail(1)
    tables["packets"] = pl.concat([tables["packets"], last.with_columns(pl.col("tsval") - 5)])


def acknowledged_by_nobody(_plan: Any, _node: Any, tables: dict[str, pl.DataFrame]) -> None:
    """A module moves what its socket holds for acknowledged."""
    last = pl.int_range(pl.len()) == pl.len() - 1
    tables["acks"] = tables["acks"].with_columns(pl.col("snd_una_bytes") + last.cast(pl.Int64))


def faster_than_the_link(_plan: Any, _node: Any, tables: dict[str, pl.DataFrame]) -> None:
    """A module takes microseconds for eighths of them (tp->srtt_us)."""
    tables["acks"] = tables["acks"].with_columns(pl.col("srtt_ms") / 8)


def a_window_of_nothing(_plan: Any, _node: Any, tables: dict[str, pl.DataFrame]) -> None:
    """A module sets its window to 0 once it is large, which no smoke test meets."""
    largest = pl.col("cwnd_pkts") == pl.col("cwnd_pkts").max()
    tables["acks"] = tables["acks"].with_columns(cwnd_pkts=pl.when(largest).then(0).otherwise("cwnd_pkts"))


def too_much_loss(_plan: Any, node: dict[str, Any], _tables: Any) -> None:
    node["counters"]["interfaces"]["satellite:eth2"]["qdisc_dropped_pkts"] += 40


def held_by_the_window(_plan: Any, _node: Any, tables: dict[str, pl.DataFrame]) -> None:
    tables["acks"] = tables["acks"].with_columns(snd_wnd_bytes=pl.col("snd_nxt_bytes") - pl.col("snd_una_bytes") + 1000)


def shut_window(_plan: Any, _node: Any, tables: dict[str, pl.DataFrame], for_s: float = 2.0) -> None:
    """One of 2000 ACKs shuts the window, of a sender with a round trip of 0.3 s: for half of the time."""
    acks = pl.concat([tables["acks"]] * (1 + 2000 // tables["acks"].height)).head(2000)
    t_s = pl.int_range(pl.len()) / 1000 + pl.when(pl.int_range(pl.len()) >= 1000).then(for_s).otherwise(0.0)
    shut = pl.when(pl.int_range(pl.len()) == 1000).then(0).otherwise(pl.lit(2**30))
    tables["acks"] = acks.with_columns(
        t_s=t_s, flow=pl.lit(1, pl.UInt8), snd_wnd_bytes=shut.cast(pl.UInt32), srtt_ms=pl.lit(300.0)
    )


FOLLOWED = {"sent_pkts": 1000, "late_pkts": 10, "latest_ns": 90_000, "overflow_pkts": 0, "loss_sum": 0, "lost_pkts": 0}


def followed(plan: Any, node: dict[str, Any], _tables: Any, **counted: int) -> None:
    """A delay line that followed a series, and what it counted."""
    plan["clock"] = "real" if "late_pkts" in counted else "virtual"
    node["changes"] = [{"part": "delay-up", "played": FOLLOWED | counted}]


def short_download(_plan: Any, node: dict[str, Any], _tables: Any) -> None:
    node["downloads"][0]["until_ns"] -= 800_000_000
    node["downloads"][0]["iperf3"]["end"]["sum_received"]["seconds"] -= 0.8


def drop_of_a_line_without_loss(plan: Any, node: dict[str, Any], _tables: Any) -> None:
    (line,) = (shape for shape in plan["shapes"] if shape["part"] == "delay-up")
    line["spec"]["kind"] = "delay_line"
    node["changes"] = [{"part": "delay-up", "played": FOLLOWED}]
    node["counters"]["interfaces"][f"{line['node']}:{line['dev']}"]["qdisc_dropped_pkts"] += 1


def in_real_time(plan: Any, node: dict[str, Any], _tables: Any, **changed: Any) -> None:
    """Two machines whose load, wake-ups and wire are at the limits, but for what is changed."""
    late_us = limit_us(PLAN["link"]["base_rtt_ms"])
    load = {"busy_pct": 95.0, "steal_pct": 5.0, "p99": float(late_us)} | changed

    second = {"busy_pct": load["busy_pct"], "steal_pct": load["steal_pct"]}
    idle = {"busy_pct": 0.0, "steal_pct": 0.0}
    machine = {"processors": 2, "seconds": [idle, second, idle], "late_us": {"p99": load["p99"]}}
    calm = {"processors": 2, "seconds": [idle], "late_us": {"p99": 0.0}}
    plan["clock"] = "real"
    node["machine"] = calm if "far" in changed else machine
    node["far"] = {"machine": machine, "wire_us": [1.0, float(changed.get("wire_us", late_us))]}


def tc_changed(plan: Any, node: dict[str, Any], _tables: Any, clock: str, **late_ns: int) -> None:
    """A qdisc that tc changed, and how late it did."""
    plan["clock"] = clock
    node["changes"] = [{"part": "bottleneck", "played": {"changes": 5, **late_ns}}]


def workload_of(plan: Any, _node: Any, _tables: Any, size_bytes: int) -> None:
    """A workload whose largest object is of this size."""
    exchanges = [{"objects_bytes": [100, size_bytes]}, {"objects_bytes": []}]
    plan["flows"][0]["workload"] = {"exchanges": exchanges}


def server_started(plan: Any, node: dict[str, Any], _tables: Any, **got: float) -> None:
    """A server that was to begin 3 ms late."""
    plan["server_start_s"] = 0.003
    node.update({f"server_start_{unit}": value for unit, value in got.items()})


CAUSES: list[tuple[Change, str]] = [
    (slower, "rate while the bottleneck had a queue"),
    (cleared("qdisc"), "rate while the bottleneck had a queue"),
    (partial(late_probe, way=0), "one-way delay down, worst probe"),
    (partial(late_probe, way=1), "one-way delay up, worst probe"),
    (early_probe, "one-way delay up, worst probe"),
    (of_node("probes", 0, arrived=[]), "one-way delay down, worst probe"),
    (overtaken_probe, "packets out of order"),
    (overtaken_segment, "packets out of order"),
    (lambda plan, *_: plan.update(mss_bytes=1308), "largest data segment"),
    (acknowledged_by_nobody, "acknowledged without an ACK of the client"),
    (faster_than_the_link, "smallest smoothed round trip, at least"),
    (of_node("capture", dropped_pkts=1), "packets the capture dropped"),
    (partial(drop_at, end="server:eth1", counter="qdisc_dropped_pkts"), ELSEWHERE),
    (partial(drop_at, end="client:eth1", counter="rx_dropped_pkts"), ELSEWHERE),
    (partial(drop_at, end="gateway:eth2", counter="rx_dropped_pkts"), ELSEWHERE),
    (of_node("counters", "tcp", "client", TcpExtTCPRcvQDrop=1), ELSEWHERE),
    (too_much_loss, "random loss, delay-down"),
    (shut_window, "time for which the receive window was the limit"),
    (partial(followed, latest_ns=110_000), "latest departure, delay-up"),
    (partial(followed, late_pkts=11), "departures too late, delay-up"),
    (partial(followed, overflow_pkts=1), ELSEWHERE),
    (drop_of_a_line_without_loss, ELSEWHERE),
    (partial(followed, loss_sum=100 * 2**32, lost_pkts=141), "random loss, delay-up"),
    (short_download, "download lasted"),
    (partial(tc_changed, clock="virtual", late_max_ns=110_000), "late changes by tc, bottleneck, latest"),
    (partial(tc_changed, clock="real", late_p99_ns=9_000_000_000), "late changes by tc, bottleneck, 99th percentile"),
    (partial(in_real_time, far=1, busy_pct=95.5), "processors of the client's machine taken in the busiest second"),
    (
        partial(in_real_time, far=1, steal_pct=5.5),
        "processors of the client's machine taken by other machines, worst second",
    ),
    (partial(in_real_time, far=1, p99=1e6), "late wake-ups of the client's machine, 99th percentile"),
    (partial(in_real_time, wire_us=1e6), "round trip between the machines, worst"),
    (partial(server_started, s=0.0032), "start of the server"),
    (server_started, "start of the server"),
    (a_window_of_nothing, "ACKs at which the congestion window was 0"),
]


@pytest.mark.parametrize(("put_in", "name"), CAUSES, ids=lambda value: getattr(value, "__name__", None))
def test_a_check_fails_when_its_cause_is_put_in(put_in: Change, name: str) -> None:
    assert failed(checked_with(put_in)) == [name]


def test_a_sender_that_the_window_holds_fails_but_for_one_round_trip_and_one_without_an_ack_fails_by_both() -> None:
    by_acks, by_time = (f"{name} the receive window was the limit" for name in ("ACKs at which", "time for which"))
    assert failed(checked_with(held_by_the_window)) == [by_acks]
    assert failed(checked_with(cleared("acks"))) == [by_acks, by_time]
    assert not failed(checked_with(partial(shut_window, for_s=0.3)))  # it grows slower than a sender that jumps


def shown(check: Check) -> str:
    target, got, tolerance = (
        value and float(f"{value:.6g}") for value in (check["asked"], check["got"], check["tolerance"])
    )
    return f"{check['name']}: {target} {got} {check['unit']}, by at most {tolerance}: {check['ok']}"


def test_the_checks_of_a_trial_are_the_approved_ones_whatever_is_put_in() -> None:
    sound = [shown(check) for check in checked(PLAN, NODE, TABLES).values()]
    found = [f"as it was: {line}" for line in sound]
    for number, (put_in, _) in enumerate(CAUSES):
        found += [f"{number}: {line}" for line in map(shown, checked_with(put_in).values()) if line not in sound]
    text = "\n".join(found) + "\n"
    assert text == approved("certificates.txt", text)


@pytest.mark.parametrize(
    "put_in",
    [
        partial(followed, latest_ns=100_000),
        partial(followed, late_pkts=10),
        partial(followed, loss_sum=100 * 2**32, lost_pkts=140),
        partial(followed, loss_sum=100 * 2**32, lost_pkts=60),
        partial(tc_changed, clock="virtual", late_max_ns=100_000, late_p99_ns=10**12),
        partial(tc_changed, clock="real", late_max_ns=10**12, late_p99_ns=100_000),
        in_real_time,
        partial(workload_of, size_bytes=1_000_000),
        partial(workload_of, size_bytes=1200),
        partial(server_started, s=0.00309),
    ],
)
def test_what_lies_at_its_limit_is_no_breach(put_in: Change) -> None:
    assert failed(checked_with(put_in)) == []


def test_segments_of_small_objects_are_no_smaller_than_the_largest_and_never_too_large() -> None:
    name = "largest data segment"
    for plan_bytes, object_bytes, ok in ((1448, 1200, True), (2000, 1400, True), (2000, 1500, False), (1300, 5, False)):
        plan, node, tables = parts()
        workload_of(plan, node, tables, object_bytes)
        assert checked(plan | {"mss_bytes": plan_bytes}, node, tables)[name]["ok"] == ok


def test_a_machine_of_which_nothing_was_measured_is_no_proof() -> None:
    plan, node, tables = parts()
    in_real_time(plan, node, tables)
    node["machine"] = {**node["machine"], "seconds": []}
    unknown = ["processors taken in the busiest second", "processors taken by other machines, worst second"]
    assert sorted(failed(checked(plan, node, tables))) == sorted(unknown)


def test_a_download_of_a_size_may_end_before_its_time_and_a_late_one_lasts_by_iperf3s_own() -> None:
    for changed_s, ok in ((-0.8, True), (0.05, True), (0.3, False)):
        plan, node, tables = parts()
        plan["flows"][0]["size_bytes"] = 100_000
        download = node["downloads"][0]
        download["until_ns"] = download["data_ns"] + round((plan["flows"][0]["duration_s"] + changed_s) * 1e9)
        assert checked(plan, node, tables)["download lasted at most"]["ok"] == ok
    plan, node, tables = parts()
    node["downloads"][0]["data_ns"] += 800_000_000
    assert checked(plan, node, tables)["download lasted"]["ok"]
    node["downloads"][0]["iperf3"] = None
    assert not checked(plan, node, tables)["download lasted"]["ok"]
