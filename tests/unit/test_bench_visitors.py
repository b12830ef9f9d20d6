# SPDX-License-Identifier: GPL-2.0-or-later
"""The benchmark of visitors: what it reads off a comparison, and whom it compares."""

from pathlib import Path

import polars as pl
import pytest

from lab.base.errors import UserError
from lab.bench import visitors
from lab.report.compare.forms import ranks
from tests import compared

LABELS = {name: name.upper() for name in compared.SENDERS}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """What ranks.csv holds of a modelled comparison."""
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_RESULTS", str(folder))
        return ranks(*compared.store(folder, 6))


def test_a_share_is_in_percent_of_the_trials_that_are_judged(table: pl.DataFrame) -> None:
    values = {each["name"]: each["value"] for each in visitors.figures(table, LABELS)}
    mean, trials = table.filter(link="geo", sender="search", measure="chokepoint").select("mean", "trials").row(0)
    assert values["GEO, as recorded, SEARCH: At the chokepoint"] == round(100 * mean)
    assert values["GEO, as recorded, SEARCH: trials judged"] == trials
    throughput = table.filter(link="wired", sender="bbr", measure="throughput").item(0, "mean")
    assert values["wired, for reference, BBR: Throughput"] == pytest.approx(throughput, rel=0.01)


def test_a_sender_without_a_value_has_none(table: pl.DataFrame) -> None:
    nothing = table.with_columns(mean=table["mean"].clear(table.height))
    assert {each["value"] for each in visitors.figures(nothing, LABELS) if "trials" not in each["name"]} == {None}


def test_without_a_fetched_visitor_one_line_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path))
    with pytest.raises(UserError, match="must be fetched: run 'lab senders fetch --all'"):
        visitors.compared()


def test_a_visitor_that_the_lab_does_not_build_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitors, "is_fetched", lambda _name, _visitor: True)
    chosen = visitors.compared()
    assert chosen[:2] == ["search", "cubic"]
    assert "pcc_vivace" in chosen
    assert "suss" not in chosen
