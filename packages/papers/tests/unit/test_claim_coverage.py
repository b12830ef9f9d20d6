# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab verify --coverage`: each table and figure of the sources is a claim, a figure, or has the reason why neither."""

import os
import re
from pathlib import Path

import pytest
from lab_papers.commands.verify import cover, coverage_lines
from lab_papers.evaluation.claims.numbered import Covered, covered, numbered
from rich.console import Console

from lab.base.errors import UserError
from lab.base.paths import REPO

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
    with pytest.raises(UserError) as refused:
        cover(names, table, Console())
    assert str(refused.value) == f"command line: {field}: must be left out with --coverage, which lists all"
