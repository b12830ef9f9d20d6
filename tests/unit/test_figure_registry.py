# SPDX-License-Identifier: GPL-2.0-or-later
"""A figure is one file that declares its page."""

from pathlib import Path

import pytest

from lab.base.errors import UserError
from lab.base.paths import LAB, REPO
from lab.figures.page_figure import Place
from lab.figures.registry import figures
from lab.tables.stored_run import Run
from tests.stored_run import store_run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user's for figures."""
    added = tmp_path / "figures"
    added.mkdir()
    monkeypatch.setenv("LAB_FIGURES", str(added))
    return added


def test_every_file_that_draws_declares_its_place() -> None:
    folders = (LAB / "figures", *REPO.glob("packages/*/lab_*/figures"))
    files = [file for folder in folders for file in folder.glob("*.py")]
    drawing = {file.stem for file in files if "\ndef draw(" in file.read_text()}
    declared = {figure.draw.__module__.split(".")[-1] for place in Place for figure in figures(place)}
    assert declared == drawing


def test_senders_stand_in_the_order_of_the_lab_whatever_the_scenarios(tmp_path: Path) -> None:
    run = Run(store_run(tmp_path, trials=1, senders=("bbr", "cubic_plain", "search")))
    assert [stanza["name"] for stanza in run.ccas] == ["search", "cubic_plain", "bbr"]


def test_a_file_without_a_figure_is_one_line_that_names_it(folder: Path) -> None:
    (folder / "empty.py").write_text("FIGURE = None\n")
    with pytest.raises(UserError, match=r"empty\.py: FIGURE=None: must be a lab\.figures\.page_figure\.PageFigure"):
        figures(Place.RUN)
