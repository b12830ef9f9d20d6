# SPDX-License-Identifier: GPL-2.0-or-later
"""The scenarios are the sources' experiments: trial counts, orders, pauses, and every value that was published."""

from typing import Any, cast

import pytest

from lab.schema.scenario import Claims, Scenario, load_scenario, scenarios
from lab.tables.records import ScenarioRecord

# thesis 5.3.2 and 5.3.3, WiFi paper III.D, poster
REQUIRED: dict[str, dict[str, Any]] = {
    "thesis-geo": {"trials": 77, "ccas": ["search2", "cubic", "cubic_plain"]},
    "thesis-leo": {"trials": 77, "ccas": ["search", "search2", "cubic", "cubic_plain"]},
    "thesis-lte": {"trials": 55, "ccas": ["search", "search2", "cubic", "cubic_plain"]},
    "thesis-wifi-strong": {"trials": 200, "ccas": ["cubic", "cubic_plain", "bbr", "search2", "search"], "pause_s": 7},
    "thesis-wifi-weak": {"trials": 200, "duration_s": 3, "round_pause_s": 360},
    "wifi-paper-high": {"trials": 100, "ccas": ["search2", "cubic_plain", "cubic", "search"], "pause_s": 5},
    "wifi-paper-medium": {"trials": 100, "duration_s": 3},
    "wifi-paper-low": {"trials": 100, "duration_s": 3},
    "poster-geo": {"trials": 213},
    "poster-leo": {"trials": 131},
}


@pytest.mark.parametrize("name", REQUIRED)
def test_a_scenario_has_its_sources_numbers(name: str) -> None:
    _, scenario = load_scenario(name)
    assert {field: getattr(scenario, field) for field in REQUIRED[name]} == REQUIRED[name]


SENDERS = ("SEARCH", "HyStart on", "HyStart off")
ROWS: dict[str, set[str]] = {
    "thesis, table 5.1": {
        f"{link}, {what}" for link in ("GEO", "LEO", "4G LTE") for what in ("capacity and loss", "exit and timely")
    },
    "thesis, table 5.2": {"Strong", "Weak"},
    "thesis, table 5.3": {
        f"{link}, {sender}"
        for link in ("GEO", "LEO", "4G LTE", "WiFi Strong RSSI", "WiFi Weak RSSI")
        for sender in SENDERS
    },
    "WiFi paper, table I": {f"{signal}, {sender}" for signal in ("High", "Medium", "Low") for sender in SENDERS},
    "WiFi paper, table II": {f"{rssi}, {sender}" for rssi in ("High", "Medium", "Low", "Total") for sender in SENDERS},
    "poster, table": {f"{link}{of}" for link in ("GEO", "LEO") for of in ("", ", our search1 (35 %, 3.5 RTTs)")},
}


def claims_of(source: str) -> list[Claims]:
    every = [claims for name in scenarios() for claims in load_scenario(name)[1].claims]
    return [claims for claims in every if claims.source == source]


@pytest.mark.parametrize("source", ROWS)
def test_every_row_of_a_published_table_is_claimed(source: str) -> None:
    assert {claims.row for claims in claims_of(source)} == ROWS[source]


@pytest.mark.parametrize("source", ["thesis, table 5.3", "WiFi paper, table II"])
def test_the_three_shares_of_a_published_row_make_a_whole(source: str) -> None:
    for claims in claims_of(source):
        values = cast("dict[str, float]", claims.values)
        shares = [values[share] for share in ("early_pct", "chokepoint_pct", "late_pct")]
        assert sum(shares) == pytest.approx(100, abs=0.2), claims.row


@pytest.mark.parametrize(
    ("source", "metric"),
    [
        ("thesis, table 5.2", "timely_pct"),
        ("WiFi paper, table I", "exit_bitrate_mbps"),
        ("poster, table", "headroom_s"),
    ],
)
def test_the_value_that_a_table_is_about_stands_in_each_of_its_rows(source: str, metric: str) -> None:
    with_it = {claims.row for claims in claims_of(source) if metric in claims.values}
    assert with_it == ROWS[source]


def test_every_claim_has_a_sentence() -> None:
    from lab_papers.evaluation.claims.rows import rows

    for name in scenarios():
        _, scenario = load_scenario(name)
        found = list(rows(name, cast("ScenarioRecord", scenario.model_dump()), None, {}))
        assert len({row["id"] for row in found}) == len(found)
        assert all(str(row["claim"]).endswith(f"({scenario.profile}).") and row["why"] for row in found)


FORMS = {
    "NetDev 0x18, GEO case study": "search2",
    "poster, table": "search1 search1_poster_geo search1_poster_leo",  # ours beside the poster's constants
    "thesis, table 5.1": "search2",
    "thesis, table 5.2": "search2",
    "thesis, table 5.3": "search2",
    "WiFi paper, table I": "search2",
    "WiFi paper, table II": "search2",
}


@pytest.mark.parametrize("source", FORMS)
def test_a_source_that_replayed_search_is_compared_with_a_replay_and_one_that_ran_it_with_a_sender(source: str) -> None:
    of_search = [claims for claims in claims_of(source) if claims.replayed or claims.cca.startswith("search")]
    assert {claims.replayed or claims.cca for claims in of_search} == set(FORMS[source].split())
    replays = source in ("thesis, table 5.1", "poster, table")
    assert all(bool(claims.replayed) == replays for claims in of_search)


def test_claims_of_a_sender_that_does_not_run_are_refused() -> None:
    _, scenario = load_scenario("thesis-leo")
    with pytest.raises(ValueError, match="claims of its own senders"):
        Scenario.model_validate(scenario.model_dump() | {"ccas": ["bbr"]})
