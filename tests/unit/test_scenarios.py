# SPDX-License-Identifier: GPL-2.0-or-later
"""The scenarios are the sources' experiments: trial counts, orders, pauses, and every value that was published."""

from typing import Any, cast

import pytest

from lab.judge.records import ScenarioRecord
from lab.schema.scenario import Scenario, load_scenario, scenarios

# thesis 5.3.2 and 5.3.3, WiFi paper III.D, poster
ASKED: dict[str, dict[str, Any]] = {
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


@pytest.mark.parametrize("name", ASKED)
def test_a_scenario_has_its_sources_numbers(name: str) -> None:
    _, scenario = load_scenario(name)
    assert {field: getattr(scenario, field) for field in ASKED[name]} == ASKED[name]


def of_all(metric: str) -> list[tuple[str, str, float]]:
    found = []
    for name in scenarios():
        _, scenario = load_scenario(name)
        for claims in scenario.claims:
            value = claims.values.get(metric)  # type: ignore[call-overload]
            if value is not None:
                found.append((name, claims.row, value[0] if isinstance(value, list) else value))
    return found


def test_the_three_shares_of_a_published_row_make_a_whole() -> None:
    shares = ("early_pct", "chokepoint_pct", "late_pct")
    every = [claims.values for name in scenarios() for claims in load_scenario(name)[1].claims]
    rows = [dict(values) for values in every if set(shares) <= set(values)]
    assert len(rows) == 15 + 9  # thesis, table 5.3; WiFi paper, table II
    assert all(sum(values[share] for share in shares) == pytest.approx(100, abs=0.2) for values in rows)  # type: ignore


def test_every_row_of_the_tables_of_times_is_claimed() -> None:
    assert len(of_all("timely_pct")) == 5  # thesis, tables 5.1 and 5.2
    assert len(of_all("exit_bitrate_mbps")) == 9  # WiFi paper, table I
    assert len(of_all("headroom_s")) == 2  # the poster's table


def test_every_claim_has_a_sentence() -> None:
    from lab.evaluation.claims.rows import rows

    for name in scenarios():
        _, scenario = load_scenario(name)
        made = list(rows(name, cast("ScenarioRecord", scenario.model_dump()), None, {}))
        assert len({row["id"] for row in made}) == len(made)
        assert all(row["claim"].endswith(f"({scenario.profile}).") and row["why"] for row in made)


def test_a_source_that_replayed_search_is_compared_with_a_replay_and_one_that_ran_it_with_a_sender() -> None:
    forms: dict[tuple[str, str], set[str]] = {}
    for name in scenarios():
        for claims in load_scenario(name)[1].claims:
            if claims.replayed or claims.cca.startswith("search"):
                forms.setdefault((name.split("-")[0], claims.source), set()).add(claims.replayed or claims.cca)
                assert bool(claims.replayed) == (claims.source in ("thesis, table 5.1", "poster, table"))
    assert forms == {
        ("netdev", "NetDev 0x18, GEO case study"): {"search2"},
        ("poster", "poster, table"): {"search1"},
        ("thesis", "thesis, table 5.1"): {"search2"},
        ("thesis", "thesis, table 5.2"): {"search2"},
        ("thesis", "thesis, table 5.3"): {"search2"},
        ("wifi", "WiFi paper, table I"): {"search2"},
        ("wifi", "WiFi paper, table II"): {"search2"},
    }


def test_claims_of_a_sender_that_does_not_run_are_refused() -> None:
    _, scenario = load_scenario("thesis-leo")
    with pytest.raises(ValueError, match="claims of its own senders"):
        Scenario.model_validate(scenario.model_dump() | {"ccas": ["bbr"]})
