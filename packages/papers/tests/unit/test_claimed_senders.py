# SPDX-License-Identifier: GPL-2.0-or-later
"""Each claim's sender has its source's constants; `lab verify --coverage` has each table and figure of the sources."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from lab_papers.commands.verify import cover, coverage_lines
from lab_papers.evaluation.claims.numbered import Covered, covered, numbered
from lab_papers.evaluation.search.forms import FORMS
from lab_papers.evaluation.search.replay import Download, exit_of
from lab_papers.search_replay import version
from rich.console import Console

from lab.base.paths import REPO
from lab.schema.cca import load_ccas
from lab.schema.scenario import Claims
from tests.brief import error_of, present

# Threshold (%), window (ms, or tenths of the initial round trip), bins and extra bins: poster, "Results", which names
# no extra bins; thesis, algorithm 1; NetDev 0x18, SEARCH algorithm. The WiFi paper refers to the thesis's code.
STATED = {
    ("poster", "GEO"): (25, 2000, 10),
    ("poster", "LEO"): (25, 200, 10),
    ("thesis", ""): (35, 35, 10, 15),
    ("NetDev 0x18", ""): (35, 35, 10, 15),
    ("WiFi paper", ""): (35, 35, 10, 15),
}
OURS = "our search1"  # rows that show another form beside the poster's, and judge nothing
# How a row calls a sender, and what ends its slow start (lab/cca.yml).
NAMED = {
    "HyStart on": "hystart",
    "CUBIC w/ HyStart": "hystart",
    "HyStart off": "loss",
    "CUBIC w/o HyStart": "loss",
    "BBR": "bbr",
    "SEARCH": "search",
}
COMPETING = "SEARCH slides"  # their rows name the rival
CCAS = load_ccas()
SEARCH = {name for name, cca in CCAS.items() if cca.slow_start_exit == "search"} | set(FORMS)


def every() -> list[tuple[str, str, Claims]]:
    return [(claim.document, row.row, row) for claim in numbered() for row in claim.rows]


def claimed() -> list[tuple[str, str, str]]:
    """Document, row and name of every SEARCH that a claim measures, replays or compares with."""
    rows = [(document, row, claim) for document, row, claim in every() if OURS not in row]
    senders = [(*each[:2], name) for each in rows for name in (each[2].replayed or each[2].cca, each[2].relative_to)]
    return [(document, row, name) for document, row, name in senders if name is not None and name in SEARCH]


def naming() -> list[tuple[str, str, Claims]]:
    """Name in the row, its text and the claim, of every claim whose row names its sender."""
    found = [
        (min((name for name in NAMED if name in row), key=row.index), row, claim)
        for document, row, claim in every()
        if document != COMPETING and any(name in row for name in NAMED)
    ]
    assert len(found) > len(NAMED)
    return found


def test_a_row_that_only_shows_another_form_judges_nothing() -> None:
    ours = [claim for _, row, claim in every() if OURS in row]
    assert ours
    assert all(claim.not_judged for claim in ours)


@pytest.mark.parametrize(("name", "row", "claim"), naming())
def test_the_sender_of_a_claim_is_the_one_that_its_row_names(name: str, row: str, claim: Claims) -> None:
    ended_by = "search" if claim.replayed else CCAS[claim.cca].slow_start_exit
    assert ended_by == NAMED[name], row


@pytest.mark.parametrize(("document", "row", "name"), claimed())
def test_a_claims_sender_has_the_constants_of_its_source(library: Path, document: str, row: str, name: str) -> None:
    stated = STATED.get((document, row)) or STATED[document, ""]
    if name in FORMS:
        form = FORMS[name]
        assert (form.threshold_pct, form.window_ms, form.bins) == stated
    else:
        params = version(library, name).params
        assert (params.threshold_pct, params.window_factor_tenths, params.bins, params.extra_bins) == stated


def download(rtt_us: int) -> Download:
    """Slow start over a path of one round trip, at capacity from its fifteenth round on: an ACK every tenth of it."""
    steps = np.arange(300)
    per_ack = 1448 * 2.0 ** np.minimum(steps // 10, 14)
    delivered = np.cumsum(per_ack).astype(np.int64)
    sent = np.cumsum(1448 * 2.0 ** (1 + steps // 10)).astype(np.int64)
    rtts, windows = np.full(300, rtt_us), np.full(300, 10)
    t_us = (steps * rtt_us) // 10 + rtt_us
    return Download(1, t_us, rtts, delivered, sent, windows, None, None, None, {}, None, 1448)


def test_the_posters_window_does_not_follow_the_round_trip_and_its_threshold_is_met_sooner(library: Path) -> None:
    path = download(2000 * 1000 * 10 // 35)  # the window is 3.5 of its round trips
    ours = present(exit_of(library, path, version(library, "search1")))
    posters = present(FORMS["search1_poster_geo"].exit_of(library, path))
    assert posters.t_s < ours.t_s
    assert FORMS["search1_poster_leo"].exit_of(library, path) != posters


# The numbers of the captions of each source. The poster's table and the slides have none.
CAPTIONS = {
    "thesis": {
        "figure": ("2.1", "2.2", *(f"4.{n}" for n in range(1, 16)), *(f"5.{n}" for n in range(1, 12))),
        "table": ("5.1", "5.2", "5.3"),
    },
    "WiFi paper": {"figure": ("1", "2", "3", "4"), "table": ("I", "II")},
    "NetDev 0x18": {"figure": ("1",), "table": ()},
}
CAPTION = re.compile(r"^(Fig\.|Figure|Table|TABLE) ([IV\d]+(?:\.\d+)?):", re.MULTILINE)
TITLES = {
    "thesis": "# Improving TCP Slow Start Performance",
    "WiFi paper": "# Using SEARCH to Improve TCP Slow Start on Wireless",
    "NetDev 0x18": "Implementation of the SEARCH Slow Start Algorithm in the Linux Kernel",
}
PLACES = covered()


def named(document: str, kind: str) -> set[str]:
    begin = f"{document}, {kind} "
    return {one.entry.place.removeprefix(begin) for one in PLACES if one.entry.place.startswith(begin)}


@pytest.mark.parametrize(("document", "kind"), [(name, kind) for name, kinds in CAPTIONS.items() for kind in kinds])
def test_every_table_and_figure_number_is_in_the_list(document: str, kind: str) -> None:
    assert named(document, kind) == set(CAPTIONS[document][kind])


@pytest.mark.parametrize("document", CAPTIONS)
def test_the_numbers_are_those_of_the_captions(document: str) -> None:
    if "LAB_PAPERS" not in os.environ:
        pytest.skip("the papers are in no repository: LAB_PAPERS names a folder of their texts")
    texts = [file.read_text() for file in Path(os.environ["LAB_PAPERS"]).glob("*.txt")]
    (text,) = (text for text in texts if text.lstrip().startswith(TITLES[document]))
    found: dict[str, set[str]] = {"figure": set(), "table": set()}
    for kind, number in CAPTION.findall(text):
        found["table" if kind.lower() == "table" else "figure"].add(number)
    assert found == {kind: set(numbers) for kind, numbers in CAPTIONS[document].items()}


@pytest.mark.parametrize("one", PLACES, ids=lambda one: one.entry.place)
def test_each_place_is_a_claim_or_a_figure_or_has_the_reason_why_not(one: Covered) -> None:
    assert one.how
    assert one.claims or one.entry.judged_as is None
    assert one.entry.page is None or (REPO / "analysis" / f"{one.entry.page}.py").exists()


def test_every_claim_has_its_place_in_the_list_once() -> None:
    places = [one.entry.place for one in PLACES]
    assert len(set(places)) == len(places)
    assert {claim.source for claim in numbered()} <= set(places)


def test_the_list_is_printed_with_what_became_of_each_place() -> None:
    lines = list(coverage_lines(80))
    assert max(map(len, lines)) <= 80
    at = lines.index("thesis, figure 2.2")
    assert lines[at + 1] == "  why not: a drawing of orbits: nothing of it is measured"
    at = lines.index("thesis, section 4.5.2: 0.35 is detected within 2 RTTs of reaching capacity")
    assert "(thesis-geo)" in lines[at + 1]


@pytest.mark.parametrize(
    ("names", "table", "field"), [(["thesis-geo"], None, "scenario=thesis-geo"), ([], "5.3", "table=5.3")]
)
def test_the_list_is_of_all_places(names: list[str], table: str | None, field: str) -> None:
    line = error_of(cover, names, table, Console())
    assert line == f"command line: {field}: must be absent with --coverage, which lists all"
