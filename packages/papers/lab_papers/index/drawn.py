# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of one place on the pages of all scenarios: drawn, written next to the pages, and inlined into them."""

from pathlib import Path

from lab.base.plain_file import write_whole
from lab.figures.page_figure import Place
from lab.figures.registry import figures
from lab.figures.save import pdf, svg
from lab.report.template import Picture, picture


def drawn(results: Path, place: Place, *given: object) -> list[Picture]:
    """Draw every figure of a place from what its place gives, and write it as SVG and, where that changed, as PDF."""
    pictures = []
    for figure in figures(place):
        if drawing := figure.draw(*given):
            vector = svg(drawing.figure)
            file = results / f"{figure.name}.svg"
            if not _holds(file, vector) or not file.with_suffix(".pdf").exists():
                write_whole(file.with_suffix(".pdf"), pdf(drawing.figure))
                write_whole(file, vector)
            pictures.append(picture(figure.name, vector, drawing.alt, drawing.caption))
    return pictures


def _holds(file: Path, text: str) -> bool:
    return file.exists() and file.read_text(encoding="utf-8") == text
