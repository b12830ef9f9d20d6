# SPDX-License-Identifier: GPL-2.0-or-later
"""Every figure and table in a paper of two columns: it fits, its text can be read, and its fonts are outlines."""

import subprocess
from math import pi, sin
from pathlib import Path

import polars as pl
import pytest
from ack_logs import log
from lab_papers.commands.figure import Sheet, named, write
from lab_papers.evaluation.kept import sign
from lab_papers.evaluation.rules import scores
from lab_papers.evaluation.search import sensitivity
from lab_papers.paper import Sources
from lab_papers.paper_sheet import WIDTHS_IN
from paper import build, fonts, smallest_pt, what_does_not_fit, width_in

from lab.base import paths
from lab.base.errors import UserError
from lab.evaluation import sweep
from lab.figures.page_figure import Given
from lab.figures.registry import every_figure
from lab.judge.stored import Stored
from lab.report.table import Group, Row, Table
from lab.report.table_files import table_files
from lab.report.write import write_report
from lab.tables.csv_text import to_csv
from lab.tables.stored_run import Run
from tests.brief import error_of, folder_at, put
from tests.stored_run import store_run

__all__ = ["log"]  # a fixture
LEAST_PT = 7  # 6.5, rounded


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, library: Path) -> Path:
    """Two stored runs, and the tables of their evaluation that figures are drawn from."""
    folder = tmp_path_factory.mktemp("results")
    for name in ("geo", "leo"):
        store_run(folder, name=name, library=library, latest=True)
    stored = Stored.of(Run(folder / "geo" / "latest"))
    runs = [Stored.of(Run(folder / name / "latest")) for name in ("geo", "leo")]
    for fields in (["down.delay_ms"], ["down.delay_ms", "search.threshold_pct"]):
        swept = sweep.table_of(list(zip([dict.fromkeys(fields, text) for text in ("20", "280")], runs, strict=True)))
        place = folder_at(folder / "sweeps" / f"{len(fields)}" / "now")
        (place / sweep.FILE).write_text(to_csv(swept.filter(pl.col("cca").is_in(["search", "cubic"]))))
    (folder / "evaluation").mkdir()
    scores.trials(stored).write_parquet(folder / "evaluation" / "heuristics_trials.parquet")
    sensitivity.maps(stored, library).write_parquet(folder / "evaluation" / "sensitivity.parquet")
    sign(folder / "evaluation")
    return folder


@pytest.fixture(autouse=True)
def own_results(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(results))


