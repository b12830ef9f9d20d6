# SPDX-License-Identifier: GPL-2.0-or-later
"""A download is measured by the trial's own tables, and how downloads share their link."""

import copy
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.base.stats import largest
from lab.evaluation.shares import jain, shares_of
from lab.judge.stored import Stored
from lab.report.shares import of_run
from lab.tables import downloads
from lab.tables.pieces import collected
from lab.tables.records import beside
from lab.tables.stored_run import Run
from tests.brief import present
from tests.certified import TABLES
from tests.slow_start_model import PACKETS, packet
from tests.stored_run import change, rewrite, store_run, with_extent

DRAFT = Path(__file__).parents[1] / "data" / "draft"
PLAN = json.loads((DRAFT / "plan.json").read_text())
NODE = json.loads((DRAFT / "node.json").read_text())
BLOCK_BYTES = 131072
SEGMENTS = st.lists(st.tuples(st.integers(0, 300), st.integers(1, 80)), min_size=1, max_size=40)


def counted(segments: list[tuple[int, int]]) -> int:
    first, length = np.array(segments, dtype=np.int64).T
    return downloads.unique_bytes([(first, length)])


def whole_bytes(segments: list[tuple[int, int]]) -> set[int]:
    return {byte for first, length in segments for byte in range(first, first + length)}


@given(SEGMENTS)
def test_each_byte_counts_once_whatever_order_and_overlap_it_came_in(segments: list[tuple[int, int]]) -> None:
    assert counted(segments) == len(whole_bytes(segments))


@given(st.lists(st.integers(1, 80), min_size=1, max_size=40), st.integers(1, 2000))
def test_a_size_is_there_with_the_first_ack_that_covers_it(lengths: list[int], size_bytes: int) -> None:
    """One ACK 10 ms after each segment; sequence numbers begin at 1."""
    rows, first = [], 1
    for number, length in enumerate(lengths):
        rows.append(packet(0.1 * number, True, seq_bytes=first, len_bytes=length, ack_bytes=5000))
        first += length
        rows.append(packet(0.1 * number + 0.01, False, ack_bytes=first, len_bytes=0))
    requested = PLAN["flows"][0] | {"duration_s": 100, "size_bytes": size_bytes}
    (found,) = downloads.measure(PLAN | {"flows": [requested]}, NODE, TABLES | {"packets": pl.DataFrame(rows, PACKETS)})
    if sum(lengths) < size_bytes:
        assert (found["seconds"], found["bytes"]) == pytest.approx((100, sum(lengths)))
    else:
        count = round((found["seconds"] - 0.01) / 0.1) + 1
        assert sum(lengths[: count - 1]) < size_bytes <= sum(lengths[:count]) == found["bytes"]


def test_a_rival_that_got_nothing_has_no_byte_from_its_begin_to_the_end_of_the_download_under_test() -> None:
    first = NODE["downloads"][0]
    begin_ns = first["data_ns"] + 500_000_000
    starved = first | {"data_ns": begin_ns, "until_ns": begin_ns + 10**10, "iperf3": None, "iperf3_error": "none"}
    plan = PLAN | {"flows": [PLAN["flows"][0], PLAN["flows"][0] | {"sender": "other", "duration_s": 3.5}]}
    own, rival = measured = downloads.measure(plan, NODE | {"downloads": [first, starved]}, TABLES)
    assert (rival["bytes"], rival["throughput_mbps"]) == (0, 0.0)
    assert (rival["data_s"] - own["data_s"], rival["end_s"]) == pytest.approx((0.5, own["end_s"]))
    assert downloads.failure(plan, NODE | {"downloads": [first, starved]}, measured) is None


def test_a_rival_whose_data_came_behind_the_end_makes_no_table_longer() -> None:
    (own,) = downloads.measure(PLAN, NODE, TABLES)
    late: Any = own | {"flow": 2, "data_s": own["end_s"] + 1, "end_s": own["end_s"] + 1, "seconds": 0.0}
    cut, longer = (collected(downloads.cut(TABLES, each)["qdisc"]).height for each in ([own], [own, late]))
    assert cut == longer < TABLES["qdisc"].height


