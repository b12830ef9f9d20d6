# SPDX-License-Identifier: GPL-2.0-or-later
"""Races: which trials, what harm is, and what the page and the refusals say."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_race.command import Request, answer
from lab_race.experiments import NAMES, Pairing, experiment, links, pairings
from lab_race.flows import Flow, table
from lab_race.page import matrices, render, sentences
from rich.console import Console

from lab.links.profile import load_profile
from lab.schema.cca import load_ccas
from tests.brief import error_of

CCAS = {name: load_ccas()[name] for name in ("search", "cubic")}
(WIRE,) = links("wired-clean", 10, Path())


def flow(sender: str, rate_mbps: float, seconds: float = 10.0, exit_s: float | None = 0.3) -> Flow:
    """A download at a constant rate."""
    at_s = np.arange(0, seconds, 0.001)
    whole_s = {size: size * 8 / rate_mbps if size * 8 / rate_mbps < seconds else None for size in (1, 5, 20)}
    return Flow(sender, exit_s, "loss" if exit_s else None, 3, seconds, whole_s, at_s, at_s * rate_mbps * 1e6 / 8)


ALONE = {("search", 1): [flow("search", 80)], ("cubic", 1): [flow("cubic", 80)]}
BESIDE = {("search", 1): [flow("search", 60), flow("cubic", 20, 9.5)]}
FOUND = {Pairing(WIRE): ALONE, Pairing(WIRE, "cubic", 0.5): BESIDE}


def test_each_sender_runs_beside_each_rival_at_each_start_and_once_alone() -> None:
    assert [pairing.name for pairing in pairings([WIRE], ["search", "cubic"], [0.0, 0.5])] == [
        "race-wired-alone",
        "race-wired-beside-search-0s",
        "race-wired-beside-cubic-0s",
        "race-wired-beside-search-0.5s",
        "race-wired-beside-cubic-0.5s",
    ]


def test_a_course_is_a_scenario_whose_rival_begins_later() -> None:
    late = experiment(Pairing(WIRE, "cubic", 0.5), CCAS, 3)
    assert ([*late.rivals], late.scenario.rival_start_s, late.scenario.trials) == (["cubic"], 0.5, 3)
    assert list(late.ccas) == ["search", "cubic"]
    assert experiment(Pairing(WIRE), CCAS, 3).rivals == {}


def test_every_link_of_the_race_is_a_profile_that_loads(tmp_path: Path) -> None:
    found = {link.name: load_profile(link.profile, "a test") for link in links(None, None, tmp_path)}
    assert list(found) == list(NAMES)
    assert [found[f"wired-{bdps}bdp"].down.buffer_bdps for bdps in ("0.5", "1", "4")] == [0.5, 1, 4]
    assert found["wired-fq_codel"].down.queue.kind == "fq_codel"


def test_harm_is_what_a_sender_loses_of_what_it_has_alone() -> None:
    rows = {(row["sender"], row["rival"]): row for row in table(FOUND).iter_rows(named=True)}
    search, cubic = rows["search", "cubic"], rows["cubic", "search"]
    assert (search["harm_throughput"], cubic["harm_throughput"]) == (pytest.approx(0.25), pytest.approx(0.75, rel=1e-3))
    assert search["harm_5mb"] == pytest.approx(1 - 60 / 80)  # (beside - alone) / beside
    assert cubic["harm_20mb"] == pytest.approx(1 - 20 / 80)
    assert (search["lead_s"], cubic["lead_s"]) == (0.5, -0.5)
    assert rows["search", None]["harm_throughput"] == 0


def test_harm_to_a_time_that_a_download_did_not_reach_is_unknown() -> None:
    slow = {Pairing(WIRE): ALONE, Pairing(WIRE, "cubic"): {("search", 1): [flow("search", 4), flow("cubic", 70)]}}
    row = table(slow).filter(sender="search", rival="cubic").row(0, named=True)
    assert (row["time_20mb_s"], row["harm_20mb"]) == (None, None)


def test_a_download_whose_data_come_behind_the_end_has_no_throughput_and_no_harm() -> None:
    late = Flow("cubic", None, None, 0, 0.0, dict.fromkeys((1, 5, 20)), np.array([-0.06]), np.array([0]))
    beside = {("search", 1): [flow("search", 60), late]}
    rows = table({Pairing(WIRE): ALONE, Pairing(WIRE, "cubic", 9.99): beside})
    assert rows.filter(rival="search").select("throughput_mbps", "harm_throughput").row(0) == (None, None)


def test_the_page_has_a_matrix_of_each_link_and_start_with_its_numbers() -> None:
    rows = table(FOUND)
    early, late = matrices(rows, ["search", "cubic"])[::-1]
    assert (early.title, late.title) == (
        "wired: the sender begins 0.5 s earlier than its rival",
        "wired: the sender begins 0.5 s later than its rival",
    )
    assert early.cells["search"]["cubic"].harms["harm_throughput"] == pytest.approx(0.25)
    assert early.cells["cubic"]["search"].trials == 0
    page = render(rows, ["search", "cubic"], ["invalid: <script>"])
    assert "25 %" in page
    assert "&lt;script&gt;" in page
    assert f'<h2 id="matrix-1">{late.title}</h2>\n<div class="scroll"' in page  # a title that no narrow table cuts


def test_a_sentence_states_what_each_loses() -> None:
    assert sentences(table(FOUND), ["search", "cubic"]) == [
        "search loses of its throughput alone, in the median over 2 links and starts: beside cubic 25 %",
        "cubic loses of its throughput alone, in the median over 2 links and starts: beside search 75 %",
    ]


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"cca": "search,search"}, "command line: cca=search,search: must be senders that are named once"),
        ({"cca": ","}, "command line: cca=: must be a known sender of lab/cca.yml or a package"),
        ({"cca": "serch"}, "command line: cca=serch: must be a known sender of lab/cca.yml or a package: did you"),
        ({"cca": "search,my.c"}, "command line: cca=my.c: must be a sender's name: 'lab try FILE.c' runs your own"),
        ({"starts": "0,0"}, "command line: starts=0,0: must be different numbers of seconds with commas"),
        ({"starts": "-1"}, "command line: starts=-1: must be different numbers of seconds with commas"),
        ({"starts": "soon"}, "command line: starts=soon: must be different numbers of seconds with commas"),
        ({"starts": "nan"}, "command line: starts=nan: must be different numbers of seconds with commas"),
        ({"links": "wire"}, "command line: links=wire: must be a link of the race or a profile"),
        ({"links": ","}, "command line: links=: must be a link of the race or a profile: geo, "),
        ({"links": "geo,geo"}, "command line: links=geo: must be a link that is named once"),
        ({"links": "wired-shared"}, "command line: links=wired-shared: must be a link of the race or a profile"),
        ({"trials": 0}, "command line: trials=0: must be 1 to 1000"),
        ({"duration_s": 0}, "command line: duration=0: must be 1 to 3600"),
        ({"starts": "10", "duration_s": 5}, "command line: starts=10: must be below 5, the length of a trial in s"),
    ],
)
def test_a_race_that_cannot_be_is_refused_in_a_line(given: dict[str, object], line: str, tmp_path: Path) -> None:
    usual: dict[str, Any] = {"cca": "search", "links": None, "starts": "0", "trials": 1, "duration_s": None}
    request = Request(**(usual | given), out=tmp_path, workers=1)
    assert error_of(answer, request, Console()).startswith(line)
