# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab figure`: a figure as a paper wants it, with its caption and the LaTeX that includes it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from matplotlib.figure import Figure

from lab.base.choice import suggested
from lab.base.errors import UserError
from lab.base.plain_file import write_whole
from lab.figures.page_figure import PageFigure
from lab.figures.registry import every_figure
from lab.figures.save import pdf, svg
from lab.report.latex import figure_environment
from lab_papers.paper import Sources, drawings
from lab_papers.paper_sheet import pgf, print_sheet

CAPTION_CHARS = 100
FORMATS: dict[str, Callable[[Figure, str], str | bytes]] = {"pdf": pdf, "svg": svg, "pgf": pgf}


@dataclass(frozen=True)
class Sheet:
    """What a figure is drawn for."""

    width: str  # of lab_papers.paper_sheet.WIDTHS_IN
    form: str  # of FORMATS
    footer: bool
    style: str | None

    @property
    def has_footer(self) -> bool:
        """Return whether the provenance stands below the figure; UserError in a column, which has no room for it."""
        if self.footer and self.width == "column":
            raise UserError("--footer: must be with --width page; a column has no room for it")
        return self.footer


def listing() -> Iterator[tuple[str, str]]:
    """List the figures: name, what --run must name, and what each shows."""
    for figure in every_figure():
        if figure.given is not None:
            yield figure.name, f"--run: {figure.given}"
            yield "", figure.about


def named(name: str) -> PageFigure:
    """Return the figure of a name."""
    for figure in every_figure():
        if figure.name == name:
            return figure
    drawn_by_name = [figure.name for figure in every_figure() if figure.given is not None]
    raise UserError(f"{name[:200]}: must be a figure that `lab figure` lists: {suggested(name, drawn_by_name)}")


def write(name: str, sources: Sources, sheet: Sheet, out: Path) -> Iterator[str]:
    """Write every drawing of a figure, and yield the paths and captions."""
    out.mkdir(parents=True, exist_ok=True)
    written = False
    with print_sheet(sheet.width, sheet.style):
        for stem, drawing in drawings(named(name), sources, sheet.has_footer):
            content = FORMATS[sheet.form](drawing.figure, drawing.about)
            yield str(write_whole(out / f"{stem}.{sheet.form}", content))
            if sheet.form != "svg":  # LaTeX includes none
                included = figure_environment(stem, sheet.form, drawing.about, across=sheet.width == "page")
                yield str(write_whole(out / f"{stem}.tex", included))
            yield from wrap(drawing.about, CAPTION_CHARS)
            written = True
    if not written:
        yield f"{name}: nothing to draw: no stored trial has the data for it"