def test_it_lasts_from_the_first_data_segment_for_its_time_and_agrees_with_iperf3() -> None:
    (found,) = downloads.measure(PLAN, NODE, TABLES)
    data = TABLES["packets"].filter("to_client", pl.col("len_bytes") > 0, pl.col("flow") == 1)
    assert found["data_s"] == data["t_s"][0]
    assert found["seconds"] == pytest.approx(PLAN["flows"][0]["duration_s"])
    assert found["iperf3"]["bytes"] <= found["bytes"] <= found["iperf3"]["bytes"] + BLOCK_BYTES
    assert found["throughput_mbps"] == pytest.approx(found["bytes"] * 8 / 1e6 / found["seconds"])
    assert found["retransmits_pkts"] == found["iperf3"]["retransmits_pkts"]


def test_a_download_ends_with_iperf3_where_the_first_data_came_late() -> None:
    early: Any = copy.deepcopy(NODE)
    early["downloads"][0]["until_ns"] = early["downloads"][0]["data_ns"] + 1_200_000_000
    (found,) = downloads.measure(PLAN, early, TABLES)
    assert found["seconds"] == pytest.approx(1.2)
    (whole,) = downloads.measure(PLAN, NODE, TABLES)
    assert found["bytes"] < whole["bytes"]
    assert counted([(1, 1448), (1449, 1448), (1000, 1000), (2000, 2000)]) == 3999


def test_a_segment_at_the_very_end_counts_whatever_the_sum_of_times_is_as_a_float() -> None:
    begin_s, end_s = 0.082301403, 2.082301403
    assert begin_s + PLAN["flows"][0]["duration_s"] < end_s
    rows = [packet(begin_s, True, seq_bytes=1, len_bytes=1000), packet(end_s, True, seq_bytes=1001, len_bytes=1000)]
    (found,) = measured = downloads.measure(PLAN, NODE, TABLES | {"packets": pl.DataFrame(rows, PACKETS)})
    assert (found["end_s"], found["bytes"]) == (end_s, 2000)
    assert collected(downloads.cut({**TABLES, "packets": pl.DataFrame(rows, PACKETS)}, measured)["packets"]).height == 2


def test_no_table_goes_on_after_the_end_and_nothing_before_it_is_missing() -> None:
    measured = downloads.measure(PLAN, NODE, TABLES)
    ended = {name: collected(table) for name, table in downloads.cut(TABLES, measured).items()}
    end_s = measured[0]["end_s"]
    assert (largest(TABLES["packets"]["t_s"]) or 0) > end_s
    for name in (*downloads.BY_FLOW, "qdisc"):
        assert collected(ended[name]).equals(TABLES[name].filter(pl.col("t_s") <= end_s)), name
    assert collected(ended["link"]).equals(TABLES["link"])


def test_what_iperf3_did_after_the_end_changes_nothing_but_its_own_figures() -> None:
    stopped: Any = copy.deepcopy(NODE)
    stopped["downloads"][0] |= {"iperf3": None, "iperf3_error": "stopped 2 s after the download's end"}
    (found,), (whole,) = (downloads.measure(PLAN, node, TABLES) for node in (stopped, NODE))
    assert found["iperf3"] == {"error": "stopped 2 s after the download's end"}
    assert whole["iperf3"]["retransmits_pkts"] == 37
    assert found == whole | {"iperf3": found["iperf3"]}


def test_what_was_sent_again_behind_the_end_of_a_size_counts_no_more_than_its_bytes() -> None:
    """iperf3's client takes in more than the size, and lasts until it has closed its connections."""
    size_bytes = 150_000
    plan = PLAN | {"flows": [PLAN["flows"][0] | {"size_bytes": size_bytes}]}
    (found,) = downloads.measure(plan, NODE, TABLES)
    again_s = TABLES["retransmits"].filter(flow=1)["t_s"]
    assert found["end_s"] < again_s[-1]
    assert found["retransmits_pkts"] == (again_s <= found["end_s"]).sum()


