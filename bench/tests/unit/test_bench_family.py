# SPDX-License-Identifier: GPL-2.0-or-later
"""The family's measurement: runs that the first page shows, and a table of shares and ranks."""

import importlib
import json
from pathlib import Path

import pytest
from lab_compare.comparison import Comparison, known_senders
from lab_compare.exits import Exit, Exits
from lab_compare.link_kinds import links
from lab_compare.ranks import RankedPlace

from bench.family import ALONE, FAMILY, PREFIX, _experiment, figures, rank
from lab.base.paths import REPO
from lab.schema.cca import load_ccas


@pytest.mark.parametrize(
    ("place", "shown"), [(None, None), (RankedPlace(1, 1), "1"), (RankedPlace(2, 5), "2-5"), (RankedPlace(1, 5), None)]
)  # fmt: skip
def test_a_rank_is_a_number_or_an_interval_and_none_where_it_says_nothing(
    place: RankedPlace | None, shown: str | None
) -> None:
    assert rank(place, 5) == shown


def test_the_first_page_shows_the_run_of_each_link_without_a_rival() -> None:
    senders = known_senders([name for name in FAMILY if name in load_ccas()])
    chosen = links(ALONE.split(","))
    comparison = Comparison([next(iter(senders))], senders, chosen, fixed=True)
    made = [_experiment(comparison, link) for link in chosen]
    assert [each.name for each in made] == [f"{PREFIX}{link.name}" for link in chosen]
    assert all(each.scenario.in_summary and not each.rivals for each in made)


def test_the_table_has_exits_by_class_and_ranks_and_a_dash_without_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    early, timely, stayed, unjudged = Exit(1, "early"), Exit(2, "chokepoint"), Exit(None, None), Exit(3, None)
    exits = {
        "search9": Exits(dict(enumerate([timely, timely, early]))),
        "bbr3": Exits(dict(enumerate([timely, stayed, unjudged]))),
    }
    made = [*figures("wired", exits, {"search9": RankedPlace(1, 1), "bbr3": RankedPlace(2, 2)}, ["search9", "bbr3"])]
    made += figures("geo", {"bbr3": exits["bbr3"]}, {"bbr3": RankedPlace(1, 1)}, ["search9", "bbr3"])
    (tmp_path / "family.json").write_text(json.dumps({"command": "make", "commit": "abc", "figures": made}))
    monkeypatch.syspath_prepend(str(REPO / "docs"))
    places = importlib.import_module("generate.places")
    monkeypatch.setattr(places.measurements, "FOLDER", tmp_path)
    page = places.page("<!-- measured: family -->")
    assert "| `search9` | 1/2/0, 1 | - |" in page
    assert "| `bbr3` | 0/1/0 +1 never left +1 not judged, 2 | 0/1/0 +1 never left +1 not judged |" in page