@pytest.fixture(scope="module")
def round_trips(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A recording of a round trip that swings every 2 s."""
    file = tmp_path_factory.mktemp("swinging") / "swinging.csv"
    rows = (f"{0.1 * row:.1f},{50 + 10 * sin(2 * pi * 0.1 * row / 2):.3f}" for row in range(600))
    file.write_text("\n".join(("t_s,rtt_ms", *rows)) + "\n")
    return str(file)


def sources(given: Given | None, library: Path, log: str, round_trips: str) -> Sources:
    names = {
        Given.RUNS: ["geo", "leo"],
        Given.DOWNLOADS: ["geo", log],
        Given.SWEEP: [str(paths.results() / "sweeps" / fields / "now") for fields in "12"],
        Given.RECORDING: [log],
        Given.SPECTRUM: [round_trips],
    }
    return Sources(names.get(given, ["geo"]) if given else [], library)


def drawn(name: str, sheet: Sheet, given: Sources, out: Path) -> list[Path]:
    """Draw a figure; the files that LaTeX reads."""
    lines = list(write(name, given, sheet, out))
    assert all(len(line.splitlines()) == 1 and (out in Path(line).parents or len(line) <= 100) for line in lines)
    return [Path(line) for line in lines if line.endswith(".tex")]


@pytest.mark.parametrize("width", WIDTHS_IN)
def test_every_figure_fits_two_columns(width: str, library: Path, log: str, round_trips: str, tmp_path: Path) -> None:
    sheet = Sheet(width, "pdf", footer=False, style=None)
    texts = []
    for each in every_figure():
        of_figure = drawn(each.name, sheet, sources(each.given, library, log, round_trips), tmp_path)
        assert of_figure, each.name
        texts += of_figure
    for text in texts:
        pdf = text.with_suffix(".pdf")
        assert width_in(pdf) == pytest.approx(WIDTHS_IN[width], abs=0.01)
        assert {kind for kind, _ in fonts(pdf).values()} <= {"TrueType", "CID TrueType"}, pdf
        assert smallest_pt(pdf) >= LEAST_PT, pdf
    paper = build(tmp_path, texts, "paper")
    assert what_does_not_fit(paper) == []
    assert all(kind != "Type 3" and embedded for kind, embedded in fonts(paper).values())


def test_every_table_of_a_run_fits_a_page_and_a_column(results: Path, tmp_path: Path) -> None:
    report = write_report(results / "geo" / "latest")
    tables = [path for path in report if path.parent.name == "tables"]
    cell = ("57 ms of RTT", *["93.5 [84–98], 8 judged"] * 9)  # noqa: RUF001
    header = ("Judged by", *("Chokepoint by the papers' rule (%)", "Throughput (Mb/s)", "Exit (s)") * 3)
    wide = Table(
        "wide",
        "A & B_{50 %} <x> ~ |y|",
        header,
        (Group("LEO satellite (Starlink), " * 5, (Row(cell), Row(cell, True))),),
    )
    for name, content in table_files(wide).items():
        (tmp_path / name).write_text(content)
    texts = [*(path for path in tables if path.suffix == ".tex"), *sorted(tmp_path.glob("wide*.tex"))]
    assert what_does_not_fit(build(tmp_path, texts, "tables")) == []


def test_latex_sets_the_text_of_a_pgf_figure(library: Path, tmp_path: Path) -> None:
    sheet = Sheet("column", "pgf", footer=False, style=None)
    paper = build(tmp_path, drawn("exit_times", sheet, Sources(["geo"], library), tmp_path), "pgf")
    assert what_does_not_fit(paper) == []
    shown = subprocess.check_output(["pdftotext", paper, "-"], text=True)
    assert "time since the SYN (s)" in shown


@pytest.mark.parametrize("footer", [True, False])
def test_the_provenance_is_in_macro_and_file_and_below_the_figure_if_wanted(footer: bool, tmp_path: Path) -> None:
    recorded = "ACK frames of 40 ms"
    (text,) = drawn("exit_times", Sheet("page", "pdf", footer, None), Sources(["geo"], None), tmp_path)
    pdf = text.with_suffix(".pdf")
    caption, details = text.read_text().split(r"\labdetails{")
    assert recorded in details
    assert recorded not in caption
    assert recorded in subprocess.check_output(["pdfinfo", pdf], text=True)
    assert (recorded in subprocess.check_output(["pdftotext", "-layout", pdf, "-"], text=True)) == footer


def test_a_users_style_file_replaces_the_labs(tmp_path: Path) -> None:
    style = put(tmp_path / "mine.mplstyle", "font.family: DejaVu Sans  # mine\nfigure.figsize: 4.0, 2.0\n")
    (text,) = drawn("exit_times", Sheet("column", "pdf", False, str(style)), Sources(["geo"], None), tmp_path)
    assert {name.split("+")[-1] for name in fonts(text.with_suffix(".pdf"))} <= {"DejaVuSans", "DejaVuSans-Bold"}
    assert width_in(text.with_suffix(".pdf")) == pytest.approx(4.0, abs=0.01)


@pytest.mark.parametrize("line", ["font.famly: serif", "font.size: large-ish", "not a style", "\udcff"])
def test_a_style_file_with_a_fault_is_one_line_that_names_it(tmp_path: Path, line: str) -> None:
    (style := tmp_path / "mine.mplstyle").write_bytes(f"font.size: 9\n{line}\n".encode(errors="surrogateescape"))
    with pytest.raises(UserError, match=r"mine\.mplstyle: .*must be"):
        list(write("exit_times", Sources(["geo"], None), Sheet("column", "pdf", False, str(style)), tmp_path))


def test_an_unknown_figure_and_an_unknown_run_are_one_line() -> None:
    assert "must be a figure that `lab figure` lists" in error_of(named, "exit_tims")
    assert "must be a run's folder, or a scenario with a run in" in error_of(Sources(["nowhere"], None).one)


@pytest.mark.parametrize(
    ("of", "line"),
    [
        ("two sweeps in one file", "point=down.delay_ms=20, .*: must be in one row: the file holds several sweeps"),
        ("a decimal comma", "mean=1,5: must be a column of numbers"),
        ("three fields", "fields=a, b, down.delay_ms: must be 1 or 2"),
        ("an unknown measure", "measure=speed: must be one of chokepoint"),
    ],
)
def test_a_table_that_is_not_of_one_sweep_is_one_line(results: Path, tmp_path: Path, of: str, line: str) -> None:
    text = (results / "sweeps" / "1" / "now" / sweep.FILE).read_text()
    header, *rows = text.splitlines()
    first = rows[0].split(",")
    comma, speed = ([*first[: at - 1], word, *first[at:]] for at, word in ((6, '"1,5"'), (4, "speed")))
    changed = {
        "two sweeps in one file": [header, *rows, *rows],
        "a decimal comma": [header, ",".join(comma), *rows[1:]],
        "three fields": [f"a,b,{header}", *(f"1,2,{row}" for row in rows)],
        "an unknown measure": [header, ",".join(speed), *rows[1:]],
    }
    (tmp_path / sweep.FILE).write_text("\n".join(changed[of]) + "\n")
    with pytest.raises(UserError, match=rf"sweep\.csv: {line}"):
        list(write("sweep", Sources([str(tmp_path)], None), Sheet("column", "pdf", False, None), tmp_path))


def test_a_column_has_no_room_for_a_footer(tmp_path: Path) -> None:
    assert not Sheet("column", "pdf", footer=False, style=None).has_footer
    with pytest.raises(UserError, match="--footer: must be with --width page"):
        drawn("exit_times", Sheet("column", "pdf", footer=True, style=None), Sources(["geo"], None), tmp_path)