@pytest.mark.parametrize("segments", [1, 2, 5])
def test_buffers_of_several_segments_behind_the_end_of_a_size_are_none_of_its_own(segments: int) -> None:
    plan = PLAN | {"flows": [PLAN["flows"][0] | {"size_bytes": 150_000}]}
    node: Any = copy.deepcopy(NODE)
    node["downloads"][0]["retransmits_pkts"] = segments * TABLES["retransmits"].filter(flow=1).height
    (found,) = downloads.measure(plan, node, TABLES)
    within = (TABLES["retransmits"].filter(flow=1)["t_s"] <= found["end_s"]).sum()
    assert found["retransmits_pkts"] == segments * within


def test_what_the_control_connection_sent_again_is_not_of_the_download() -> None:
    """It talks while the download's queue is full: iperf3's own time ends a little earlier than the download's."""
    (whole,) = measured = downloads.measure(PLAN, NODE, TABLES)
    table = TABLES["retransmits"]
    rows = {"t_s": [whole["data_s"] - 0.1, whole["end_s"] - 0.1], "flow": [0, 0], "state": ["established"] * 2}
    tables = TABLES | {"retransmits": pl.concat([table, pl.DataFrame(rows, schema=table.schema)])}
    node: Any = copy.deepcopy(NODE)
    node["downloads"][0]["retransmits_pkts"] += 1  # the node counts from the first data on
    assert downloads.measure(PLAN, node, tables) == measured
    assert collected(downloads.cut(tables, measured)["retransmits"])["flow"].unique().to_list() == [1]


def test_a_second_download_is_measured_by_what_was_acknowledged_to_its_sender() -> None:
    """It began half a second later, on the node's clock, and ends with the first; its ACKs need the way's 50 ms."""
    rival = PLAN["flows"][0] | {"client_port": 20002}
    node = copy.deepcopy(NODE)
    node["downloads"].append(node["downloads"][0] | {"data_ns": node["downloads"][0]["data_ns"] + 500_000_000})
    first_s = present(downloads.first_data_s(TABLES["packets"]))
    t_s = [first_s + after_s for after_s in (0.6, 1.0, 2.0 + 0.04, 2.0 + 0.06)]
    acks = pl.DataFrame({"t_s": t_s, "flow": 2, "snd_una_bytes": [1, 1001, 5001, 9001]})
    _, found = downloads.measure(PLAN | {"flows": [PLAN["flows"][0], rival]}, node, TABLES | {"acks": acks})
    assert found["data_s"] == pytest.approx(first_s + 0.5)
    assert (found["flow"], found["bytes"]) == (2, 5000)


@pytest.mark.parametrize("start", [{"start_s": 0.5, "duration_s": 1.5}, {}])
@pytest.mark.parametrize(("begun_s", "count"), [(0.6, 5000), (1.5, 5000), (2.5, 0)])
def test_a_rival_counts_until_the_scenarios_time_however_late_its_data_come(
    begun_s: float, count: int, start: dict[str, float]
) -> None:
    """One whose data come behind the end had nothing in its time, if a handshake of 1.8 s fits into that."""
    starved = begun_s > 2.0 and not start
    seconds = 2.0 if starved else max(2.0 - begun_s, 0.0)
    rival = PLAN["flows"][0] | {"client_port": 20002, "sender": "another"} | start
    node = copy.deepcopy(NODE)
    late_ns = node["downloads"][0]["data_ns"] + round(begun_s * 1e9)
    timed = {"data_ns": late_ns, "until_ns": late_ns + 1_500_000_000, "retransmits_pkts": 3, "iperf3_error": "ended"}
    node["downloads"].append(node["downloads"][0] | timed)
    first_s = present(downloads.first_data_s(TABLES["packets"]))
    t_s = [first_s + after_s for after_s in (begun_s, begun_s + 0.1, 1.9, 2.0 + 0.06)]
    acks = pl.DataFrame({"t_s": t_s, "flow": 2, "snd_una_bytes": [1, 1001, 5001, 9001]})
    acks = acks.filter(pl.col("t_s") >= first_s + begun_s)
    again = {"t_s": [first_s + 2.05], "flow": [2], "state": ["open"]}
    tables = TABLES | {"acks": acks, "retransmits": pl.DataFrame(again)}
    plan = PLAN | {"flows": [PLAN["flows"][0], rival]}
    _, found = measured = downloads.measure(plan, node, tables)
    assert downloads.failure(plan, node, measured) is None
    assert found["seconds"] == pytest.approx(seconds)
    assert found["bytes"] == count
    assert found["retransmits_pkts"] == (0 if starved else 2)  # of the three one came behind the end


