# SPDX-License-Identifier: GPL-2.0-or-later
"""Write a figure as SVG, PNG and PDF: the same figure gives the same bytes.

The canvases are called directly, and the layout is computed once: Figure.savefig draws everything twice for
each file.
"""

import io
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from lab.base.plain_file import write_whole
from lab.figures.style import in_house_style

PNG_DPI = 110


@in_house_style
def svg(figure: Figure) -> str:
    """Return the figure as SVG text, without a date."""
    _settle(figure)
    text = io.StringIO()
    FigureCanvasSVG(figure).print_svg(text, metadata={"Date": None})  # type: ignore[no-untyped-call]
    return text.getvalue()


@in_house_style
def png(figure: Figure) -> bytes:
    """Return the figure as PNG."""
    _settle(figure)
    content = io.BytesIO()
    figure.set_dpi(PNG_DPI)
    FigureCanvasAgg(figure).print_png(content, metadata={"Software": None})  # type: ignore[no-untyped-call]
    return content.getvalue()


@in_house_style
def pdf(figure: Figure) -> bytes:
    """Return the figure as PDF, for papers; without a date."""
    _settle(figure)
    content = io.BytesIO()
    known = {"CreationDate": None, "Producer": None, "Creator": None}
    FigureCanvasPdf(figure).print_pdf(content, metadata=known)  # type: ignore[no-untyped-call]
    return content.getvalue()


def _settle(figure: Figure) -> None:
    """Lay the figure out, once for all."""
    if isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine):
        figure.draw_without_rendering()
        figure.set_layout_engine("none")


def save(figure: Figure, stem: Path) -> tuple[Path, ...]:
    """Write stem.svg, stem.png and stem.pdf."""
    vector = write_whole(stem.with_name(f"{stem.name}.svg"), svg(figure))
    raster = write_whole(stem.with_name(f"{stem.name}.png"), png(figure))
    return vector, raster, write_whole(stem.with_name(f"{stem.name}.pdf"), pdf(figure))
