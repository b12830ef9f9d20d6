# SPDX-License-Identifier: GPL-2.0-or-later
"""Write a figure as SVG, PNG and PDF: the same figure gives the same bytes.

The canvases are called directly, and the layout is computed once: Figure.savefig draws everything twice for
each file.
"""

import io
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text

from lab.base.plain_file import write_whole
from lab.base.plain_text import escaped_lines, flat
from lab.figures.sheet import in_house_style

PNG_DPI = 110


@in_house_style
def svg(figure: Figure, about: str = "") -> str:
    """Return the figure as SVG text, without a date; `about` is kept in its metadata."""
    settle(figure)
    text = io.StringIO()
    known = {"Date": None} | ({"Description": flat(about)} if about else {})
    FigureCanvasSVG(figure).print_svg(text, metadata=known)  # type: ignore[no-untyped-call]
    return text.getvalue()


@in_house_style
def png(figure: Figure, about: str = "") -> bytes:
    """Return the figure as PNG; `about` is kept in its metadata."""
    settle(figure)
    content = io.BytesIO()
    figure.set_dpi(PNG_DPI)
    FigureCanvasAgg(figure).print_png(content, metadata={"Software": None} | ({"Description": about} if about else {}))  # type: ignore[no-untyped-call]
    return content.getvalue()


@in_house_style
def pdf(figure: Figure, about: str = "") -> bytes:
    """Return the figure as PDF, for papers; without a date; `about` is kept in its metadata."""
    from matplotlib.backends.backend_pdf import FigureCanvasPdf  # here: it loads slowly, and pages need SVG

    settle(figure)
    content = io.BytesIO()
    known = {"CreationDate": None, "Producer": None, "Creator": None} | ({"Subject": about} if about else {})
    FigureCanvasPdf(figure).print_pdf(content, metadata=known)  # type: ignore[no-untyped-call]
    return content.getvalue()


def settle(figure: Figure) -> None:
    """Lay the figure out, once for all; an SVG cannot hold control characters."""
    for text in figure.findobj(Text):
        text.set_text(escaped_lines(text.get_text()))
    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.execute(figure)
        figure.set_layout_engine("none")


def save(figure: Figure, stem: Path, about: str = "") -> tuple[Path, ...]:
    """Write stem.svg, stem.png and stem.pdf; `about` is kept in the metadata of each."""
    vector = write_whole(stem.with_name(f"{stem.name}.svg"), svg(figure, about))
    raster = write_whole(stem.with_name(f"{stem.name}.png"), png(figure, about))
    return vector, raster, write_whole(stem.with_name(f"{stem.name}.pdf"), pdf(figure, about))
