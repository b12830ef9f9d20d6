# SPDX-License-Identifier: GPL-2.0-or-later
r"""Tables and figures as LaTeX, for \input into a paper of two columns: each with its caption and its label.

A table that is wider than its place continues below itself, with its first column again. Tables need the packages
booktabs, array and graphicx, figures graphicx, and those of --format pgf need pgf. A caption has two sentences; what
follows them, and the provenance of the link, is the argument of a macro that a paper may define.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

from lab.base.plain_text import flat
from lab.report.table import Table, short

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    "|": r"\textbar{}",
    "\N{MINUS SIGN}": r"\textminus{}",
    ">": r"\textgreater{}",
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{HORIZONTAL ELLIPSIS}": r"\dots{}",
    "\N{MULTIPLICATION SIGN}": r"\texttimes{}",
    "\N{PLUS-MINUS SIGN}": r"\textpm{}",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\geq$",
    "[": "{[}",  # after \\ a bracket would be an optional argument
    "]": "{]}",
} | {character: f"\\{character}" for character in "%&$#_"}
DETAILS = "labdetails"  # of one argument, which prints nothing unless the paper defines it
CAPTION_SENTENCES = 2
SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[A-Z])")
FIRST = 0.3  # of the width: the first column, whose text is broken


@dataclass(frozen=True)
class Form:
    """How a table stands in its place."""

    environment: str
    width: str
    chars: int  # of its text in that width
    size: str
    header_chars: int  # longer headers are broken
    upright: bool  # headers; else they are turned, and a column is as narrow as its cells
    cell: Callable[[str], str]


PAGE = Form("table*", r"\textwidth", 110, r"\footnotesize", 11, True, str)
COLUMN = Form("table", r"\columnwidth", 56, r"\scriptsize", 16, False, short)
TURNED_CHARS = 2.4  # that a line of a turned header is wide


def render(table: Table, column: bool = False, about: Sequence[str] = ()) -> str:
    """Return a table over both columns of a page; for one column without its intervals and spreads.

    about: sentences of its link, which the macro DETAILS is given.
    """
    form = COLUMN if column else PAGE
    lines = [
        *_opened(form.environment),
        *_captioned(" ".join((table.caption, *about)), f"tab:{table.name}"),
        form.size,
        r"\setlength{\tabcolsep}{2pt}",
    ]
    for block in _blocks(table, form):
        lines += _tabular(table, block, form)
    lines += (rf"\par\parbox{{{form.width}}}{{\raggedright {escape(note)}}}" for note in table.notes)
    return "\n".join((*lines, rf"\end{{{form.environment}}}")) + "\n"


def escape(text: str) -> str:
    """Text that LaTeX prints as it stands, on one line."""
    return "".join(SPECIAL.get(character, character) for character in flat(text))


def figure_environment(name: str, form: str, caption: str, *, across: bool) -> str:
    r"""Return a figure with its caption, for \input; `across` both columns of a page."""
    kind = "figure*" if across else "figure"
    included = rf"\input{{{name}.pgf}}" if form == "pgf" else rf"\includegraphics{{{name}.pdf}}"
    lines = (*_opened(kind), r"\centering", included, *_captioned(caption, f"fig:{name}"), rf"\end{{{kind}}}")
    return "\n".join(lines) + "\n"


def _opened(environment: str) -> Iterator[str]:
    """Open an environment; the paper may have defined the macro already."""
    yield rf"\providecommand{{\{DETAILS}}}[1]{{}}"
    yield rf"\begin{{{environment}}}"


def _captioned(text: str, label: str) -> Iterator[str]:
    """Yield a caption of the first sentences; the macro DETAILS is given the others."""
    sentences = SENTENCE_END.split(flat(text))
    yield rf"\caption{{{escape(' '.join(sentences[:CAPTION_SENTENCES]))}}}"
    yield rf"\label{{{label}}}"
    if rest := sentences[CAPTION_SENTENCES:]:
        yield rf"\{DETAILS}{{{escape(' '.join(rest))}}}"


def _blocks(table: Table, form: Form) -> list[list[int]]:
    """Return which columns stand next to each other: as many as fit, after the first."""
    blocks: list[list[int]] = [[]]
    room = left = form.chars * (1 - FIRST)
    for column in range(1, len(table.header)):
        wide = _wide(table, column, form)
        if wide > left and blocks[-1]:
            blocks.append([])
            left = room
        blocks[-1].append(column)
        left -= wide
    return blocks


def _wide(table: Table, column: int, form: Form) -> float:
    """Return how many letters a column is wide, with the gap after it."""
    header = wrap(table.header[column], form.header_chars)
    cells = (form.cell(row.cells[column]) for group in table.groups for row in group.rows)
    of_header = max(map(len, header), default=0) if form.upright else TURNED_CHARS * len(header)
    return 1 + max([of_header, *map(len, cells)])


def _header(name: str, form: Form) -> str:
    lines = r"\\".join(map(escape, wrap(name, form.header_chars)))
    return rf"\shortstack[r]{{{lines}}}" if form.upright else rf"\rotatebox{{90}}{{\shortstack[l]{{{lines}}}}}"


def _tabular(table: Table, columns: Sequence[int], form: Form) -> Iterator[str]:
    spanned = len(columns) + 1
    first = rf">{{\raggedright\arraybackslash}}p{{{FIRST}{form.width}}}"
    yield rf"\begin{{tabular*}}{{{form.width}}}{{@{{}}{first}@{{\extracolsep{{\fill}}}}{'r' * len(columns)}@{{}}}}"
    yield r"\toprule"
    yield _join((escape(table.header[0]), *(_header(table.header[column], form) for column in columns)))
    for group in table.groups:
        yield r"\midrule"
        name = rf"\parbox[t]{{{form.width}}}{{\raggedright\textbf{{{escape(group.label)}}}}}"
        # Without width of its own: LaTeX would give the rest of a spanning cell to the last column.
        yield rf"\multicolumn{{{spanned}}}{{@{{}}l@{{}}}}{{\makebox[0pt][l]{{{name}}}}} \\"
        for row in group.rows:
            cells = map(escape, (row.cells[0], *(form.cell(row.cells[column]) for column in columns)))
            yield _join(rf"\textit{{{each}}}" if row.published and each else each for each in cells)
    yield r"\bottomrule"
    yield r"\end{tabular*}\par\smallskip"


def _join(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"
