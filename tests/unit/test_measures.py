# SPDX-License-Identifier: GPL-2.0-or-later
"""What senders are compared by: which value is better, which is a share, and where each measure is taken."""

import pytest

from lab.base.errors import UserError
from lab.evaluation.compare.measures import BY_NAME, MEASURES, PRIMARY, RULE, measure_of, primary_of
from lab.runs.link_kinds import Link


def test_more_is_better_of_shares_and_throughput_only_and_an_object_is_named_after_its_size() -> None:
    assert {each.name for each in MEASURES if each.more_is_better} == {"chokepoint", "rule", "throughput"}
    assert {each.name for each in MEASURES if each.binary} == {"chokepoint", "rule"}
    assert {each.name for each in MEASURES if each.shared} == {"harm"}
    sizes = {each.size_bytes: each.short for each in MEASURES if each.size_bytes is not None}
    assert sizes == {100_000: "100 kB (s)", 1_000_000: "1 MB (s)", 5_000_000: "5 MB (s)", 20_000_000: "20 MB (s)"}
    assert all(f"object_{size_bytes}" in BY_NAME for size_bytes in sizes)


def test_sources_publish_the_column_of_the_summary_that_has_the_mean() -> None:
    columns = {each.name: each.column for each in MEASURES if each.column}
    assert columns == {
        "chokepoint": "chokepoint_pct",
        "rule": "chokepoint_pct",
        "throughput": "throughput_mbps",
        "retransmits": "retransmits_pkts",
    }


def test_harm_decides_where_a_rival_takes_part_and_an_unknown_measure_is_refused() -> None:
    alone, shared = Link("geo", "geo-viasat", 4), Link("shared", "geo-viasat", 4, rival="cubic")
    assert primary_of(alone, "queueing") == BY_NAME["queueing"]
    assert primary_of(shared, "queueing") == BY_NAME["harm"]
    assert (PRIMARY, RULE) == ("chokepoint", "rule")
    with pytest.raises(UserError, match=r"^command line: measure=speed: must be one of chokepoint, rule, "):
        measure_of("speed")
