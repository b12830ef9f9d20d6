# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of one place on the pages of all scenarios: drawn, written next to the pages, and inlined into them."""

from pathlib import Path

from lab.base.plain_file import GIGABYTE, read_plain, write_whole
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
            is_there = file.exists() and file.with_suffix(".pdf").exists()
            if not is_there or read_plain(file, GIGABYTE) != vector.encode():
                write_whole(file.with_suffix(".pdf"), pdf(drawing.figure))
                write_whole(file, vector)
            pictures.append(picture(figure.name, vector, drawing.alt, drawing.caption))
    return pictures
