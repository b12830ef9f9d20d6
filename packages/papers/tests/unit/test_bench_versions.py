# SPDX-License-Identifier: GPL-2.0-or-later
"""The bench of SEARCH's forms: each is one that the core takes, and pairs are compared on the same links."""

from pathlib import Path
from typing import Any

import ack_logs
import numpy as np
import polars as pl
import pytest
from ack_logs import Gateway, text, written
from lab_papers.evaluation.recorded.download import Download
from typer import Typer
from typer.testing import CliRunner

from bench.versions.__main__ import measure
from bench.versions.compare import by_link, over_links
from bench.versions.forms import LINKS, duration_s, profile_of
from bench.versions.logs import judged
from bench.versions.logs import rows as rows_of_logs
from lab.base.errors import UserError

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
    ended = CliRunner().invoke(app, ["--forms", "search99"])
    assert ended.exit_code == 2
    assert "bench-versions: command line: form=search99: must be one of" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_exits_by_the_stricter_truth_are_counted_beside_the_others() -> None:
    asked = rows().with_columns(lasting_class=pl.lit("early"))
    mine = by_link(asked, base="b").filter(form="a").row(0, named=True)
    assert (mine["early"], mine["early_lasting"], mine["late_lasting"]) == (1, 3, 0)


def test_over_a_log_of_a_constant_link_no_form_leaves_anything_spare(library: Path, tmp_path: Path) -> None:
    model = ack_logs.download(Gateway(threshold_bytes=1e9, duration_s=9))
    written(tmp_path, text(model.acks, "with snd_una"))
    found = rows_of_logs(tmp_path, ["search", "search-35"], library)
    assert found["exit_s"].null_count() == 0
    assert found["exit_s"][0] <= found["exit_s"][1]  # the lower threshold is met first
    assert found["lasting"].to_numpy().max() < 1


def test_a_slow_spell_that_ends_soon_leaves_the_link_spare_by_the_stricter_truth_alone() -> None:
    t_s = np.arange(0.5, 10, 0.01)
    acked = np.where(t_s < 5, t_s, 5 + 10 * (t_s - 5)) * 1e6  # 1 MB/s, and ten times that from 5 s on
    nothing = np.full(len(t_s), np.nan)
    window = np.full(len(t_s), 1e6)
    log = Download("made", t_s, acked, window, np.full(len(t_s), 500.0), acked, nothing, 1448, None)
    found = judged(log, int(np.searchsorted(t_s, 4.0)))
    assert found["one_rtt"] == pytest.approx(0.5, abs=0.1)
    assert found["lasting"] == pytest.approx(5, abs=0.1)


def test_a_folder_without_logs_is_one_line(tmp_path: Path, library: Path) -> None:
    with pytest.raises(UserError, match=r"logs=.*: must be a folder with logs of ACKs"):
        rows_of_logs(tmp_path, ["search"], library)
