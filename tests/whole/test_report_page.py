# SPDX-License-Identifier: GPL-2.0-or-later
"""The whole report of a stored run: its files, a page that opens from disk for everybody, and a user's figures."""

import gc
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from lab_papers.index.write import write_index

from lab.figures.page_figure import Place
from lab.figures.registry import figures
from lab.judge.registry import TRUTH
from lab.judge.stored import Stored
from lab.report.answer import answer_of
from lab.report.browser.pack import packed
from lab.report.write import write_report
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from tests.stored_run import SENDERS, change, rewrite, sign, store_run, with_extent

VOID = {"meta", "link", "br", "img"}


class Elements(HTMLParser):
    """Every element with its attributes, and whether each opened one was closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


ALONE = {"report.html", "summary.csv", "outcomes.csv", "summary.md", "summary.txt"}
ALL_FORMS = ("pdf", "png")  # in addition to SVG


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, library: Path) -> list[Path]:
    return write_report(store_run(tmp_path_factory.mktemp("results"), library=library), ALL_FORMS)


def file_of(report: list[Path], name: str) -> Path:
    (found,) = (path for path in report if path.name == name)
    return found


def figures_of(report: list[Path]) -> list[Path]:
    return [path for path in report if path.parent.name == "figures"]


@pytest.fixture(scope="module")
def page(report: list[Path]) -> str:
    return file_of(report, "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def elements(page: str) -> Elements:
    return Elements(page)


def of_senders() -> list[str]:
    """Name the figures of the senders: only SEARCH has bins of its own."""
    every = [(figure.name, cca) for figure in figures(Place.TRIAL) for cca in SENDERS]
    return [f"{name}-{cca}" for name, cca in every if cca == "search" or name != "delivered_bytes"]


def test_every_part_of_the_report_is_there_whole_and_missing_values_empty(report: list[Path]) -> None:
    folder = file_of(report, "report.html").parent
    assert {path.name for path in report if path.parent == folder} == ALONE
    assert {path.parent.name for path in report if path.parent != folder} == {"tables", "figures"}
    assert all(path.stat().st_size > 0 for path in report)
    assert not list(folder.rglob("*.part"))
    hystart = pl.read_csv(folder / "summary.csv").filter(cca="cubic", heuristic="truth").row(0, named=True)
    assert hystart["capacity_s"] is None
    assert hystart["early_pct"] == 100


def test_every_figure_of_a_runs_page_is_there_as_svg_and_on_request_as_png_and_pdf(report: list[Path]) -> None:
    names = {path.name for path in figures_of(report)}
    expected = [*(figure.name for figure in figures(Place.RUN)), *of_senders()]
    assert names == {f"{name}.{kind}" for name in expected for kind in ("svg", "png", "pdf")}


def test_the_same_run_gives_the_same_report_byte_for_byte(report: list[Path]) -> None:
    before = [path.read_bytes() for path in report]
    write_report(file_of(report, "report.html").parent)
    assert [path.read_bytes() for path in report] == before


def test_a_form_that_is_there_is_drawn_again_so_that_none_is_out_of_date(tmp_path: Path) -> None:
    run = store_run(tmp_path, trials=1, senders=("search",))
    assert {path.suffix for path in figures_of(write_report(run))} == {".svg"}
    assert {path.suffix for path in figures_of(write_report(run, ("pdf",)))} == {".svg", ".pdf"}
    assert {path.suffix for path in figures_of(write_report(run))} == {".svg", ".pdf"}


def written_at(report: list[Path]) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in report}


def changed(run: Path) -> None:
    """Another throughput in a trial that is drawn in no figure of its own."""
    file = run / "trials" / "search-002" / "trial.json"
    meta = json.loads(file.read_text())
    rewrite(file, meta | {"flows": [with_extent(meta["flows"][0], throughput_mbps=7.5)]})


@pytest.mark.parametrize(
    ("change", "is_kept"),
    [
        (lambda _run: None, True),
        (changed, False),
        (lambda run: (run / "figures" / "exit_times.svg").unlink(), False),
        (lambda run: (run / "report.html").write_text("of others"), False),
    ],
    ids=["nothing", "a trial", "a lost figure", "an edited page"],
)
def test_a_report_is_written_again_only_where_the_run_or_a_file_of_it_changed(
    tmp_path: Path, change: Callable[[Path], None], is_kept: bool
) -> None:
    run = store_run(tmp_path, trials=2, senders=("search",))
    before = written_at(write_report(run))
    change(run)
    after = written_at(write_report(run))
    assert after.keys() == before.keys()
    assert [after[path] == before[path] for path in after] == [is_kept] * len(after)


def test_a_run_in_which_no_trial_is_valid_still_has_a_report_that_states_it(tmp_path: Path) -> None:
    run = store_run(tmp_path, trials=1)
    change(run, seeds=[1])
    for file in run.glob("trials/*/trial.json"):
        file.write_text(file.read_text().replace('"valid": true', '"valid": false'))
        sign(file)
    write_report(run)
    assert answer_of(run).headline == ("No valid trial left slow start: this run has no answer.",)
    assert "No valid trial: nothing to show." in (run / "report.html").read_text()


def test_packing_trials_for_the_page_holds_the_tables_of_one_at_a_time(tmp_path: Path) -> None:
    run = Run(store_run(tmp_path, trials=1))
    packing = packed(run.trials, Stored.of(run).judged.outcomes, "one", TRUTH)
    held = [sum("acks" in vars(each) for each in gc.get_objects() if type(each) is Trial) for _ in packing]
    assert len(held) == len(SENDERS)
    assert max(held) <= 1


def test_the_page_loads_nothing_from_anywhere(page: str, elements: Elements) -> None:
    loads = [text for _, given in elements.found for key, text in given.items() if key in ("src", "href", "xlink:href")]
    assert not [value for value in loads if value and re.match(r"(\w+:)?//|http", value)]
    assert not re.search(r"@import|url\((?!#)|<script[^>]* src|<iframe", page)


def test_every_element_is_closed_named_once_and_every_link_leads_somewhere(elements: Elements) -> None:
    assert elements.open == []
    names = [given["id"] for _, given in elements.found if "id" in given]
    assert len(names) == len(set(names))
    targets = [value for _, given in elements.found for key, value in given.items() if key in ("href", "xlink:href")]
    assert {value[1:] for value in targets if value and value.startswith("#")} <= set(names)


def test_figures_tables_and_the_page_have_texts_captions_and_a_way_for_the_keyboard(elements: Elements) -> None:
    drawn = elements.all("svg")
    assert len(drawn) == len(figures(Place.RUN)) + len(of_senders())
    named = {given["id"] for given in elements.all("title") if "id" in given}
    assert all(given["role"] == "img" and given["aria-labelledby"] in named for given in drawn)
    outside = {given["id"] for given in elements.all("p") if given.get("class") == "caption"}
    labelled = [given["aria-labelledby"] for given in elements.all("table") if "aria-labelledby" in given]
    assert set(labelled) == outside != set()
    assert len(elements.all("table")) == len(labelled) + len(elements.all("caption"))
    assert {given.get("scope") for given in elements.all("th")} == {"col", "row", "rowgroup"}
    assert len(elements.all("h1")) == 1
    assert elements.all("html") == [{"lang": "en"}]
    assert elements.all("a")[0]["href"] == "#answer"
    scrolling = [given for given in elements.all("div") if given.get("class") == "scroll"]
    assert scrolling
    assert all(given["tabindex"] == "0" and given["role"] == "region" for given in scrolling)


def test_the_page_says_what_is_invalid_clipped_and_from_where_as_text(page: str) -> None:
    assert "<h1>Who leaves &lt;slow start&gt; at 100 % of the right_moment?</h1>" in page
    assert "11 of 12 trials are valid" in page
    assert "bbr, trial 3: capture drops 7 packets where 0 was requested." in page
    origins = ("ACK frames of 40 ms", "144 Mb/s (thesis, section 5.1.1)", "What is assumed", "tail drop")
    for text in (*origins, "kernel.kernel_source", "6.12.48"):
        assert text in page
    assert "Levels of down.rate_mbps: a level every 1.7 s, mean 70 (48.9 after clipping)" in page
    assert "ln-sd 1.15 within a trial and 0.6 between trials" in page


def test_where_the_link_is_from_stands_once_on_the_page_once_in_each_text_and_in_every_figures_file(
    report: list[Path], page: str, elements: Elements
) -> None:
    origin = "ACK frames of 40 ms"
    texts = (page, *(file_of(report, name).read_text() for name in ("summary.md", "summary.txt")))
    assert [text.count(origin) for text in texts] == [1, 1, 1]
    drawn = [path for path in figures_of(report) if path.suffix == ".svg"]
    assert all(origin in path.read_text() for path in drawn)
    marks = [given for given in elements.all("a") if given.get("class") == "mark"]
    assert {given["href"] for given in marks} == {"#link"}
    assert len(marks) == len(drawn)


TWO = ("search", "cubic")
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


def test_added_figures_are_on_the_page_of_a_run(figures_folder: Path, tmp_path: Path) -> None:
    for place in ("RUN", "TRIAL"):
        (figures_folder / f"own_{place}.py").write_text(ADDED.replace("{place}", place).replace("own", place.lower()))
    report = write_report(store_run(tmp_path / "results", trials=1, senders=TWO), ("png", "pdf"))
    page = file_of(report, "report.html").read_text()
    for place, times in (("run", 1), ("trial", len(TWO))):
        assert page.count(f"A line of my {place}.") == times
        assert page.count(f"The {place} line that rises from 0 to 1.") == times
        assert len([path for path in figures_of(report) if path.name.startswith(f"{place}_line")]) == 3 * times


def test_an_added_figure_is_in_the_summary_of_the_index(figures_folder: Path, tmp_path: Path) -> None:
    (figures_folder / "own_summary.py").write_text(ADDED.replace("{place}", "SUMMARY"))
    store_run(tmp_path / "results", trials=1, senders=TWO[:1], latest=True)
    page = write_index(tmp_path / "results", None, tmp_path).read_text()
    assert "A line of my own." in page
    assert (tmp_path / "results" / "own_line.pdf").stat().st_size > 0
