# SPDX-License-Identifier: GPL-2.0-or-later
"""The style sheet of a paper (its width, the user's own style over the lab's), and its figures as LaTeX draws them."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill

from matplotlib import rc_params_from_file, rcParams
from matplotlib import style as named_styles
from matplotlib.figure import Figure
from matplotlib.text import Text

from lab.base.errors import UserError
from lab.base.plain_file import MEGABYTE, read_plain
from lab.base.plain_text import flat
from lab.figures.save import settle
from lab.figures.sheet import SCREEN, STYLES, Settings, chars, in_force, in_house_style, read_style
from lab.report.latex import escape

WIDTHS_IN = {"column": 3.3, "page": 7.0}  # of a paper with two columns
FOOTNOTE_PT = 7
NO_TEX = "--format=pgf: must have LaTeX with pgf: apt-get install texlive-latex-base texlive-pictures"


@contextmanager
def print_sheet(width: str, own: str | None = None) -> Iterator[None]:
    """Draw and save for a paper: a name of WIDTHS_IN, and the user's style file or the name of an installed style."""
    size = {"figure.figsize": (WIDTHS_IN[width], WIDTHS_IN[width] / 2)}
    token = in_force.set(SCREEN | read_style(STYLES / "print.mplstyle") | size | (_own(own) if own else {}))
    try:
        yield
    finally:
        in_force.reset(token)


def _own(style: str) -> Settings:
    """Read the user's style; every line of a file must be a setting that matplotlib knows."""
    if style in named_styles.library:
        return dict(named_styles.library[style])
    file = Path(style)
    if not file.is_file():
        raise UserError(f"--style={style}: must be a style file, or the name of a style that matplotlib has")
    try:
        for number, line in enumerate(read_plain(file, MEGABYTE).decode().splitlines(), 1):
            key = line.split("#")[0].partition(":")[0].strip()
            if key and key not in rcParams:
                raise UserError(f"{file}: line {number}: {key[:60]}: must be a setting of matplotlib")
        return dict(rc_params_from_file(file, fail_on_error=True, use_default_template=False))
    except ValueError as error:
        raise UserError(f"{file}: must be a style file of matplotlib: {' '.join(str(error).split())[:200]}") from None


@in_house_style
def footnote(figure: Figure, sentences: Sequence[str]) -> None:
    """Write small print below a figure, broken to its width."""
    wide = chars(0.97 * figure.get_figwidth(), FOOTNOTE_PT)
    text = "\n".join(fill(sentence, wide) for sentence in sentences)
    figure.supxlabel(text, x=0.005, ha="left", fontsize=FOOTNOTE_PT, color="#666666")


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
