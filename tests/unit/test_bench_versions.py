# SPDX-License-Identifier: GPL-2.0-or-later
"""The bench of SEARCH's forms: each is one that the core takes, and pairs are compared on the same links."""

from typing import Any

import polars as pl
import pytest
from typer import Typer
from typer.testing import CliRunner

from bench.versions.__main__ import measure
from bench.versions.compare import by_link, over_links
from bench.versions.forms import LINKS, duration_s, profile_of

EXITS = {"a": [("early", 1.0), ("chokepoint", 3.0), ("chokepoint", 3.2)], "b": [("chokepoint", 2.0)] * 3}


def rows() -> pl.DataFrame:
    """Three trials of two forms; the first trial is one that only b leaves at the chokepoint."""
    built: list[dict[str, Any]] = [
        {"link": "x", "trial": trial, "form": form, "exit_class": name, "exit_s": exit_s, "after_rtts": exit_s - 1.5}
        for form, exits in EXITS.items()
        for trial, (name, exit_s) in enumerate(exits, 1)
    ]
    return pl.DataFrame(built)


@pytest.mark.parametrize("link", LINKS)
def test_every_link_has_a_profile_and_a_duration(link: str) -> None:
    assert profile_of(link).down
    assert duration_s(link) >= 5


def test_exits_are_counted_and_compared_pair_by_pair() -> None:
    mine = by_link(rows(), base="b").filter(form="a").row(0, named=True)
    assert (mine["trials"], mine["early"], mine["chokepoint"], mine["late"]) == (3, 1, 2, 0)
    assert (mine["better"], mine["worse"]) == (0, 1)
    assert mine["exit_s_differs"].startswith("+0.4 (")  # of -1, 1 and 1.2 s


def test_over_all_links_a_pair_is_one_trial_of_one_link() -> None:
    both = pl.concat([rows(), rows().with_columns(link=pl.lit("y"))])
    mine = over_links(both, base="b").filter(form="a").row(0, named=True)
    assert (mine["trials"], mine["better"], mine["worse"]) == (6, 0, 2)


def test_a_form_that_is_not_known_is_one_line() -> None:
    app = Typer()
    app.command()(measure)
    ended = CliRunner().invoke(app, ["--forms", "search9"])
    assert ended.exit_code == 2
    assert "bench-versions: command line: form=search9: must be one of" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
