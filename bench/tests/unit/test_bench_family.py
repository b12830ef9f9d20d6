# SPDX-License-Identifier: GPL-2.0-or-later
"""The family's measurement: runs that the first page shows, and a table of shares and ranks."""

import importlib
import json
from pathlib import Path

import pytest

from bench.family import ALONE, FAMILY, PREFIX, _experiment, figures, rank
from lab.base.paths import REPO
from lab.evaluation.compare.comparison import Comparison, known_senders
from lab.evaluation.compare.ranks import RankedPlace
from lab.evaluation.compare.results import LinkResult
from lab.runs.link_kinds import links
from lab.schema.cca import load_ccas


@pytest.mark.parametrize(
    ("place", "shown"), [(None, None), (RankedPlace(1, 1), "1"), (RankedPlace(2, 5), "2-5")]
)  # fmt: skip
def test_a_rank_is_a_number_or_an_interval(place: RankedPlace | None, shown: str | None) -> None:
    assert rank(place) == shown


def test_the_first_page_shows_the_run_of_each_link_without_a_rival() -> None:
    senders = known_senders([name for name in FAMILY if name in load_ccas()])
    chosen = links(ALONE.split(","))
    comparison = Comparison([next(iter(senders))], senders, chosen, fixed=True)
    made = [_experiment(comparison, link) for link in chosen]
    assert [each.name for each in made] == [f"{PREFIX}{link.name}" for link in chosen]
    assert all(each.scenario.in_summary and not each.rivals for each in made)


def test_the_table_has_shares_and_ranks_and_a_dash_without_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    values: dict[str, dict[str, list[float | None]]] = {
        "chokepoint": {"search9": [1.0, 0.0, None], "cubic": [1.0, 1.0, 1.0]}
    }
    (link,) = links(["wired"])
    found = LinkResult(link, None, values, {}, {"chokepoint": {"search9": RankedPlace(1, 2)}})
    made = [*figures("wired", found, ["search9", "cubic", "bbr"])]
    (tmp_path / "family.json").write_text(json.dumps({"command": "make", "commit": "abc", "figures": made}))
    monkeypatch.syspath_prepend(str(REPO / "docs"))
    family = importlib.import_module("generate.family")
    monkeypatch.setattr(family.measurements, "FOLDER", tmp_path)
    assert "| wired | 1/2, 1 to 2 | 3/3 |" in family.page(family.PLACE)
