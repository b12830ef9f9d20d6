# SPDX-License-Identifier: GPL-2.0-or-later
"""A figure is one file: the page that it declares shows it, and nothing else is edited."""

from pathlib import Path

import pytest
from lab_papers.index.write import write_index

from lab.report.write import write_report
from tests.stored_run import store_run

SENDERS = ("search", "cubic")
ADDED = """
from lab.figures.page_figure import PageFigure, Place
from lab.figures.sheet import in_house_style
from lab.figures.style import Drawing, panels


@in_house_style
def figure():
    drawn, (axis,) = panels(1, 2.0)
    axis.plot([0, 1], [0, 1])
    return drawn


def draw(given):
    return Drawing(figure(), "A line of my own.", "The own line that rises from 0 to 1.")


FIGURE = PageFigure("own_line", Place.{place}, draw)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user's for figures."""
    added = tmp_path / "figures"
    added.mkdir()
    monkeypatch.setenv("LAB_FIGURES", str(added))
    return added


def test_added_figures_are_on_the_page_of_a_run(folder: Path, tmp_path: Path) -> None:
    for place in ("RUN", "TRIAL"):
        (folder / f"own_{place}.py").write_text(ADDED.replace("{place}", place).replace("own", place.lower()))
    report = write_report(store_run(tmp_path / "results", trials=1, senders=SENDERS), None, ("png", "pdf"))
    page = report.paths.page.read_text()
    for place, times in (("run", 1), ("trial", len(SENDERS))):
        assert page.count(f"A line of my {place}.") == times
        assert page.count(f"The {place} line that rises from 0 to 1.") == times
        assert len([path for path in report.paths.figures if path.name.startswith(f"{place}_line")]) == 3 * times


def test_an_added_figure_is_in_the_summary_of_the_index(folder: Path, tmp_path: Path) -> None:
    (folder / "own_summary.py").write_text(ADDED.replace("{place}", "SUMMARY"))
    run = store_run(tmp_path / "results", trials=1, senders=SENDERS[:1])
    (run.parent / "latest").symlink_to(run.name)
    page = write_index(tmp_path / "results", None, tmp_path).read_text()
    assert "A line of my own." in page
    assert (tmp_path / "results" / "own_line.pdf").stat().st_size > 0
