# SPDX-License-Identifier: GPL-2.0-or-later
"""A figure as commands of the LaTeX package pgf: LaTeX sets its text in the paper's font."""

import io

from matplotlib.figure import Figure
from matplotlib.text import Text

from lab.base.errors import UserError
from lab.base.plain_text import flat
from lab.figures.save import settle
from lab.figures.sheet import in_house_style
from lab.report.latex import escape

NO_TEX = "--format=pgf: must have LaTeX with pgf: apt-get install texlive-latex-base texlive-pictures"


@in_house_style
def pgf(figure: Figure, about: str = "") -> str:
    r"""Return the figure as commands of the LaTeX package pgf, for \input; `about` is a comment in it."""
    from matplotlib.backends.backend_pgf import FigureCanvasPgf, LatexError

    for text in figure.findobj(Text):
        text.set_text("\n".join(map(escape, text.get_text().split("\n"))))
    written = io.StringIO()
    try:
        settle(figure)
        FigureCanvasPgf(figure).print_pgf(written)  # type: ignore[no-untyped-call]
    except (FileNotFoundError, LatexError):
        raise UserError(NO_TEX) from None
    return f"% {flat(about)}\n{written.getvalue()}"