def trial(*flows: tuple[str, float, float, float]) -> Any:
    """Return a trial whose flows have a sender, a start, an end and a steady rate in Mb/s, an ACK each 10 ms."""
    rows = [
        {"flow": number, "t_s": at_s, "snd_una_bytes": 1 + round((at_s - begin_s) * rate_mbps * 1e6 / 8)}
        for number, (_, begin_s, end_s, rate_mbps) in enumerate(flows, 1)
        for at_s in (begin_s + 0.01 * step for step in range(round((end_s - begin_s) * 100) + 1))
    ]
    meta = [
        {"flow": number, "cca": cca, "data_s": begin_s, "end_s": end_s}
        for number, (cca, begin_s, end_s, _) in enumerate(flows, 1)
    ]
    return SimpleNamespace(cca=flows[0][0], acks=pl.DataFrame(rows), meta={"flows": meta})


def test_rates_are_of_the_time_that_all_downloads_have_in_common() -> None:
    found = shares_of(trial(("search", 0, 10, 6), ("cubic", 0, 10, 3), ("cubic", 8, 10, 3)))
    assert found.senders == ["search", "cubic", "cubic"]
    assert found.rates_mbps == pytest.approx([6, 3, 3], rel=0.02)
    assert [found.of_fair_pct(place) for place in range(3)] == pytest.approx([150, 75, 75], rel=0.02)
    assert jain(found.rates_mbps) == pytest.approx(12**2 / (3 * 54), rel=0.02)
    assert shares_of(trial(("search", 0, 1, 6), ("cubic", 2, 3, 3))).rates_mbps == []
    found = shares_of(trial(("search", 0, 1, 6), ("cubic", 0, 1, 0)))
    assert (found.of_fair_pct(1), jain(found.rates_mbps)) == (0, 0.5)


def test_the_downloads_beside_that_under_test_have_a_name_in_both_forms() -> None:
    common: Any = {"question": "?", "profile": "geo", "ccas": ["cubic"]}
    entries = [{"cca": "cubic", "count": 15}, {"cca": "bbr", "count": 16}]
    names = [beside(common | fields) for fields in ({}, {"rival": "bbr"}, {"rivals": entries})]
    assert names == ["", "bbr", "15 cubic, 16 bbr"]


def test_the_page_has_a_row_for_the_download_under_test_and_one_for_each_entry_of_its_rivals(tmp_path: Path) -> None:
    """Nothing was acknowledged to the rivals of these trials: the download under test has three equal shares."""
    run = store_run(tmp_path, trials=2, senders=("cubic",))
    assert of_run(Stored.of(Run(run))) == ((), ())
    entries = [{"cca": "bbr", "count": 1}, {"cca": "bbr", "count": 1, "start_s": 2.0}]
    change(run, scenario={"rivals": entries})
    for file in run.glob("trials/*/trial.json"):
        trial_json = json.loads(file.read_text())
        own = with_extent(trial_json["flows"][0], data_s=1.0, end_s=5.0)
        rivals = [own | {"flow": number, "cca": each["cca"]} for number, each in enumerate(entries, 2)]
        rewrite(file, trial_json | {"flows": [own, *rivals]})
    (sentence,), (table,) = of_run(Stored.of(Run(run)))
    assert sentence.endswith(" gets 300 % of an equal share of 3 downloads (Jain's index 0.33).")
    (group,) = table.groups
    assert {row.cells[1] for row in group.rows} == {"1"}
    assert [row.cells[0] for row in group.rows] == ["under test", "beside it: bbr", "beside it: bbr, 2 s later"]
    assert [row.cells[3] for row in group.rows] == ["300 (0)", "0 (0)", "0 (0)"]
    late = with_extent(own, flow=3, cca="bbr", data_s=6.0, end_s=6.0, throughput_mbps=0.0)
    rewrite(file, trial_json | {"flows": [own, rivals[0], late]})
    (_, left_out), _ = of_run(Stored.of(Run(run)))
    assert left_out.endswith("in 1 of 2 trials one download had ended before another's data came: no share counts it.")
